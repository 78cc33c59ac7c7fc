import * as z from 'zod/mini'
import type { Database } from '../../database/database.ts'
import { classify } from '../../database/errors.ts'
import { HOUR_MS } from '../calendar.ts'
import { byPrimaryKey, type CounterAddress, counterId, distinct } from '../keys/counter-address.ts'
import { ensureNames } from '../keys/names.ts'
import { LARGEST_ID, rowsByRange } from '../ranges.ts'
import { applyBatch, type Batch, type BatchRow, isKeyed, type KeptHours } from './apply-batch.ts'

/** Cloudflare allows 128 KB per message, in its own encoding. This limit on the JSON leaves a margin. */
const MAX_MESSAGE_BYTES = 96 * 1024
/** Cloudflare allows 256 KB and 100 messages per call. */
const MAX_SEND_BYTES = 192 * 1024
const MAX_SEND_MESSAGES = 100

const KIND = 'slotted-counter/batch'

const UNSIGNED_RULE = 'must be the digits of an unsigned 64-bit integer'
const SIGNED_RULE = 'must be the digits of an integer'
const KEPT_RULE = 'must be a number of hours'
const TYPE_RULE = 'must be a whole number from 1 to 65535'

const toBigInt = z.transform((digits: string) => BigInt(digits))
const unsigned = z
  .pipe(z.string({ error: UNSIGNED_RULE }).check(z.regex(/^\d{1,20}$/, UNSIGNED_RULE)), toBigInt)
  .check(z.refine((value) => value <= LARGEST_ID, UNSIGNED_RULE))
const signed = z.pipe(z.string({ error: SIGNED_RULE }).check(z.regex(/^-?\d{1,30}$/, SIGNED_RULE)), toBigInt)

export interface QueueProducer {
  send(body: unknown, options: { contentType: 'json' }): Promise<unknown>
  sendBatch(messages: Iterable<{ body: unknown; contentType: 'json' }>): Promise<unknown>
}

/** A batch, or part of one, in the queue. Words and decimal numbers, because a person may have to read it. */
const message = z.object(
  {
    kind: z.literal(KIND, { error: `must be "${KIND}"` }),
    version: z.literal(1, { error: 'must be 1' }),
    /** When the oldest increment in it was counted. */
    since: z.iso.datetime({ error: 'must be a time in UTC' }),
    /** Whether the database may have applied it already. */
    applied: z.enum(['no', 'unknown'], { error: 'must be "no" or "unknown"' }),
    /** For how many hours the rows are kept if it has. The consumer's settings may be newer. */
    kept: z.int({ error: KEPT_RULE }).check(z.gte(1, KEPT_RULE)),
    rows: z.array(
      z.object(
        {
          type: z.int({ error: TYPE_RULE }).check(z.gte(1, TYPE_RULE), z.lte(65_535, TYPE_RULE)),
          id: unsigned,
          key: z.nullable(z.string({ error: 'must be a string or null' })),
          add: signed,
          slot: unsigned,
          batch: unsigned,
        },
        { error: 'must be an object' },
      ),
      { error: 'must be a list' },
    ),
  },
  { error: 'must be an object' },
)

type MessageRow = z.input<typeof message>['rows'][number]

export interface QueuedBatch {
  since: Date
  applied: 'no' | 'unknown'
  /** Hours for which its rows are kept once they have been applied. */
  kept: number
  batch: Batch
  named: CounterAddress[]
}

export interface BatchQueue {
  /**
   * Puts a batch into the queue. Resolves when all of it is there.
   * @param counters the counters of the batch, for their names
   * @param facts when the oldest increment was counted, whether the database may have applied the batch already, and for how
   *   long its rows are then kept
   */
  send(
    batch: Batch,
    counters: Iterable<CounterAddress>,
    facts: { since: Date; fate: 'no' | 'unknown'; keptHours: KeptHours },
  ): Promise<void>
}

/**
 * Puts batches into a Cloudflare Queue. A batch may become several messages, because rows are recognized one by one. Rows of
 * one key, also of different types, share a message if they fit: a hit counts its view and its page's visitor, or neither.
 */
export function batchQueue(queue: QueueProducer): BatchQueue {
  return {
    async send(batch, counters, { since, fate, keptHours: { writer, keyed } }) {
      const names = new Map<string, string | null>()
      for (const counter of counters) names.set(counterId(counter), counter.name)
      let part: Part = { rows: [], bytes: 256 }
      const parts = [part]
      const makeRoom = (bytes: number) => {
        if (part.rows.length === 0 || part.bytes + bytes <= MAX_MESSAGE_BYTES) return
        part = { rows: [], bytes: 256 }
        parts.push(part)
      }
      for (const rows of Map.groupBy(batch, ({ recordId }) => recordId).values()) {
        // Each message has the name of a counter once.
        const written = rows.map((row, i) => toMessage(row, rows[i - 1]?.recordType === row.recordType ? null : names))
        const sizes = written.map(sizeOf)
        makeRoom(sizes.reduce((sum, size) => sum + size))
        for (const [i, row] of rows.entries()) {
          makeRoom(sizes[i]!)
          const first = part.rows.length === 0
          part.rows.push(first ? toMessage(row, names) : written[i]!)
          part.bytes += first ? sizeOf(part.rows[0]!) : sizes[i]!
        }
      }
      if (part.rows.length === 0) return
      const bodyOf = ({ rows }: Part) => {
        const kept = rows.every(({ slot, batch }) => slot === batch) ? keyed : writer
        return { kind: KIND, version: 1, since: since.toISOString(), applied: fate, kept, rows }
      }
      while (parts.length > 0) {
        let bytes = 0
        let take = 0
        while (
          take < parts.length &&
          take < MAX_SEND_MESSAGES &&
          (take === 0 || bytes + parts[take]!.bytes <= MAX_SEND_BYTES)
        ) {
          bytes += parts[take++]!.bytes
        }
        await queue.sendBatch(
          parts.splice(0, take).map((part) => ({ body: bodyOf(part), contentType: 'json' as const })),
        )
      }
    },
  }
}

