import * as v from 'valibot'
import type { Database } from '../../database/database.ts'
import { classify } from '../../database/errors.ts'
import { fieldErrors, integer, object, parsed, parseInput, textThat } from '../../schemas.ts'
import { recordDeadBatches } from '../background-runs.ts'
import { HOUR_MS } from '../calendar.ts'
import { byPrimaryKey, type CounterAddress, counterId, distinct } from '../counter-address.ts'
import { ensureNames } from '../keys/names.ts'
import { applyBatch, type Batch, type BatchRow, hoursKept } from '../ledger/slots.ts'
import { LARGEST_ID, rowsByRange } from '../ranges.ts'

/** Cloudflare allows 128 KB per message, in its own encoding. This limit on the JSON leaves a margin. */
const MAX_MESSAGE_BYTES = 96 * 1024
/** Cloudflare allows 256 KB and 100 messages per call. */
const MAX_SEND_BYTES = 192 * 1024
const MAX_SEND_MESSAGES = 100

const KIND = 'slotted-counter/batch'

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
const unsigned = parsed(
  (text) => (/^\d{1,20}$/.test(text) && BigInt(text) <= LARGEST_ID ? BigInt(text) : null),
  'must be the digits of an unsigned 64-bit integer',
)

export interface QueueProducer {
  send(body: unknown, options: { contentType: 'json' }): Promise<unknown>
  sendBatch(messages: Iterable<{ body: unknown; contentType: 'json' }>): Promise<unknown>
}

/** A batch, or part of one, in the queue. Words and decimal numbers, because a person may have to read it. */
const message = object({
  kind: v.literal(KIND, `must be "${KIND}"`),
  version: v.literal(1, 'must be 1'),
  /** When the oldest increment in it was counted. */
  since: textThat('must be a time in UTC', (text) => TIME.test(text) && !Number.isNaN(Date.parse(text))),
  /** Whether the database may have applied it already. */
  applied: v.picklist(['no', 'unknown'], 'must be "no" or "unknown"'),
  /** For how many hours the rows are kept if it has. The consumer's settings may be newer. */
  kept: integer(1, Number.MAX_SAFE_INTEGER, 'must be a number of hours'),
  rows: v.array(
    object({
      type: integer(1, 65_535),
      id: unsigned,
      key: v.nullable(v.string('must be a string or null')),
      add: parsed((text) => (/^-?\d{1,30}$/.test(text) ? BigInt(text) : null), 'must be the digits of an integer'),
      slot: unsigned,
      batch: unsigned,
    }),
    'must be a list',
  ),
})

type MessageRow = v.InferInput<typeof message>['rows'][number]

/**
 * Puts a batch into a Cloudflare Queue. It may become several messages, because rows are recognized one by one. Rows of one key share a
 * message if they fit: a hit counts its view and its page's visitor, or neither. @param counters those of the batch, for their names
 * @param facts when the oldest increment was counted, whether the batch may have been applied, and how long rows are then kept
 */
export async function sendToQueue(
  queue: QueueProducer,
  batch: Batch,
  counters: readonly CounterAddress[],
  { since, fate, idempotencyHours }: { since: Date; fate: 'no' | 'unknown'; idempotencyHours: number },
): Promise<void> {
  for (let parts = partsOf(batch, counters); parts.length > 0; ) {
    let bytes = 0
    const next = parts.findIndex((part, place) => {
      bytes += part.bytes
      return place === MAX_SEND_MESSAGES || (place > 0 && bytes > MAX_SEND_BYTES)
    })
    const call = parts.splice(0, next === -1 ? parts.length : next)
    await queue.sendBatch(
      call.map(({ rows }) => {
        const kept = hoursKept(rows, idempotencyHours)
        const body = { kind: KIND, version: 1, since: since.toISOString(), applied: fate, kept, rows }
        return { body, contentType: 'json' as const }
      }),
    )
  }
}

/** More than a message has beside its rows. */
const EMPTY_BYTES = 256

function partsOf(batch: Batch, counters: readonly CounterAddress[]) {
  const names = new Map(counters.map((counter) => [counterId(counter), counter.name]))
  const parts: { rows: MessageRow[]; bytes: number }[] = []
  const add = (rows: readonly BatchRow[]) => {
    const written = rows.map(({ recordType, recordId, slot, count, batch }, place): MessageRow => {
      // Each message has the name of a counter once.
      const isNamed = rows[place - 1]?.recordType === recordType
      const key = isNamed ? null : (names.get(counterId({ recordType, recordId })) ?? null)
      return { type: recordType, id: `${recordId}`, key, add: `${count}`, slot: `${slot}`, batch: `${batch}` }
    })
    const bytes = encoder.encode(JSON.stringify(written)).length
    const last = parts.at(-1)
    if (last !== undefined && last.bytes + bytes <= MAX_MESSAGE_BYTES) {
      last.rows.push(...written)
      last.bytes += bytes
    } else if (rows.length === 1 || EMPTY_BYTES + bytes <= MAX_MESSAGE_BYTES) {
      parts.push({ rows: written, bytes: EMPTY_BYTES + bytes })
    } else {
      const middle = Math.ceil(rows.length / 2)
      add(rows.slice(0, middle))
      add(rows.slice(middle))
    }
  }
  for (const rows of Map.groupBy(batch, ({ recordId }) => recordId).values()) add(rows)
  return parts
}

