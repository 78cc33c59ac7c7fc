import { MAX_KEY_BYTES, pageKey } from '../../src/counters/keys/key-address.ts'
import { isCount } from './cell-values.ts'
import type { ImportRow } from './import-rows.ts'
import { LineError } from './line-error.ts'

/** Which counts of an export become which rows. */
export interface CountRules {
  /** The counter type of all rows. */
  type: string
  /** What to put in front of each key. */
  prefix: string
  /** The first day (UTC) that is left out. */
  before?: string
  /** Whether paths keep their query and fragment. */
  query: boolean
  /** The only host whose counts are taken. */
  host?: string
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
   * Adds views of a page. Its key is the one under which the page is counted.
   *
   * @param path the path as browsers encode it, perhaps with a query and a fragment
   * @param host empty if the export does not tell it
   */
  addPath(line: number, path: string, count: bigint, day: string, host = ''): void {
    if (host !== '') this.hosts.add(host)
    const kept = this.#rules.query ? path : withoutQuery(path)
    if (host !== (this.#rules.host ?? host)) this.leaveOut('other hosts', count)
    else this.add(line, 'path', pageKey(kept), count, day)
  }

  /**
   * Adds a count, or leaves it out if no counter can have its key.
   *
   * @param line where the file says so
   * @param name what the file calls a key, such as "path"
   * @param text the key, without the prefix
   * @param day the day (UTC), if there is one
   * @throws {LineError} if the sum is beyond 64 bits
   */
  add(line: number, name: string, text: string, count: bigint, day?: string): void {
    const { type, prefix, before } = this.#rules
    const key = prefix + text
    if (count === 0n) return
    if (text === '') this.leaveOut(`without a ${name}`, count)
    else if (key.includes('\0') || !key.isWellFormed()) this.leaveOut(`${name} is not a text`, count)
    else if (Buffer.byteLength(key) > MAX_KEY_BYTES) this.leaveOut(`${name} longer than ${MAX_KEY_BYTES} bytes`, count)
    else if (day !== undefined && before !== undefined && day >= before) this.leaveOut(`${before} and later`, count)
    else this.#sum({ line, type, key, count, ...(day !== undefined && { day }) })
  }

  #sum(row: ImportRow): void {
    const id = `${row.day ?? ''} ${row.key}`
    const sum = this.#rows.get(id)
    if (sum === undefined) this.#rows.set(id, row)
    else {
      sum.count += row.count
      if (!isCount(sum.count)) throw new LineError(row.line, 'the sum for this key and day must be within 64 bits')
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
export function withoutQuery(path: string): string {
  return path.replace(/\?.*|#(?!!?\/).*/s, '')
}
