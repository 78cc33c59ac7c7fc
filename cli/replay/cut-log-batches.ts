import { hash } from 'node:crypto'
import { parseLogLine, UNFINISHED } from './log-line.ts'
import { classifyRequest, type ReplayRules } from './replay-rules.ts'
import type { RunMemory } from './run-memory.ts'

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

/** Consecutive lines that are sent in one request. */
export interface ReplayBatch {
  /** In every run, the same lines after the same beginning under the same rules have the same key. */
  idempotencyKey: string
  increments: ReplayedCount[]
  lines: number
  /** How many lines do not count, by reason. */
  skipped: Map<string, number>
}

/**
 * Cuts a log into batches. The end of a batch depends only on the lines before it, so a second run over the same log makes
 * the same batches. The key of a batch is a hash chained over all lines so far.
 *
 * The server may not have finished the last line. If it has a request and the agent that the lines before have, the hash leaves
 * out the text that the server still adds. If not, neither the key of the last batch nor its remembered end includes the line,
 * and a later run reads it again.
 */
export async function* replayBatches(
  lines: AsyncIterable<string>,
  rules: ReplayRules,
  memory: RunMemory,
): AsyncGenerator<ReplayBatch> {
  let state = chained('slotted-counter replay', JSON.stringify({ ...rules, downloads: String(rules.downloads) }))
  const newBatch = () => {
    return { increments: new Map<string, ReplayedCount>(), skipped: new Map<string, number>(), lines: 0, bytes: 0 }
  }
  let batch = newBatch()
  let hasAgents = false
  const finish = (): ReplayBatch => {
    const { increments, lines, skipped } = batch
    batch = newBatch()
    return { idempotencyKey: `replay-${state}`, increments: [...increments.values()], lines, skipped }
  }
  for await (const { line, isLast } of withLast(lines)) {
    // Only when there is a next line: it proves that the server has finished the last one.
    if (
      batch.increments.size === MAX_INCREMENTS ||
      batch.bytes >= MAX_JSON_BYTES ||
      batch.lines === MAX_LINES ||
      (batch.lines > 0 && memory.has(state))
    ) {
      yield finish()
    }
    const parsed = parseLogLine(line)
    const request = 'skip' in parsed ? null : parsed
    const isUnfinished = isLast && (request === null || (request.agent === null && hasAgents))
    if (request !== null) hasAgents = request.agent !== null
    if (!isUnfinished) state = chained(state, request?.text ?? line)
    // The lines of this batch up to here, if there are any.
    if (isLast && (batch.lines > 0 || !isUnfinished) && !memory.has(state)) await memory.add(state)
    batch.lines++
    const outcome = 'skip' in parsed ? parsed : isUnfinished ? UNFINISHED : classifyRequest(parsed, rules)
    if ('skip' in outcome) batch.skipped.set(outcome.skip, (batch.skipped.get(outcome.skip) ?? 0) + 1)
    else {
      const id = `${outcome.type} ${outcome.day ?? ''} ${outcome.key}`
      const increment = batch.increments.get(id)
      if (increment) increment.by++
      else {
        batch.increments.set(id, { ...outcome, by: 1 })
        batch.bytes += Buffer.byteLength(JSON.stringify({ ...outcome, by: MAX_LINES })) + 1
      }
    }
  }
  if (batch.lines > 0) yield finish()
}

/** Says of each line whether it is the last. */
async function* withLast(lines: AsyncIterable<string>): AsyncGenerator<{ line: string; isLast: boolean }> {
  let held: string | null = null
  for await (const line of lines) {
    if (held !== null) yield { line: held, isLast: false }
    held = line
  }
  if (held !== null) yield { line: held, isLast: true }
}

const chained = (state: string, text: string) => hash('sha256', `${state}\0${text}`)