const encoder = new TextEncoder()

/** Reads a message from the queue. Returns its contents, or a description of what is wrong with it. */
export function readMessage(body: unknown) {
  const read = parseInput(message, body)
  if (!read.success) {
    const mistakes = fieldErrors(read.issues, 'message')
    return mistakes.map(({ field, message }) => `${field} ${message}`).join('; ')
  }
  const { since, applied, kept, rows } = read.output
  const batch: Batch = rows
    .map(({ type, id, slot, add, batch }) => ({ recordType: type, recordId: id, slot, count: add, batch }))
    .sort(byPrimaryKey)
  const named = rows.flatMap(({ type, id, key }) => (key === null ? [] : { recordType: type, recordId: id, name: key }))
  return { since: new Date(since), applied, kept, batch, named }
}

/** Seconds before a message comes again, the factor for each further time, and the most. 100 attempts, a queue's limit, last a day. */
const FIRST_DELAY_SECONDS = 5
const DELAY_FACTOR = 1.5
const MAX_DELAY_SECONDS = 20 * 60
/** A message is given up so many hours before its rows may be pruned: clocks differ, and rows hold whole hours. */
const MARGIN_HOURS = 2

export interface Delivery {
  id: string
  timestamp: Date
  body: unknown
  attempts: number
  ack(): void
  retry(options: { delaySeconds: number }): void
}

export interface ConsumeContext {
  /** Makes one attempt at each statement: the queue retries. */
  db: Database
  idempotencyHours: number
  /** Accepts dead letters. `null`: the queue moves them to its own dead-letter queue after the last attempt. */
  deadLetters: QueueProducer | null
}

/**
 * Applies batches from the queue, which delivers at least once, late and in any order. A repeated batch changes nothing as long as its
 * rows are kept. An older one is not applied: it may have been before. Each delivery is acknowledged or retried individually.
 */
export async function consume(
  { db, idempotencyHours, deadLetters }: ConsumeContext,
  deliveries: readonly Delivery[],
  now: Date,
) {
  const dead: { message: Delivery; letter: DeadLetter }[] = []
  const summary = { applied: 0, retried: 0, error: null as string | null }
  const retryLater = (message: Delivery) => {
    message.retry({ delaySeconds: delaySeconds(message.attempts) })
    summary.retried++
  }
  const receive = async (message: Delivery) => {
    const giveUp = (reason: DeadLetter['reason'], detail: string) => {
      dead.push({ message, letter: deadLetter(message, reason, detail, now.toISOString()) })
    }
    const queued = readMessage(message.body)
    if (typeof queued === 'string') return giveUp('malformed', queued)
    // The database has just failed: the remaining messages are not tried.
    if (summary.error !== null) return retryLater(message)
    const { since, kept, batch, named } = queued
    const hours = Math.min(kept, hoursKept(batch, idempotencyHours))
    const oldest = now.getTime() - Math.max(hours - MARGIN_HOURS, hours / 2) * HOUR_MS
    // The sending Worker's time and the queue's: either clock may be wrong.
    if (Math.min(since.getTime(), message.timestamp.getTime()) < oldest) {
      const detail = `counted before ${new Date(oldest).toISOString()}: it may have been applied already, and would not be recognized`
      return giveUp('too_old', detail)
    }
    try {
      await ensureNames(db, distinct(named))
      const parts = [...rowsByRange(batch, db.ranges).values()]
      await Promise.all(parts.map((part) => applyBatch(db, part, idempotencyHours)))
    } catch (error) {
      const failure = classify(error)
      if (failure.kind === 'range' || failure.kind === 'rejected') return giveUp('refused', failure.message)
      summary.error = failure.message
      return retryLater(message)
    }
    message.ack()
    summary.applied++
  }
  for (const message of deliveries) await receive(message)
  // They are recorded before they leave the queue, so that none is forgotten.
  const recorded = dead.length === 0 ? null : recordDeadBatches(db, dead.length)
  for (const { message, letter } of dead) {
    try {
      await recorded
      await deadLetters?.send(letter, { contentType: 'json' })
      if (deadLetters === null) retryLater(message)
      else message.ack()
    } catch {
      retryLater(message)
    }
  }
  return { ...summary, dead: dead.map(({ letter }) => letter) }
}

/** What is kept of a message that can never be counted automatically. A person has to decide about it. */
export type DeadLetter = ReturnType<typeof deadLetter>

function deadLetter(message: Delivery, reason: 'malformed' | 'too_old' | 'refused', detail: string, at: string) {
  const { id: messageId, attempts, body } = message
  const head = { kind: 'slotted-counter/dead-letter', version: 1, reason, detail, at } as const
  return { ...head, messageId, attempts, message: body }
}

/** Exponential backoff, half of it jittered. */
function delaySeconds(attempts: number): number {
  const full = Math.min(FIRST_DELAY_SECONDS * DELAY_FACTOR ** (attempts - 1), MAX_DELAY_SECONDS)
  return Math.ceil(full * (0.5 + Math.random() / 2))
}
