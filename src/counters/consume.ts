import type { QueueProducer } from '../config.ts'
import type { Executor } from '../database/database.ts'
import { classify } from '../database/errors.ts'
import { applyBatch } from './batch.ts'
import { type QueuedBatch, readMessage } from './batch-queue.ts'
import { storeNames } from './names.ts'

/**
 * Seconds before a message is delivered again: after the first attempt, how much longer after each further one, and at most.
 * After an outage of a minute all is counted within half a minute; 100 attempts, as many as a queue makes, last for a day.
 */
const FIRST_DELAY_SECONDS = 5
const DELAY_FACTOR = 1.5
const MAX_DELAY_SECONDS = 20 * 60
/**
 * Hours by which a message is given up before the rows that would recognise it may be pruned: the database's clock and the
 * Worker's may differ, and rows carry whole hours.
 */
const MARGIN_HOURS = 2

/** A message as the queue hands it over. */
export interface Delivery {
  id: string
  timestamp: Date
  body: unknown
  attempts: number
  ack(): void
  retry(options: { delaySeconds: number }): void
}

/** A message that can never be counted by itself, and why, for a person to decide. */
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

/** What consuming works with. */
export interface ConsumeContext {
  /** One attempt at a statement each: the queue retries. */
  db: Executor
  /** For how many hours a batch that was applied is recognised. */
  idempotencyHours: number
  /** Where dead letters go; `null` leaves them to the queue's own dead-letter queue, when it has tried often enough. */
  deadLetters: QueueProducer | null
}

/** What became of deliveries. */
export interface ConsumeSummary {
  applied: number
  retried: number
  dead: DeadLetter[]
  /** What the database said to those that are retried. */
  error: string | null
}

/**
 * Applies batches from the queue. The queue delivers at least once, late and in any order: a batch that comes again changes
 * nothing, as long as its rows are kept. One that is older is not applied, because nobody could tell any more whether it
 * was before.
 *
 * @param deliveries each is acknowledged, or asked for again after a while, by itself
 */
export async function consume(
  { db, idempotencyHours, deadLetters }: ConsumeContext,
  deliveries: readonly Delivery[],
  now: Date,
): Promise<ConsumeSummary> {
  const summary: ConsumeSummary = { applied: 0, retried: 0, dead: [], error: null }
  const oldest = now.getTime() - Math.max(idempotencyHours - MARGIN_HOURS, idempotencyHours / 2) * 3_600_000
  const again = (message: Delivery) => {
    message.retry({ delaySeconds: delaySeconds(message.attempts) })
    summary.retried++
  }
  const bury = async (message: Delivery, reason: DeadLetter['reason'], detail: string) => {
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
    if (deadLetters === null) return again(message)
    try {
      await deadLetters.send(letter, { contentType: 'json' })
      message.ack()
    } catch {
      again(message)
    }
  }
  for (const message of deliveries) {
    const queued = readMessage(message.body)
    if (typeof queued === 'string') {
      await bury(message, 'malformed', queued)
      continue
    }
    // The database is in trouble: the others need not find that out one by one.
    if (summary.error !== null) {
      again(message)
      continue
    }
    // The older of what the Worker that sent it and the queue say: either clock may be wrong.
    if (Math.min(queued.since.getTime(), message.timestamp.getTime()) < oldest) {
      await bury(
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
        await bury(message, 'refused', failure.message)
      } else {
        summary.error = failure.message
        again(message)
      }
    }
  }
  return summary
}

async function apply(db: Executor, { named, batch }: QueuedBatch): Promise<void> {
  const names = new Map(named.map((counter) => [`${counter.recordType}/${counter.recordId}`, counter]))
  await storeNames(db, [...names.values()])
  await applyBatch(db, batch)
}

/** Exponential backoff, half of it jittered. */
function delaySeconds(attempts: number): number {
  const full = Math.min(FIRST_DELAY_SECONDS * DELAY_FACTOR ** (attempts - 1), MAX_DELAY_SECONDS)
  return Math.ceil(full * (0.5 + Math.random() / 2))
}