interface Part {
  rows: MessageRow[]
  bytes: number
}

function toMessage(
  { recordType, recordId, slot, count, batch }: BatchRow,
  names: ReadonlyMap<string, string | null> | null,
): MessageRow {
  return {
    type: recordType,
    id: `${recordId}`,
    key: names?.get(counterId({ recordType, recordId })) ?? null,
    add: `${count}`,
    slot: `${slot}`,
    batch: `${batch}`,
  }
}

const encoder = new TextEncoder()

function sizeOf(row: MessageRow): number {
  return encoder.encode(JSON.stringify(row)).length + 1
}

/** Reads a message from the queue. Returns its contents, or a description of what is wrong with it. */
export function readMessage(body: unknown): QueuedBatch | string {
  const parsed = message.safeParse(body)
  if (!parsed.success) return z.prettifyError(parsed.error)
  const { since, applied, kept, rows } = parsed.data
  return {
    since: new Date(since),
    applied,
    kept,
    batch: rows
      .map(({ type, id, slot, add, batch }) => ({ recordType: type, recordId: id, slot, count: add, batch }))
      .sort(byPrimaryKey),
    named: rows.flatMap(({ type, id, key }) => (key === null ? [] : [{ recordType: type, recordId: id, name: key }])),
  }
}

/**
 * Seconds before a message is delivered again: after the first attempt, the factor for each further one, and the longest. After
 * an outage of a minute, everything is counted within half a minute. 100 attempts, the most of a queue, last a day.
 */
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

/** A message that can never be counted automatically. A person has to decide about it. */
export interface DeadLetter {
  kind: 'slotted-counter/dead-letter'
  version: 1
  reason: 'malformed' | 'too_old' | 'refused'
  detail: string
  at: string
  messageId: string
  attempts: number
  message: unknown
}

export interface ConsumeContext {
  /** Makes one attempt at each statement: the queue retries. */
  db: Database
  keptHours: KeptHours
  /** Accepts dead letters. `null`: the queue moves them to its own dead-letter queue after the last attempt. */
  deadLetters: QueueProducer | null
}

export interface ConsumeSummary {
  applied: number
  retried: number
  dead: DeadLetter[]
  error: string | null
}

/**
 * Applies batches from the queue, which delivers at least once, late and in any order. A repeated batch changes nothing as long
 * as its rows are kept. An older batch is not applied: nothing can tell whether it was applied before.
 * @param deliveries each of them is acknowledged or retried individually
 */
export async function consume(
  { db, keptHours, deadLetters }: ConsumeContext,
  deliveries: readonly Delivery[],
  now: Date,
): Promise<ConsumeSummary> {
  const summary: ConsumeSummary = { applied: 0, retried: 0, dead: [], error: null }
  const oldestOf = ({ batch, kept }: QueuedBatch) => {
    const hours = Math.min(kept, batch.every(isKeyed) ? keptHours.keyed : keptHours.writer)
    return now.getTime() - Math.max(hours - MARGIN_HOURS, hours / 2) * HOUR_MS
  }
  const retryLater = (message: Delivery) => {
    message.retry({ delaySeconds: delaySeconds(message.attempts) })
    summary.retried++
  }
  const giveUp = async (message: Delivery, reason: DeadLetter['reason'], detail: string) => {
    const letter: DeadLetter = {
      kind: 'slotted-counter/dead-letter',
      version: 1,
      reason,
      detail,
      at: now.toISOString(),
      messageId: message.id,
      attempts: message.attempts,
      message: message.body,
    }
    summary.dead.push(letter)
    if (deadLetters === null) return retryLater(message)
    try {
      await deadLetters.send(letter, { contentType: 'json' })
      message.ack()
    } catch {
      retryLater(message)
    }
  }
  for (const message of deliveries) {
    const queued = readMessage(message.body)
    if (typeof queued === 'string') {
      await giveUp(message, 'malformed', queued)
      continue
    }
    // The database has just failed: the remaining messages are not tried.
    if (summary.error !== null) {
      retryLater(message)
      continue
    }
    const oldest = oldestOf(queued)
    // The sending Worker's time and the queue's: either clock may be wrong.
    if (Math.min(queued.since.getTime(), message.timestamp.getTime()) < oldest) {
      await giveUp(
        message,
        'too_old',
        `counted before ${new Date(oldest).toISOString()}: it may have been applied already, and would not be recognised`,
      )
      continue
    }
    try {
      await apply(db, queued, keptHours)
      message.ack()
      summary.applied++
    } catch (error) {
      const failure = classify(error)
      if (failure.kind === 'range' || failure.kind === 'rejected') {
        await giveUp(message, 'refused', failure.message)
      } else {
        summary.error = failure.message
        retryLater(message)
      }
    }
  }
  return summary
}

async function apply(db: Database, { named, batch }: QueuedBatch, kept: KeptHours): Promise<void> {
  await ensureNames(db, distinct(named), db.ranges)
  await Promise.all([...rowsByRange(batch, db.ranges).values()].map((part) => applyBatch(db, part, kept)))
}

/** Exponential backoff, half of it jittered. */
function delaySeconds(attempts: number): number {
  const full = Math.min(FIRST_DELAY_SECONDS * DELAY_FACTOR ** (attempts - 1), MAX_DELAY_SECONDS)
  return Math.ceil(full * (0.5 + Math.random() / 2))
}
