import type { Executor } from '../database/database.ts'
import { classify } from '../database/errors.ts'
import { applyBatch, type Batch, type Increment, makeBatch } from './batch.ts'
import { hash64 } from './hash.ts'
import { type StoredNames, storeNames } from './names.ts'
import { random64 } from './random.ts'
import type { SlotPool } from './slots.ts'

/** What counting works with. `slots` and `names` belong to the isolate and outlive the request. */
export interface CountingContext {
  db: Executor
  /** For types with `slots = N`: N, by record type. All others give every writer a slot of its own. */
  classicSlots: ReadonlyMap<number, number>
  slots: SlotPool
  names: StoredNames
}

/**
 * Adds increments to their counters, all in one statement: either every one is counted or none is.
 *
 * @param idempotencyKey if given, the same increments under the same key again change nothing, from wherever they come,
 *   for as long as the slots are kept (`PRUNING.idempotency_hours`)
 * @throws {DatabaseFailure} `applied` says whether it is certain that nothing was counted
 */
export async function count(
  { db, classicSlots, slots, names }: CountingContext,
  increments: readonly Increment[],
  idempotencyKey?: string,
): Promise<void> {
  try {
    await storeNames(
      db,
      names,
      increments.map(({ counter }) => counter),
    )
  } catch (error) {
    throw classify(error).withApplied('no')
  }
  if (idempotencyKey !== undefined) {
    // A slot of its own, which nothing else writes to: the key recognises itself there however much is counted meanwhile.
    const id = await hash64(`idempotency-key ${idempotencyKey}`)
    await apply(
      db,
      makeBatch(id, increments, () => id),
    )
    return
  }
  const slot = slots.lease()
  const batch = makeBatch(random64(), increments, ({ recordType }) => {
    const among = classicSlots.get(recordType)
    return among === undefined ? slot : BigInt(Math.floor(Math.random() * among))
  })
  try {
    const { settled } = await apply(db, batch)
    if (settled) slots.release(slot)
  } catch (error) {
    const failure = classify(error)
    if (failure.applied === 'no') slots.release(slot)
    throw failure
  }
}

/** Applies a batch; knows that of several rows some may have been applied when the whole failed. */
async function apply(db: Executor, batch: Batch): Promise<{ settled: boolean }> {
  try {
    return await applyBatch(db, batch)
  } catch (error) {
    const failure = classify(error)
    // On a sharded keyspace one shard may have committed its rows before another one met a deadlock or a timeout.
    throw batch.rows.length > 1 && failure.retry ? failure.withApplied('unknown') : failure
  }
}
