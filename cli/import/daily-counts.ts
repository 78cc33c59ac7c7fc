import { MAX_KEY_BYTES, pageKey } from '../../src/counters/keys/key-address.ts'
import { isCount } from './cell-values.ts'
import type { ImportRow } from './import-rows.ts'
import { LineError } from './mistakes.ts'

/** Which counts of an export become which rows. */
export interface CountRules {
  /** The counter type of all rows. */
  type: string
  /** What to put in front of each key. */
  prefix: string
  /** The first day (UTC) that is left out. */
  before?: string | undefined
  /** Whether paths keep their query and fragment. */
  query: boolean
  /** The only host whose counts are taken. */
  host?: string | undefined
}

/** What another counter's export holds, summed for each key and day. */
export class DailyCounts {
  /** How much is left out, by reason. */
  readonly leftOut = new Map<string, bigint>()
  /** The hosts, as far as the export tells them. */
  readonly hosts = new Set<string>()
  readonly #rules: CountRules
  readonly #rows = new Map<string, ImportRow>()

  constructor(rules: CountRules) {
    this.#rules = rules
  }

  /**
   * Adds views of a page under the key that the page is counted under, or leaves them out if no counter can have that key.
   * @param line where the file says so
   * @param path the path as browsers encode it, perhaps with a query and a fragment
   * @param day the day (UTC)
   * @param host empty if the export does not tell it
   * @throws {LineError} if a sum is beyond 64 bits
   */
  addPath(line: number, path: string, count: bigint, day: string, host = ''): void {
    const { type, prefix, before, query } = this.#rules
    if (host !== '') this.hosts.add(host)
    const text = pageKey(query ? path : withoutQuery(path))
    const key = prefix + text
    if (count === 0n) return
    if (host !== (this.#rules.host ?? host)) this.leaveOut('other hosts', count)
    else if (text === '') this.leaveOut('without a path', count)
    else if (key.includes('\0') || !key.isWellFormed()) this.leaveOut('path is not valid text', count)
    else if (Buffer.byteLength(key) > MAX_KEY_BYTES) this.leaveOut(`path longer than ${MAX_KEY_BYTES} bytes`, count)
    else if (before !== undefined && day >= before) this.leaveOut(`${before} and later`, count)
    else {
      const row = this.#rows.get(`${day} ${key}`) ?? { line, type, key, count: 0n, day }
      this.#rows.set(`${day} ${key}`, row)
      row.count += count
      if (!isCount(row.count)) throw new LineError(line, 'the sum for this key and day must be within 64 bits')
    }
  }

  /** @param reason why, as the person at the terminal reads it */
  leaveOut(reason: string, count = 1n): void {
    this.leftOut.set(reason, (this.leftOut.get(reason) ?? 0n) + count)
  }

  /** One row for each key and day, in an order that does not depend on the file: the same counts are the same import. */
  rows(): ImportRow[] {
    return [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  }
}

/**
 * Escapes in a decoded path what must have been escaped before: control characters, and a `%` that no two hexadecimal digits
 * follow. For tools that store decoded paths.
 */
export function escapeDecoded(path: string): string {
  return path.replace(/%(?![\da-f]{2})|\p{Cc}/giu, encodeURIComponent)
}

/** A path without its query and fragment. A fragment that is a route, such as `#/about`, stays. */
function withoutQuery(path: string): string {
  return path.replace(/\?.*|#(?!!?\/).*/s, '')
}
