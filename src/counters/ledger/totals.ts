import type { Database, Executor } from '../../database/database.ts'
import { classify, DatabaseFailure } from '../../database/errors.ts'
import { random63 } from '../ids.ts'
import type { CounterPlace } from '../keys/counter-address.ts'

/** The database that has totals, and the cache to clear when they change. */
export interface TotalsStore {
  db: Database
  cache: { forget(): void } | null
}

/** An amount to add to a total, provided that it still has the version that was read. */
export interface TotalChange extends CounterPlace {
  /** As read, or as chosen by `createTotals`. */
  version: bigint
  amount: bigint
}

/** Rolls a transaction back: another one changed a total first, or is about to. */
export class Overtaken extends Error {
  override message = 'other changes of the same counters came first'
}

const LARGEST = 2n ** 63n - 1n

export function fitsTotal(total: bigint): boolean {
  return total <= LARGEST && total >= -LARGEST
}

/** What the database would report if a total left its range. */
export function outOfRange(): DatabaseFailure {
  return new DatabaseFailure(
    { kind: 'range', retry: false, applied: 'no' },
    new Error('a total would leave the range of 64-bit integers'),
  )
}

/** Random, because versions of deleted totals must not recur. 62 bits stay below 2^63 when incremented (see `random63`). */
export function newVersion(): bigint {
  return BigInt.asUintN(62, random63())
}

/**
 * Creates missing totals with a count of 0. Call it before the transaction that changes them: once every row exists, the number
 * of affected rows tells whether every version was the one that was read.
 * @param totals in primary key order; those with a version exist
 * @returns the same, with versions. If someone else creates a total first, its version differs and the change is overtaken.
 */
export async function createTotals<Total extends CounterPlace & { version: bigint | null }>(
  db: Executor,
  totals: readonly Total[],
): Promise<(Total & { version: bigint })[]> {
  const created = totals.map((total) => ({ ...total, version: total.version ?? newVersion() }))
  const missing = created.filter((_, index) => totals[index]!.version === null)
  if (missing.length > 0) {
    // Integers, written into the statement: see applyBatch.
    const rows = missing.map(({ recordType, recordId, version }) => `(${recordType},${recordId},0,${version},NULL)`)
    await db.execute(
      `INSERT IGNORE INTO counter_totals (record_type, record_id, count, version, rolled_up_at) VALUES ${rows.join(',')}`,
    )
  }
  return created
}

/**
 * Locks existing totals, or fails at once. Call it first in a transaction. It does not wait: a statement that waits beyond its
 * deadline leaves a transaction behind, which then holds the locks as long as the server allows (20 s on PlanetScale), and a
 * request that retries would wait for its own abandoned transactions.
 * @throws {Overtaken} if another transaction holds any of the locks
 */
export async function lockTotals(transaction: Executor, totals: readonly CounterPlace[]): Promise<void> {
  try {
    await transaction.execute(
      `SELECT 1 FROM counter_totals FORCE INDEX (PRIMARY)
       WHERE (record_type, record_id) IN (${totals.map(() => '(?, ?)').join(', ')}) FOR UPDATE NOWAIT`,
      totals.flatMap(({ recordType, recordId }) => [recordType, recordId]),
    )
  } catch (error) {
    if (classify(error).kind === 'contention') throw new Overtaken()
    throw error
  }
}

/**
 * Adds to existing totals, and increments their versions.
 * @param changes in primary key order, each counter once
 * @param rolledUpAt `null` if the change is not a roll-up
 * @throws {Overtaken} if any version is not the one that was read; the transaction must be rolled back
 */
export async function addToTotals(
  transaction: Executor,
  changes: readonly TotalChange[],
  rolledUpAt: Date | null,
): Promise<void> {
  // Integers and times, written into the statement: see applyBatch.
  const at = rolledUpAt === null ? 'NULL' : `'${rolledUpAt.toISOString().slice(0, 23).replace('T', ' ')}'`
  const values = changes.map(({ recordType, recordId, amount, version }) => {
    return `(${recordType},${recordId},${amount},${version + 1n},${at})`
  })
  const { rowsAffected } = await transaction.execute(
    `INSERT INTO counter_totals (record_type, record_id, count, version, rolled_up_at) VALUES ${values.join(',')}
     ON DUPLICATE KEY UPDATE
       count = count + IF(version + 1 = VALUES(version), VALUES(count), 0),
       rolled_up_at = IF(version + 1 = VALUES(version) AND VALUES(rolled_up_at) IS NOT NULL,
         GREATEST(COALESCE(rolled_up_at, VALUES(rolled_up_at)), VALUES(rolled_up_at)), rolled_up_at),
       version = IF(version + 1 = VALUES(version), VALUES(version), version)`,
  )
  // An upsert counts 2 for each row that it changed, and 1 for an insert or, with client-found-rows, an unchanged row.
  if (rowsAffected !== 2 * changes.length) throw new Overtaken()
}

export const ADJUSTMENTS = { set: 1, import: 2 } as const
export type AdjustmentKind = keyof typeof ADJUSTMENTS
export const ADJUSTMENT_KINDS = Object.keys(ADJUSTMENTS) as AdjustmentKind[]

/** Records distinct adjustments, changes other than by counting, in primary key order. Call it where totals change. */
export async function recordAdjustments(
  transaction: Executor,
  kind: AdjustmentKind,
  adjustments: readonly (CounterPlace & { amount: bigint })[],
  at: Date,
): Promise<void> {
  const id = random63()
  await transaction.execute(
    `INSERT INTO counter_adjustments (record_type, record_id, adjustment_id, kind, adjusted_at, count)
     VALUES ${adjustments.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')}`,
    adjustments.flatMap(({ recordType, recordId, amount }) => [
      recordType,
      recordId,
      id,
      ADJUSTMENTS[kind],
      at,
      amount,
    ]),
  )
}
