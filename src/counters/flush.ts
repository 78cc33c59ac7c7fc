import type { Executor } from '../database/database.ts'
import { classify, type DatabaseFailure } from '../database/errors.ts'
import { retrying } from '../database/retry.ts'
import { log } from '../log.ts'
import { applyBatch, type Batch } from './batch.ts'
import type { BatchQueue } from './batch-queue.ts'
import type { Counter } from './counter.ts'
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
  const db = retrying({
    execute(sql, args) {
      beat(Date.now() + deadlineMs)
      return context.db.execute(sql, args)
    },
  })
  const naming = nameCounters(context, db, group)
  const failure = await applyBatch(db, batch).then(
    ({ settled }) => {
      if (settled && !group.contested) slots.release(group.slot)
      return null
    },
    (error: unknown) => fate(classify(error), batch, group),
  )
  await naming
  if (failure === null) return { status: 'counted' }
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
 */
export async function spill(context: FlushContext, group: Group): Promise<Outcome> {
  if (context.queue === null) return { status: 'overloaded' }
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
  const since = new Date(group.openedAt)
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

/** Of several rows, or of several attempts, some may have been applied when the whole failed. */
function fate(failure: DatabaseFailure, batch: Batch, group: Group): DatabaseFailure {
  // On a sharded keyspace one shard may have committed its rows before another one met a deadlock or a timeout.
  return (batch.length > 1 && failure.retry) || group.contested ? failure.withApplied('unknown') : failure
}

/** Stores the names that may be missing. Failing to is no reason not to count: they are stored with the next flush. */
async function nameCounters({ names }: FlushContext, db: Executor, group: Group): Promise<void> {
  const missing: Counter[] = names.missing(group.counters())
  if (missing.length === 0) return
  try {
    await storeNames(db, missing)
    for (const counter of missing) names.add(counter)
  } catch (error) {
    names.owe(missing)
    log('warn', 'names_not_stored', { names: missing.length, error: String(error) })
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
