import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { counterSql, pendingSlotsSql } from '../counters-sql.ts'
import type { CounterAddress } from '../keys/counter-address.ts'
import { ensureNames } from '../keys/names.ts'
import { addToDays } from '../ledger/periods.ts'
import {
  createTotals,
  fitsTotal,
  lockTotals,
  Overtaken,
  outOfRange,
  recordAdjustments,
  type TotalsStore,
} from '../ledger/totals.ts'
import { laneOf } from '../ranges.ts'
import { keyOfCounter, makeChange } from './change.ts'

/** The most statements of one attempt: BEGIN, read, name, lock, total, 2 for the adjustment, COMMIT, ROLLBACK. */
const ATTEMPT_STATEMENTS = 9

export interface Setting {
  count: bigint
  id: bigint | null
  at: Date
}

/**
 * Sets a counter: `total + pending` becomes the requested count plus what is counted after the read. Slots are neither locked
 * nor changed. The difference is recorded as an adjustment; the history keeps what was counted.
 * @returns `repeated` if the same setting was applied before; nothing was changed, even if the count has moved since. `added`: the
 *   adjustment; `null` if repeated
 * @throws {KeyReused} the id was used for another count; nothing was changed
 * @throws {Overtaken} every attempt was overtaken; nothing was changed
 * @throws {DatabaseFailure} of kind `range` if the total would leave 64 bits
 */
export async function setCounter(
  store: TotalsStore,
  counter: CounterAddress,
  setting: Setting,
): Promise<{ outcome: 'set' | 'repeated'; added: bigint | null }> {
  const key = await keyOfCounter(setting.id, 'set', counter, `count ${setting.count}`)
  // Of the latest attempt. If that of an earlier one turns out to be committed, no later one got this far.
  let added: bigint | null = null
  const outcome = await makeChange(store, {
    key,
    statements: ATTEMPT_STATEMENTS,
    async attempt(transaction, db) {
      const snapshot = await readForSetting(transaction, counter)
      const total = setting.count - snapshot.pending
      if (!fitsTotal(total)) throw outOfRange()
      await ensureNames(db, [counter])
      if (snapshot.version === null) {
        // Read again: without a version, nothing would reveal that pending counts were deleted meanwhile.
        await createTotals(db, [{ ...counter, version: null }])
        throw new Overtaken()
      }
      await lockTotals(transaction, [counter])
      // Matches no row if anything was rolled up since the read: every change of a total changes its version.
      const { rowsAffected } = await transaction.execute(
        `UPDATE counter_totals SET count = ?, version = version + 1
         WHERE record_type = ? AND record_id = ? AND version = ?`,
        [total, counter.recordType, counter.recordId, snapshot.version],
      )
      if (rowsAffected !== 1) throw new Overtaken()
      added = total - snapshot.total
      const adjustments = [{ ...counter, amount: added }]
      await addToDays(transaction, [], adjustments, laneOf(db, counter))
      await recordAdjustments(transaction, 'set', adjustments, setting.at)
    },
  })
  return outcome === 'done' ? { outcome: 'set', added } : { outcome, added: null }
}

/** Reads a total, its version (`null` without a total) and what is pending: one statement, so one snapshot, without locks. */
async function readForSetting(db: Executor, counter: CounterAddress) {
  const { rows } = await db.execute(
    `SELECT SUM(total) AS total, MAX(version) AS version, SUM(pending) AS pending FROM (
       SELECT count AS total, version, 0 AS pending FROM counter_totals WHERE ${counterSql(counter)}
       UNION ALL SELECT 0, NULL, SUM(count) FROM ${pendingSlotsSql(counter)}) AS parts`,
  )
  const { total, version, pending } = rows[0]!
  return {
    total: toBigInt(total ?? 0),
    version: version === null ? null : toBigInt(version),
    pending: toBigInt(pending ?? 0),
  }
}
