import type { Executor } from '../../database/database.ts'
import { classify, DatabaseFailure } from '../../database/errors.ts'
import { BREAKER_OPEN, retrying } from '../../database/retry-and-breaker.ts'
import { log } from '../../log.ts'
import { random63 } from '../ids.ts'
import { applyBatch } from '../ledger/slots.ts'
import { Overloaded, within } from '../shared-work-state.ts'
import type { CommitOutcome, IncrementGroup } from './increment-group.ts'
import { type QueueProducer, sendToQueue } from './queue.ts'

/** How long the queue may take to accept a batch. */
export const QUEUE_DEADLINE_MS = 4_000

/** All but the database and the queue is plain data of the isolate. All counters are in one range. */
export interface FlushContext {
  /** Makes one attempt at each statement: a flush retries by itself. */
  db: Executor
  deadlineMs: number
  /** N by record type, for types with `slots = N`. All other types give every writer its own slot. */
  classicSlots: ReadonlyMap<number, number>
  slots: SlotPool
  idempotencyHours: number
  queue: QueueProducer | null
}

/**
 * Writes the batch of a group. Retries transient failures, always with the same batch, and then puts it into the queue.
 * @param leader its `silentUntil` is set before each step, in milliseconds of `Date.now()`
 * @returns `split`: the group was refused as a whole, and its halves should be tried
 */
export async function flush(
  context: FlushContext,
  group: IncrementGroup,
  leader: { silentUntil: number },
): Promise<CommitOutcome | { status: 'split' }> {
  const { slots, deadlineMs } = context
  const batch = group.batch ?? group.seal(slots.lease(), context.classicSlots)
  const db = retrying(context.db, () => {
    leader.silentUntil = Date.now() + deadlineMs
  })
  let failure: DatabaseFailure
  try {
    const { settled } = await applyBatch(db, batch, context.idempotencyHours)
    // No await from here until the group has its outcome: a leader that took the group over would write to this slot again.
    if (settled && !group.contested) slots.release(group.slot)
    return { status: 'counted' }
  } catch (error) {
    failure = group.contested ? classify(error).withApplied('unknown') : classify(error)
  }
  const refused = failure.kind === 'range' || failure.kind === 'rejected'
  // No await before the batch has its own slots: another leader may take the group over, and must send the same batch.
  if (failure.applied === 'no') slots.release(group.slot)
  // It was refused because of one request in it. The others should not suffer.
  if (refused && failure.applied === 'no' && group.tickets.length > 1) return { status: 'split' }
  return refused ? { status: 'failed', failure } : enqueue(context, group, leader, failure)
}

/** Why the database was not asked: the name of a counter could not be looked up, or the group waited too long behind others. */
type NotAsked = 'unnamed' | 'waited'

/** Puts a group into the queue, or fails without one. @param cause the failure of the database, or why it was not asked */
export async function enqueue(
  { queue, idempotencyHours }: FlushContext,
  group: IncrementGroup,
  leader: { silentUntil: number },
  cause: DatabaseFailure | NotAsked,
): Promise<CommitOutcome> {
  const failure = cause instanceof DatabaseFailure ? cause : null
  if (queue === null) return { status: 'failed', failure: failure ?? new Overloaded() }
  leader.silentUntil = Date.now() + QUEUE_DEADLINE_MS
  const fate = failure?.applied ?? 'no'
  const batch = fate === 'no' ? group.sealForQueue() : group.batch!
  const since = new Date(group.waitsSince)
  try {
    await within(QUEUE_DEADLINE_MS, sendToQueue(queue, batch, group.counters(), { since, fate, idempotencyHours }))
  } catch (error) {
    // It may be in the queue nevertheless.
    log('error', 'batch_not_queued', { ...logFields(group, cause), queue: String(error) })
    return { status: 'failed', failure: (failure ?? classify(error)).withApplied('unknown') }
  }
  log('warn', 'batch_queued', logFields(group, cause))
  return { status: 'queued' }
}

function logFields({ batch, tickets }: IncrementGroup, cause: DatabaseFailure | NotAsked) {
  const sizes = { rows: batch!.length, requests: tickets.length }
  if (!(cause instanceof DatabaseFailure)) return { ...sizes, reason: cause }
  const reason = cause.message === BREAKER_OPEN ? 'breaker_open' : cause.kind
  return { ...sizes, reason, error: cause.message }
}

/** How long the shortest duration is kept at least. At most twice as long while others follow. */
const WINDOW_MS = 5_000

/** The shortest duration measured lately: how long the work takes if it never waits in line. As in BBR (ACM Queue 14 (5), 2016). */
export class ShortestDuration {
  #since = 0
  #current = Number.POSITIVE_INFINITY
  #previous = Number.POSITIVE_INFINITY
  /** Infinity before the first measurement. Only `took` changes it. */
  milliseconds = Number.POSITIVE_INFINITY

  /** Records a duration that ended now, in milliseconds. 0 (without I/O the clock stands still) and less (it was set back) are left out. */
  took(milliseconds: number, now: number): void {
    if (milliseconds <= 0) return
    // A window in the future means that the clock was set back.
    if (now - this.#since > WINDOW_MS || now < this.#since) {
      this.#since = now
      this.#previous = this.#current
      this.#current = milliseconds
    } else {
      this.#current = Math.min(this.#current, milliseconds)
    }
    this.milliseconds = Math.min(this.#current, this.#previous)
  }
}

/** Free slots kept for later: more than the batches that one isolate ever has in flight. */
const MAX_FREE = 64

/**
 * The slots that one isolate writes to. A slot belongs to one batch until its outcome is known: it stores only the id of the last batch
 * applied to it, so it could not recognize an earlier one. The slot released last is leased first: fewer slots make reading cheaper.
 */
export class SlotPool {
  readonly #free: bigint[] = []

  lease(): bigint {
    return this.#free.pop() ?? random63()
  }

  /** Returns a slot once the outcome of its batch is known. If it stays unknown, no other batch may be written to the slot. */
  release(slot: bigint): void {
    if (this.#free.length < MAX_FREE) this.#free.push(slot)
  }
}
