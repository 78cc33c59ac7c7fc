import { createHash } from 'node:crypto'
import { parseLogLine } from './access-log.ts'
import { classifyRequest, type ReplayRules } from './replay-rules.ts'
import type { LogEnds } from './replayed-log-ends.ts'

/** The most increments that POST /v1/increments accepts. */
const MAX_INCREMENTS = 1_000
/** Lines after which a batch ends, even if they are about few counters. */
const MAX_LINES = 20_000
/** Bytes of JSON at which a batch ends. One more increment still fits into what POST /v1/increments accepts. */
const MAX_JSON_BYTES = 1_000_000

/** How much to add to a counter, and with dated rules, on which day. */
export interface ReplayedCount {
  type: string
  key: string
  by: number
  day?: string
}

/** How many lines were not counted, by reason. */
export type Skipped = Map<string, number>

/** Consecutive lines that are sent in one request. */
export interface ReplayBatch {
  /** In every run, the same lines after the same beginning under the same rules have the same key. */
  idempotencyKey: string
  increments: ReplayedCount[]
  lines: number
  skipped: Skipped
}

/**
 * Cuts a log into batches. The end of a batch depends only on the lines before it, so a second run over the same log makes
 * the same batches. The key of a batch is a hash chained over all lines so far.
 *
 * The server may not have finished the last line. If the line is a request already, the hash leaves out the text that the
 * server still adds. If it is not, neither the key of the last batch nor its remembered end includes the line, and a later
 * run reads it again.
 */
export async function* replayBatches(
  lines: AsyncIterable<string>,
  rules: ReplayRules,
  logEnds: LogEnds,
): AsyncGenerator<ReplayBatch> {
  let state = hash('slotted-counter replay', JSON.stringify(describe(rules)))
  let increments = new Map<string, ReplayedCount>()
  let skipped: Skipped = new Map()
  let count = 0
  let bytes = 0
  let before = state
  let isRequest = true
  const finish = (): ReplayBatch => {
    const batch = {
      idempotencyKey: `replay-${state}`,
      increments: [...increments.values()],
      lines: count,
      skipped,
    }
    increments = new Map()
    skipped = new Map()
    count = 0
    bytes = 0
    return batch
  }
  for await (const line of lines) {
    // Only when there is a next line: it proves that the server has finished the last one.
    if (
      increments.size === MAX_INCREMENTS ||
      bytes >= MAX_JSON_BYTES ||
      count === MAX_LINES ||
      (count > 0 && logEnds.has(state))
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
    }
  }
  if (count > 0) {
    const whole = isRequest ? count : count - 1
    if (!isRequest) state = before
    if (whole > 0 && !logEnds.has(state)) await logEnds.add(state)
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
