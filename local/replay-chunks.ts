import { createHash } from 'node:crypto'
import { MAX_KEY_BYTES } from '../src/counters/counter.ts'
import { type LoggedRequest, parseLogLine } from './access-log.ts'

/** As many increments as POST /v1/increments takes. */
const MAX_INCREMENTS = 1_000
/** Lines after which a chunk ends even if they are all about few counters. */
const MAX_LINES = 20_000
/** Bytes of JSON after which a chunk ends, as far below what POST /v1/increments takes as one more increment can be long. */
const MAX_JSON_BYTES = 1_000_000

/** What to count, and as what. */
export interface ReplayRules {
  pageType: string
  downloadType: string
  /** Paths that are downloads. */
  downloads: RegExp
  /** Methods to count; `null`: all. */
  methods: ReadonlySet<string> | null
  /** Statuses to count, as text such as `200` or `2xx`; `null`: all. */
  statuses: ReadonlySet<string> | null
  keepQuery: boolean
  /** Whether requests are counted in the days in which they were made, rather than now. Left out if not. */
  dated?: true
}

/** How often something is counted; for `dated`, in which day. */
export interface ReplayedCount {
  type: string
  key: string
  by: number
  day?: string
}

/** Why lines were not counted, and how many. */
export type Skipped = Map<string, number>

/** Consecutive lines that are sent in one request. */
export interface Chunk {
  /** The same lines after the same beginning under the same rules have the same key, in whatever run. */
  idempotencyKey: string
  increments: ReplayedCount[]
  lines: number
  /** Requests counted: the sum of the increments. */
  counted: number
  skipped: Skipped
}

/**
 * Where the last chunks of earlier runs ended because their logs ended there. A log that has grown since must be cut at the
 * same place again, or the lines of that chunk would be sent once more under another key. A place is the state of the hash
 * there, which stands for everything before it, so that logs do not get into each other's way.
 */
export interface ShortChunks {
  /** Whether a run ended a chunk at this state of the hash. */
  endsAt(state: string): boolean
  /** Remembers one that does. */
  add(state: string): Promise<void>
}

/** Decides what a logged request counts as. */
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
  // JSON can hold such a text; no server was sent it.
  if (!key.isWellFormed()) return { skip: 'path is not Unicode' }
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return { skip: `path longer than ${MAX_KEY_BYTES} bytes` }
  const type = rules.downloads.test(key.replace(/[?#].*$/s, '')) ? rules.downloadType : rules.pageType
  if (rules.dated === undefined) return { type, key }
  if (day === null) return { skip: 'without a time' }
  if (day > new Date().toISOString().slice(0, 10)) return { skip: 'in the future' }
  return { type, key, day }
}

/**
 * Cuts a log into chunks. Where a chunk ends depends only on what came before, so that a second run over the same log counts
 * the same in the same chunks; a hash chained over all lines so far names them.
 *
 * The last line may be one that the server has not finished. If it says a request already, what the server adds to it is
 * not part of the hash; if it does not, it stays outside of the last chunk's name and remembered length, for a later run.
 */
export async function* chunks(
  lines: AsyncIterable<string>,
  rules: ReplayRules,
  shortChunks: ShortChunks,
): AsyncGenerator<Chunk> {
  let state = hash('slotted-counter replay', JSON.stringify(describe(rules)))
  let increments = new Map<string, ReplayedCount>()
  let skipped: Skipped = new Map()
  let count = 0
  let counted = 0
  let bytes = 0
  let before = state
  let isRequest = true
  const finish = (): Chunk => {
    const chunk = {
      idempotencyKey: `replay-${state}`,
      increments: [...increments.values()],
      lines: count,
      counted,
      skipped,
    }
    increments = new Map()
    skipped = new Map()
    count = 0
    counted = 0
    bytes = 0
    return chunk
  }
  for await (const line of lines) {
    // Not before there is a next line, which says that the last one is finished.
    if (
      increments.size === MAX_INCREMENTS ||
      bytes >= MAX_JSON_BYTES ||
      count === MAX_LINES ||
      (count > 0 && shortChunks.endsAt(state))
    ) {
      yield finish()
    }
    const request = parseLogLine(line)
    isRequest = request !== null
    before = state
    state = hash(state, request?.text ?? line)
    count++
    const outcome = request === null ? { skip: 'not a request line' } : classifyRequest(request, rules)
    if ('skip' in outcome) skipped.set(outcome.skip, (skipped.get(outcome.skip) ?? 0) + 1)
    else {
      const id = `${outcome.type} ${outcome.day ?? ''} ${outcome.key}`
      const increment = increments.get(id)
      if (increment) increment.by++
      else {
        increments.set(id, { ...outcome, by: 1 })
        bytes += Buffer.byteLength(JSON.stringify({ ...outcome, by: MAX_LINES })) + 1
      }
      counted++
    }
  }
  if (count > 0) {
    const whole = isRequest ? count : count - 1
    if (!isRequest) state = before
    if (whole > 0 && !shortChunks.endsAt(state)) await shortChunks.add(state)
    yield finish()
  }
}

function describe(rules: ReplayRules): unknown {
  const list = (set: ReadonlySet<string> | null) => (set === null ? null : [...set].sort())
  return { ...rules, downloads: String(rules.downloads), methods: list(rules.methods), statuses: list(rules.statuses) }
}

function hash(state: string, text: string): string {
  return createHash('sha256').update(state).update('\0').update(text).digest('hex')
}
