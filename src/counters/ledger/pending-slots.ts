import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { sameKeySql } from '../counters-sql.ts'
import type { CounterPlace } from '../keys/counter-address.ts'

/** A slot that is not empty. */
export interface PendingSlot {
  slot: bigint
  count: bigint
}

/** A counter with slots whose counts a transaction takes out. */
export interface TakenSlots extends CounterPlace {
  slots: readonly PendingSlot[]
}

/** SQL of the slots of counters of one key that are not empty, at most so many: columns `slot`, `count`, `record_type`. */
export function pendingSlotsOfKeySql(counters: readonly CounterPlace[], most: number): string {
  return `FROM slotted_counters FORCE INDEX (pending) WHERE pending = 1 AND ${sameKeySql(counters)} LIMIT ${most}`
}

/** Counts the slots of counters of one key that are not empty, up to a number. */
export async function countPendingOfKey(
  db: Executor,
  counters: readonly CounterPlace[],
  most: number,
): Promise<number> {
  const { rows } = await db.execute(
    `SELECT COUNT(*) AS found FROM (SELECT 1 ${pendingSlotsOfKeySql(counters, most)}) AS s`,
  )
  return Number(toBigInt(rows[0]?.found))
}

/** The rows of an upsert that takes counts out of slots, in primary key order: of counters, then slots. */
export function subtractionsOf(counters: readonly TakenSlots[]): string[] {
  // Integers, written into the statement: see applyBatch. The hour 0 is for slots that were pruned meanwhile: they may be
  // pruned again as soon as they are empty.
  return counters.flatMap(({ recordType, recordId, slots }) => {
    const counter = `${recordType},${recordId}`
    return slots.map(({ slot, count }) => `(${counter},${slot},${-count},0,0)`)
  })
}

/**
 * Adds rows to slots. An upsert, so that a slot that was pruned meanwhile comes back with a negative count. The batch id of a slot
 * stays as it is.
 * @param rows as `subtractionsOf` writes them
 */
export async function addToSlots(transaction: Executor, rows: readonly string[]): Promise<void> {
  if (rows.length === 0) return
  await transaction.execute(
    `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, kept_until)
     VALUES ${rows.join(',')}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
}
