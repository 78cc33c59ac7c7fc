import type { Executor } from '../database/database.ts'
import { classify, DatabaseFailure } from '../database/errors.ts'

/** Where a total is. */
interface Address {
  recordType: number
  recordId: bigint
}

/** What is added to a total, if it still has the version that was seen. */
export interface TotalChange extends Address {
  /** The version that was seen; `null`: there was no row. */
  version: bigint | null
  amount: bigint
}

/** Thrown inside a transaction to undo it when another one changed a total first, or is about to. */
export class Overtaken extends Error {}

const LARGEST = 2n ** 63n - 1n

/** Whether a total can take a value. */
export function fitsTotal(total: bigint): boolean {
  return total <= LARGEST && total >= -LARGEST
}

/** What a total says that cannot take a value, as the database would put it. */
export function outOfRange(): DatabaseFailure {
  return new DatabaseFailure(
    { kind: 'range', retry: false, applied: 'no' },
    new Error('a total would leave the range of 64-bit integers'),
  )
}

/**
 * Creates the totals that are not there, as 0, which changes no sum. For outside of the transaction that changes them: with
 * every row in place, the affected rows say whether every version was the one seen.
 *
 * @param totals in primary key order
 * @throws {DatabaseFailure}
 */
export async function createTotals(
  db: Executor,
  totals: readonly (Address & { version: bigint | null })[],
): Promise<void> {
  const unborn = totals.filter(({ version }) => version === null)
  if (unborn.length === 0) return
  await db.execute(
    `INSERT IGNORE INTO counter_totals (record_type, record_id, count, version, rolled_up_at)
     VALUES ${unborn.map(() => '(?, ?, 0, 0, NULL)').join(', ')}`,
    unborn.flatMap(({ recordType, recordId }) => [recordType, recordId]),
  )
}

/**
 * Takes the row locks of totals, all of which exist, or fails at once: for a transaction's first statement. Whoever waits in
 * line longer than its deadline leaves a transaction behind that goes on waiting, then holds the lock for as long as the
 * server lets it (20 s on PlanetScale); whoever tries again every few seconds would wait behind its own past for ever.
 *
 * @throws {Overtaken} if another transaction has any of them
 * @throws {DatabaseFailure}
 */
export async function lockTotals(transaction: Executor, totals: readonly Address[]): Promise<void> {
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
 * Adds to totals, all of which exist, and counts their versions up.
 *
 * @param changes in primary key order, each counter once
 * @param rolledUpAt the time of the roll-up that does it; `null` if it is none
 * @throws {Overtaken} if any of them has another version than the one seen; the transaction must be undone then
 * @throws {DatabaseFailure}
 */
export async function addToTotals(
  transaction: Executor,
  changes: readonly TotalChange[],
  rolledUpAt: Date | null,
): Promise<void> {
  // Numbers and times of our own, written out: see applyBatch.
  const at = rolledUpAt === null ? 'NULL' : `'${rolledUpAt.toISOString().slice(0, 23).replace('T', ' ')}'`
  const values = changes.map(({ recordType, recordId, amount, version }) => {
    return `(${recordType},${recordId},${amount},${(version ?? 0n) + 1n},${at})`
  })
  const { rowsAffected } = await transaction.execute(
    `INSERT INTO counter_totals (record_type, record_id, count, version, rolled_up_at) VALUES ${values.join(',')}
     ON DUPLICATE KEY UPDATE
       count = count + IF(version + 1 = VALUES(version), VALUES(count), 0),
       rolled_up_at = IF(version + 1 = VALUES(version) AND VALUES(rolled_up_at) IS NOT NULL,
         GREATEST(COALESCE(rolled_up_at, VALUES(rolled_up_at)), VALUES(rolled_up_at)), rolled_up_at),
       version = IF(version + 1 = VALUES(version), VALUES(version), version)`,
  )
  // 2 for a row that changed; 1 would be an insert or, with client-found-rows, a row that stayed as it was.
  if (rowsAffected !== 2 * changes.length) throw new Overtaken()
}
