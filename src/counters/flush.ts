import type { Executor } from '../database/database.ts'
import { classify, type DatabaseFailure } from '../database/errors.ts'
import { retrying } from '../database/retry.ts'
import { log } from '../log.ts'
import { applyBatch, type Batch } from './batch.ts'
import type { BatchQueue } from './batch-queue.ts'
import type { Group, Outcome } from './group.ts'
import { type StoredNames, storeNames } from './names.ts'
import type { SlotPool } from './slots.ts'

/** Milliseconds that the queue may take to accept a batch. */
const QUEUE_DEADLINE_MS = 4_000

/** What a flush works with. All but the database and the queue is the isolate's plain data. */
export interface FlushContext {
  /** One attempt at a statement each: a flush retries by itself. */
  db: Executor
  /** Milliseconds one attempt may take. */
  deadlineMs: number
  /** For types with `slots = N`: N, by record type. All others give every writer a slot of its own. */
  classicSlots: ReadonlyMap<number, number>
  slots: SlotPool
  names: StoredNames
  /** Where batches go that the database did not take; `null` if there is no queue. */
  queue: BatchQueue | null
}

/** What became of a group; `split` if it was refused as a whole, and its halves are to be tried. */
export type Flush = Outcome | { status: 'split' }

/**
 * Writes a group: its batch, and beside it the names that may be missing. Retries what may pass, always with the same
 * batch, and puts into the queue what the database did not take.
 *
 * @param beat told before each step until when it is going to be silent, in milliseconds of `Date.now()`
 */
export async function flush(context: FlushContext, group: Group, beat: (aliveUntil: number) => void): Promise<Flush> {
  const { slots, deadlineMs } = context
  const batch = group.seal(() => slots.lease(), context.classicSlots)
  const db: Executor = {
    execute(sql, args) {
      beat(Date.now() + deadlineMs)
      return context.db.execute(sql, args)
    },
  }
  // Whether a part of it may have been applied by an attempt that failed: on a sharded keyspace one shard may have committed
  // its rows before another one met a deadlock or a timeout.
  let partly = false
  const attempts: Executor = {
    execute: (sql, args) =>
      db.execute(sql, args).catch((error: unknown) => {
        partly ||= batch.length > 1 && classify(error).retry
        throw error
      }),
  }
  // The batch first: if only one statement is let through to see whether the database is back, it is to be this one.
  const applying = applyBatch(retrying(attempts), batch)
  const [applied] = await Promise.allSettled([applying, nameCounters(context, db, group)])
  // Only now, and without a pause until the group has its outcome: while the names are on their way another leader may take
  // the group over, and send its batch to this slot again.
  if (applied.status === 'fulfilled') {
    if (applied.value.settled && !group.contested) slots.release(group.slot)
    return { status: 'counted' }
  }
  const reason = classify(applied.reason)
  const failure = partly || group.contested ? reason.withApplied('unknown') : reason
  // The database refused something in it, which is one request's fault, and nobody else's.
  const refused = failure.kind === 'range' || failure.kind === 'rejected'
  if (refused && failure.applied === 'no' && group.tickets.length > 1) {
    slots.release(group.slot)
    return { status: 'split' }
  }
  if (context.queue !== null && !refused) {
    beat(Date.now() + QUEUE_DEADLINE_MS)
    return enqueue(context.queue, group, batch, failure)
  }
  if (failure.applied === 'no') slots.release(group.slot)
  return { status: 'failed', failure }
}

/**
 * Gives up on the database for a group that has waited too long to be sent: puts it into the queue, or, without one,
 * refuses it.
 *
 * @param beat as for `flush`
 */
export async function spill(context: FlushContext, group: Group, beat: (aliveUntil: number) => void): Promise<Outcome> {
  if (context.queue === null) return { status: 'overloaded' }
  beat(Date.now() + QUEUE_DEADLINE_MS)
  const batch = group.seal(() => context.slots.lease(), context.classicSlots)
  return enqueue(context.queue, group, batch, null)
}

/** @param failure why the database did not take it; `null` if it was never asked */
async function enqueue(
  queue: BatchQueue,
  group: Group,
  batch: Batch,
  failure: DatabaseFailure | null,
): Promise<Outcome> {
  const since = new Date(group.waitsSince)
  try {
    await within(QUEUE_DEADLINE_MS, queue.send(batch, group.counters(), { since, fate: failure?.applied ?? 'no' }))
  } catch (error) {
    // It may be in the queue all the same.
    const reason = failure ?? classify(error)
    log('error', 'batch_not_queued', { error: String(error), database: reason.message })
    return { status: 'failed', failure: reason.withApplied('unknown') }
  }
  log('warn', 'batch_queued', {
    rows: batch.length,
    requests: group.tickets.length,
    reason: failure?.message ?? 'overload',
  })
  return { status: 'queued' }
}

/** Stores the names that may be missing. Failing to is no reason not to count: a later flush tries again. */
async function nameCounters({ names }: FlushContext, db: Executor, group: Group): Promise<void> {
  const due = names.due(group.counters(), Date.now())
  if (due.length === 0) return
  try {
    await storeNames(db, due)
    for (const counter of due) names.add(counter)
  } catch (error) {
    names.owe(due, Date.now())
    log('warn', 'names_not_stored', { names: due.length, error: String(error) })
  }
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
