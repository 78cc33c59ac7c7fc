import type { Database, Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { preparing, recordAdjustments, untilDone } from './adjustments.ts'
import type { Counter } from './counter.ts'
import { storeNames } from './names.ts'
import { pendingOf } from './pending.ts'
import { createTotals, fitsTotal, lockTotals, Overtaken, outOfRange } from './totals.ts'

/** Most statements of one attempt: read, missing total, BEGIN, lock, total, adjustment, COMMIT, and ROLLBACK if that fails. */
const ATTEMPT_STATEMENTS = 8

/** What to set a counter to. */
export interface Setting {
  count: bigint
  /** A random number, or the hash of an idempotency key: the same setting again is recognised for ever. */
  id: bigint
  /** Now. */
  at: Date
}

/**
 * Sets a counter: `total + pending` is then what is wanted, plus what was counted since the instant at which the slots were
 * read. No slot is locked or changed, so counting goes on beside it as if nothing happened. The difference is recorded as an
 * adjustment; the history keeps what was counted.
 *
 * @returns `repeated` if this very setting was applied before: then nothing was changed, whatever the counter says by now
 * @throws {Overtaken} if roll-ups or other settings were faster every time; nothing was changed then
 * @throws {DatabaseFailure} of kind `range` if the total would leave 64 bits
 */
export async function setCounter(database: Database, counter: Counter, setting: Setting): Promise<'set' | 'repeated'> {
  if (counter.name !== null) await preparing(storeNames(database, [counter]))
  return untilDone(database, ATTEMPT_STATEMENTS, async (db, unsure) => {
    const seen = await preparing(readForSetting(db, counter, setting.id))
    if (seen.applied) return unsure ? 'set' : 'repeated'
    const total = setting.count - seen.pending
    if (!fitsTotal(total)) throw outOfRange()
    await preparing(createTotals(db, [{ ...counter, version: seen.version }]))
    await db.transaction(async (transaction) => {
      await lockTotals(transaction, [counter])
      // The version changes with every change of the total, so what has been rolled up since stops this; what has been counted
      // since is in the slots, on top of what was seen there.
      const { rowsAffected } = await transaction.execute(
        `UPDATE counter_totals SET count = ?, version = version + 1
         WHERE record_type = ? AND record_id = ? AND version = ?`,
        [total, counter.recordType, counter.recordId, seen.version ?? 0n],
      )
      if (rowsAffected !== 1) throw new Overtaken()
      await recordAdjustments(transaction, 'set', [{ ...counter, count: total - seen.total }], setting)
    })
    return 'set'
  })
}

/** A counter at one instant. */
interface Seen {
  total: bigint
  /** Of its total; `null`: it has none yet. */
  version: bigint | null
  pending: bigint
  /** Whether the setting was applied before. */
  applied: boolean
}

/** Reads what setting a counter depends on, in one statement: from one snapshot, and without a lock. */
async function readForSetting(db: Executor, counter: Counter, id: bigint): Promise<Seen> {
  const address = [counter.recordType, counter.recordId]
  const { rows } = await db.execute(
    `SELECT SUM(total) AS total, MAX(version) AS version, SUM(pending) AS pending, SUM(applied) AS applied FROM (
       SELECT count AS total, version, 0 AS pending, 0 AS applied
         FROM counter_totals WHERE record_type = ? AND record_id = ?
       UNION ALL SELECT 0, NULL, ${pendingOf(counter)}, 0
       UNION ALL SELECT 0, NULL, 0, 1
         FROM counter_adjustments WHERE record_type = ? AND record_id = ? AND adjustment_id = ?) AS parts`,
    [...address, ...address, id],
  )
  const row = rows[0]!
  const number = (value: unknown) => (value === null ? 0n : toBigInt(value))
  return {
    total: number(row.total),
    version: row.version === null ? null : toBigInt(row.version),
    pending: number(row.pending),
    applied: number(row.applied) > 0n,
  }
}
