import type { Database } from '../../database/database.ts'
import { toBigInt } from '../../database/numbers.ts'
import { beforeTransaction } from '../adjust/attempts.ts'
import type { CounterAddress } from '../keys/counter-address.ts'
import { ensureNames } from '../keys/names.ts'
import { addHistory } from '../ledger/periods.ts'
import { ADJUSTMENTS } from '../ledger/record-adjustments.ts'
import { addToTotals, createTotals, fitsTotal, lockTotals, Overtaken, outOfRange } from '../ledger/totals.ts'
import { laneOf } from '../ranges.ts'
import { addToBalance } from './leave-source.ts'
import { deleteTransfer, insertTransfer, type Place, ROLES, STAGES, type TransferRecord } from './transfer-records.ts'

/**
 * The most statements by which a part arrives: BEGIN, state, the record again, missing total, name, lock, total, three for the
 * history, balance, the target's record, COMMIT, and ROLLBACK if that fails.
 */
export const REACH_STATEMENTS = 14
/** The most statements that delete what the target keeps of a transfer. */
export const FORGET_STATEMENTS = 2

/**
 * Adds the part that left the source last to the target, exactly once: the target's own row says which part it has. That row is
 * read together with the version that guards the total. After that, the source's row is read again. So if another request added
 * the part, and even if it has finished the transfer since, this one adds nothing.
 *
 * @throws {Overtaken} if other changes of the target came first
 * @throws {DatabaseFailure} of kind `range` if the target's total would leave 64 bits
 */
export async function reachTarget(
  db: Database,
  source: Place,
  target: CounterAddress,
  record: TransferRecord,
  at: Date,
): Promise<void> {
  const { parcel, id, step } = record
  if (parcel === null) return
  const { recordType, recordId } = target
  const where = `WHERE record_type = ${recordType} AND record_id = ${recordId}`
  await db.transaction(async (transaction) => {
    // The first statement takes no locks: if its answer is lost, nobody can roll the transaction back.
    const { rows } = await beforeTransaction(
      transaction.execute(
        `SELECT 'total' AS part, version, count FROM counter_totals ${where}
         UNION ALL SELECT 'arrived', 0, step FROM counter_transfers
           ${where} AND transfer_id = ${id} AND role = ${ROLES.target} AND other_id = ${source.recordId}`,
      ),
    )
    const arrived = rows.find(({ part }) => part === 'arrived')
    if (arrived !== undefined && Number(arrived.count) >= step) return
    if (!(await beforeTransaction(isUnderWay(db, source, record)))) throw new Overtaken()
    const total = rows.find(({ part }) => part === 'total')
    if (!fitsTotal((total === undefined ? 0n : toBigInt(total.count)) + parcel.amount)) throw outOfRange()
    await beforeTransaction(ensureNames(db, [target], 1))
    if (total === undefined) {
      // Read again once there is a version: see `setCounter`. Outside the transaction, so that the row stays.
      await beforeTransaction(createTotals(db, [{ recordType, recordId, version: null }]))
      throw new Overtaken()
    }
    const changes = [{ recordType, recordId, amount: parcel.amount, version: toBigInt(total.version) }]
    await lockTotals(transaction, changes)
    await addToTotals(transaction, changes, null)
    const rest = parcel.days.reduce((sum, { count }) => sum - count, parcel.amount)
    await addHistory(transaction, target, parcel.days, rest, laneOf(db, target))
    if (rest !== 0n || parcel.imported) {
      await addToBalance(transaction, target, id, { amount: rest, at, imported: parcel.imported })
    }
    await insertTransfer(transaction, target, {
      ...record,
      role: 'target',
      other: { ...source, name: '' },
      startedAt: at,
      parcel: null,
    })
  })
}

/** Whether a part is still the one that left the source last. */
async function isUnderWay(
  db: Database,
  { recordType, recordId }: Place,
  { id, step }: Pick<TransferRecord, 'id' | 'step'>,
): Promise<boolean> {
  const { rows } = await db.execute(
    `SELECT 1 FROM counter_transfers WHERE record_type = ${recordType} AND record_id = ${recordId}
       AND transfer_id = ${id} AND role = ${ROLES.source} AND step = ${step} AND parcel IS NOT NULL`,
  )
  return rows.length > 0
}

/** Deletes what the target keeps of a transfer. The source's row must be gone or say that it is finished. */
export async function forgetArrivals(db: Database, target: Place, record: Pick<TransferRecord, 'id'>): Promise<void> {
  await db.execute(
    `DELETE FROM counter_adjustments WHERE record_type = ? AND record_id = ? AND adjustment_id = ?
       AND count = 0 AND kind = ${ADJUSTMENTS.set}`,
    [target.recordType, target.recordId, record.id],
  )
  await deleteTransfer(db, target, { id: record.id, role: 'target' })
}

/** Reads whether a counter has a total or a pending count, its total, and whether it is being taken apart itself. */
export async function readTarget(
  db: Database,
  { recordType, recordId }: Place,
): Promise<{ exists: boolean; total: bigint; isLeaving: boolean }> {
  const where = `WHERE record_type = ${recordType} AND record_id = ${recordId}`
  const { rows } = await db.execute(
    `SELECT 'target' AS part, count FROM counter_totals ${where}
     UNION ALL (SELECT 'pending', 0 FROM slotted_counters ${where} AND pending = 1 LIMIT 1)
     UNION ALL (SELECT 'leaving', 0 FROM counter_transfers
       ${where} AND role = ${ROLES.source} AND stage <> ${STAGES.finished} LIMIT 1)`,
  )
  const total = rows.find(({ part }) => part === 'target')
  return {
    exists: rows.some(({ part }) => part !== 'leaving'),
    total: total === undefined ? 0n : toBigInt(total.count),
    isLeaving: rows.some(({ part }) => part === 'leaving'),
  }
}
