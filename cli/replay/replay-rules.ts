import { MAX_KEY_BYTES } from '../../src/counters/keys/counter-address.ts'
import type { LoggedRequest } from './access-log.ts'

/** Which requests of a log count, and as what. */
export interface ReplayRules {
  pageType: string
  downloadType: string
  /** Matches the paths that are downloads. */
  downloads: RegExp
  /** Methods to count; `null` counts all. */
  methods: ReadonlySet<string> | null
  /** Statuses to count, such as `200` or `2xx`; `null` counts all. */
  statuses: ReadonlySet<string> | null
  keepQuery: boolean
  /** Counts requests on the days on which they were made, rather than now. Absent if not wanted. */
  dated?: true
}

/** Decides which counter a logged request belongs to, or why it is skipped. */
export function classifyRequest(
  { method, target, status, day }: LoggedRequest,
  rules: ReplayRules,
): { type: string; key: string; day?: string } | { skip: string } {
  if (rules.methods !== null && !rules.methods.has(method)) return { skip: 'other method' }
  if (
    rules.statuses !== null &&
    !rules.statuses.has(String(status)) &&
    !rules.statuses.has(`${Math.floor(status / 100)}xx`)
  ) {
    return { skip: 'other status' }
  }
  const key = rules.keepQuery ? target : target.replace(/[?#].*$/s, '')
  if (key === '' || key.includes('\0')) return { skip: 'no path' }
  // JSON can hold lone surrogates; a request cannot.
  if (!key.isWellFormed()) return { skip: 'path is not Unicode' }
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return { skip: `path longer than ${MAX_KEY_BYTES} bytes` }
  const type = rules.downloads.test(key.replace(/[?#].*$/s, '')) ? rules.downloadType : rules.pageType
  if (rules.dated === undefined) return { type, key }
  if (day === null) return { skip: 'without a time' }
  if (day > new Date().toISOString().slice(0, 10)) return { skip: 'in the future' }
  return { type, key, day }
}
