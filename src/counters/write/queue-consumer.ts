import type { Database } from '../../database/database.ts'
import { classify } from '../../database/errors.ts'
import { distinct } from '../keys/counter-address.ts'
import { ensureNames } from '../keys/names.ts'
import { rowsByRange } from '../ranges.ts'
import { applyBatch } from './apply-batch.ts'
import { type QueuedBatch, type QueueProducer, readMessage } from './queue-message.ts'

/**
 * Seconds before a message is delivered again: the delay after the first attempt, the factor for each further one, and the longest
 * delay. After an outage of a minute, everything is counted within half a minute. 100 attempts, the most that a queue makes, last
 * a day.
 */
const FIRST_DELAY_SECONDS = 5
const DELAY_FACTOR = 1.5
const MAX_DELAY_SECONDS = 20 * 60
/**
 * A message is given up this many hours before the rows that would recognize it may be pruned. The clocks of the database and the
 * Worker may differ, and rows hold whole hours.
 */
const MARGIN_HOURS = 2

/** A message as the queue delivers it. */
export interface Delivery {
  id: string
  timestamp: Date
  body: unknown
  attempts: number
  ack(): void
  retry(options: { delaySeconds: number }): void
}

/** A message that can never be counted automatically, and the reason. A person has to decide about it. */
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

/** What `consume` uses. */
export interface ConsumeContext {
  /** Makes one attempt at each statement: the queue retries. */
  db: Database
  /** Hours for which an applied batch is recognized. */
  idempotencyHours: number
  /** Accepts dead letters. If it is `null`, the queue moves them to its own dead-letter queue after the last attempt. */
  deadLetters: QueueProducer | null
}

/** What happened to deliveries. */
export interface ConsumeSummary {
  applied: number
  retried: number
  dead: DeadLetter[]
  /** The database's message, if it failed and messages are retried. */
  error: string | null
}

/**
 * Applies batches from the queue. The queue delivers at least once, late and in any order. A batch that is delivered again changes
 * nothing as long as its rows are kept. An older batch is not applied, because nothing can tell any more whether it was applied
 * before.
 *
 * @param deliveries each of them is acknowledged or retried individually
 */
export async function consume(
  { db, idempotencyHours, deadLetters }: ConsumeContext,
  deliveries: readonly Delivery[],
  now: Date,
): Promise<ConsumeSummary> {
  const summary: ConsumeSummary = { applied: 0, retried: 0, dead: [], error: null }
  const oldest = now.getTime() - Math.max(idempotencyHours - MARGIN_HOURS, idempotencyHours / 2) * 3_600_000
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
    // The database has just failed. Retry the remaining messages later instead of trying each one.
    if (summary.error !== null) {
      retryLater(message)
      continue
    }
    // The older of two times, the sending Worker's and the queue's: either clock may be wrong.
    if (Math.min(queued.since.getTime(), message.timestamp.getTime()) < oldest) {
      await giveUp(
        message,
        'too_old',
        `counted before ${new Date(oldest).toISOString()}: it may have been applied already, and would not be recognised`,
      )
      continue
    }
    try {
      await apply(db, queued)
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

async function apply(db: Database, { named, batch }: QueuedBatch): Promise<void> {
  await ensureNames(db, distinct(named), db.ranges)
  await Promise.all([...rowsByRange(batch, db.ranges).values()].map((part) => applyBatch(db, part)))
}

/** Exponential backoff, half of it jittered. */
function delaySeconds(attempts: number): number {
  const full = Math.min(FIRST_DELAY_SECONDS * DELAY_FACTOR ** (attempts - 1), MAX_DELAY_SECONDS)
  return Math.ceil(full * (0.5 + Math.random() / 2))
}
