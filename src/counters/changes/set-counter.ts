import type { Database, Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { pendingSlotsSql } from '../counters-sql.ts'
import type { CounterAddress } from '../keys/counter-address.ts'
import { ensureNames } from '../keys/names.ts'
import { addToDays } from '../ledger/periods.ts'
import {
  changingTotals,
  createTotals,
  fitsTotal,
  type Ledger,
  lockTotals,
  Overtaken,
  outOfRange,
  recordAdjustments,
} from '../ledger/totals.ts'
import { laneOf } from '../ranges.ts'
import { keyOfCounter, makeChange } from './change.ts'

/**
 * The most statements of one attempt: BEGIN, read, name, lock, total, two for the adjustment, COMMIT, and ROLLBACK if that fails.
 */
const ATTEMPT_STATEMENTS = 9

/** What to set a counter to. */
export interface Setting {
  count: bigint
  /** The hash of an idempotency key, by which the same setting is recognized whenever it is sent again; `null` if there is none. */
  id: bigint | null
  /** The current time. */
  at: Date
}

/**
 * Sets a counter. Afterwards, `total + pending` is the requested count plus everything counted since the slots were read. Slots
 * are neither locked nor changed, so counting continues undisturbed. The difference is recorded as an adjustment; the history
 * keeps what was counted.
 *
 * @returns `repeated` if the same setting was applied before; nothing was changed, even if the counter has another count by now
 * @throws {KeyReused} if the counter was to be set to another count under the same id before; nothing was changed
 * @throws {Overtaken} if roll-ups or other changes overtook every attempt; nothing was changed
 * @throws {DatabaseFailure} of kind `range` if the total would leave 64 bits
 */
export async function setCounter(
  ledger: Ledger,
  counter: CounterAddress,
  setting: Setting,
): Promise<'set' | 'repeated'> {
  const key = await keyOfCounter(setting.id, 'set', counter, `count ${setting.count}`)
  const attempt = (transaction: Executor, db: Database) => attemptToSet(transaction, db, counter, setting)
  const outcome = await changingTotals(ledger, (database) =>
    makeChange(database, { key, statements: ATTEMPT_STATEMENTS, attempt }),
  )
  return outcome === 'done' ? 'set' : outcome
}

async function attemptToSet(
  transaction: Executor,
  db: Database,
  counter: CounterAddress,
  { count, at }: Setting,
): Promise<void> {
  const snapshot = await readForSetting(transaction, counter)
  const total = count - snapshot.pending
  if (!fitsTotal(total)) throw outOfRange()
  await ensureNames(db, [counter], 1)
  if (snapshot.version === null) {
    // Read again once there is a version. Without one, nothing would tell if what was pending is deleted in the meantime.
    await createTotals(db, [{ ...counter, version: null }])
    throw new Overtaken()
  }
  await lockTotals(transaction, [counter])
  // Every change of a total changes its version, so this matches no row if anything was rolled up since the snapshot.
  // Anything counted since then is in the slots, in addition to what the snapshot found there.
  const { rowsAffected } = await transaction.execute(
    `UPDATE counter_totals SET count = ?, version = version + 1
     WHERE record_type = ? AND record_id = ? AND version = ?`,
    [total, counter.recordType, counter.recordId, snapshot.version],
  )
  if (rowsAffected !== 1) throw new Overtaken()
  const amount = total - snapshot.total
  await addToDays(transaction, [], [{ ...counter, amount }], laneOf(db, counter))
  await recordAdjustments(transaction, 'set', [{ ...counter, count: amount }], at)
}

/** A counter at one instant. */
interface CounterSnapshot {
  total: bigint
  /** The version of its total; `null` if it has none yet. */
  version: bigint | null
  pending: bigint
}

/** Reads what a setting depends on, in one statement, so from one snapshot, and without locks. */
async function readForSetting(db: Executor, counter: CounterAddress): Promise<CounterSnapshot> {
  const address = [counter.recordType, counter.recordId]
  const { rows } = await db.execute(
    `SELECT SUM(total) AS total, MAX(version) AS version, SUM(pending) AS pending FROM (
       SELECT count AS total, version, 0 AS pending
         FROM counter_totals WHERE record_type = ? AND record_id = ?
       UNION ALL SELECT 0, NULL, SUM(count) FROM ${pendingSlotsSql(counter)}) AS parts`,
    address,
  )
  const row = rows[0]!
  const number = (value: unknown) => (value === null ? 0n : toBigInt(value))
  return {
    total: number(row.total),
    version: row.version === null ? null : toBigInt(row.version),
    pending: number(row.pending),
  }
}
