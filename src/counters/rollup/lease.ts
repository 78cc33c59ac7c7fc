import type { Database, Executor } from '../../database/database.ts'
import { toBigInt, toDate } from '../../database/values.ts'
import { budgetSql, type StoppedBy, toStoppedBy } from '../background-runs.ts'
import { earliest } from '../calendar.ts'
import type { CounterPlace } from '../keys/counter-address.ts'
import { rangeStarts } from '../ranges.ts'

/** The last slot that a roll-up has processed. */
export interface Cursor extends CounterPlace {
  slot: bigint
}

export interface RollUpState {
  /** The run that holds the lease; 0: it was released. */
  holder: bigint
  leased: boolean
  /** Where the latest run stopped; `null` if it reached the end. */
  cursor: Cursor | null
  lastRunAt: Date | null
  /** The scheduled time of the latest run that left nothing behind. */
  caughtUpAt: Date | null
  /**
   * What ended the latest run early: a budget, a `failure`, or an `interruption`, after which it did not release its lease. It
   * may have been killed because it took too much processor time, or cut off from the database.
   */
  stoppedBy: StoppedBy | 'interruption' | 'failure' | null
}

const INTERRUPTION = 3
const FAILURE = 4
const OTHER_ENDS: Record<number, 'interruption' | 'failure'> = { [INTERRUPTION]: 'interruption', [FAILURE]: 'failure' }
/** SQL: `stopped_by`, also of a run whose lease has expired before it was released. */
const STOPPED_BY = `IF(leased_until < UTC_TIMESTAMP(3) AND holder <> 0, ${INTERRUPTION}, stopped_by)`

/**
 * Takes the lease of a range if it is free. It expires, so a run that dies blocks others no longer than it may take. The clock
 * may have been set back: a lease that ends later than one taken now is free too. Correctness does not depend on it.
 * @param holder a random number that identifies this run
 * @returns the state afterwards, whose `holder` tells whether this run has the lease, and how long the shorter statement took
 */
export async function acquireLease(
  db: Executor,
  rangeStart: bigint,
  holder: bigint,
  seconds: number,
): Promise<{ state: RollUpState; roundTripMs: number }> {
  const began = Date.now()
  await db.execute(
    `INSERT INTO rollup_state (range_start, holder, leased_until) VALUES (${rangeStart}, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)
     ON DUPLICATE KEY UPDATE
       stopped_by = ${STOPPED_BY},
       holder = IF(holder = 0 OR leased_until NOT BETWEEN UTC_TIMESTAMP(3) AND VALUES(leased_until), VALUES(holder), holder),
       leased_until = IF(holder = VALUES(holder), VALUES(leased_until), leased_until)`,
    [holder, seconds],
  )
  const taken = Date.now()
  const [state] = await readStates(db, [rangeStart])
  if (state === undefined) throw new Error('the row of the roll-up’s state was removed while it was being written')
  return { state, roundTripMs: Math.min(taken - began, Date.now() - taken) }
}

/** The state of all ranges together, times of the one furthest behind; `null` if no range has been rolled up yet. */
export async function readRollUpState(db: Database): Promise<Omit<RollUpState, 'holder'> | null> {
  const states = await readStates(db, rangeStarts(db.ranges))
  if (states.length === 0) return null
  const ends = states.map(({ stoppedBy }) => stoppedBy)
  const earliestOf = (time: 'lastRunAt' | 'caughtUpAt') =>
    states.length < db.ranges ? null : earliest(states.map((state) => state[time]))
  return {
    leased: states.some(({ leased }) => leased),
    cursor: states.find(({ cursor }) => cursor !== null)?.cursor ?? null,
    lastRunAt: earliestOf('lastRunAt'),
    caughtUpAt: earliestOf('caughtUpAt'),
    stoppedBy: ends.find((end) => end === 'failure') ?? ends.find((end) => end !== null) ?? null,
  }
}

async function readStates(db: Executor, rangeStarts: readonly bigint[]): Promise<RollUpState[]> {
  const { rows } = await db.execute(
    `SELECT holder, holder <> 0 AND leased_until >= UTC_TIMESTAMP(3) AS leased, cursor_record_type, cursor_record_id, cursor_slot,
       last_run_at, caught_up_at, ${STOPPED_BY} AS stopped_by
     FROM rollup_state WHERE range_start IN (${rangeStarts.join(',')})`,
  )
  return rows.map((row) => ({
    holder: toBigInt(row.holder),
    leased: toBigInt(row.leased) === 1n,
    cursor:
      row.cursor_slot === null
        ? null
        : {
            recordType: Number(row.cursor_record_type),
            recordId: toBigInt(row.cursor_record_id),
            slot: toBigInt(row.cursor_slot),
          },
    lastRunAt: toDate(row.last_run_at),
    caughtUpAt: toDate(row.caught_up_at),
    stoppedBy: OTHER_ENDS[Number(row.stopped_by)] ?? toStoppedBy(row.stopped_by),
  }))
}

/**
 * Releases the lease and stores the state for the next run, unless another run has taken the lease. Stored times never go back:
 * a run may end after one that was scheduled later.
 * @param end `cursor`: where the next run starts; `caughtUp`: whether all that was pending when this run began has been rolled up
 */
export async function releaseLease(
  db: Executor,
  rangeStart: bigint,
  holder: bigint,
  end: { at: Date; cursor: Cursor | null; caughtUp: boolean; stoppedBy: StoppedBy | 'failure' | null },
): Promise<void> {
  const { at, cursor, caughtUp, stoppedBy } = end
  // Without the cast, times are compared as text, and the driver writes a T where the database writes a space.
  const time = 'CAST(? AS DATETIME(3))'
  await db.execute(
    `UPDATE rollup_state SET holder = 0, leased_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND,
       cursor_record_type = ?, cursor_record_id = ?, cursor_slot = ?, stopped_by = ${stoppedBy === 'failure' ? FAILURE : budgetSql(stoppedBy)},
       last_run_at = GREATEST(COALESCE(last_run_at, ${time}), ${time}),
       caught_up_at = IF(?, GREATEST(COALESCE(caught_up_at, ${time}), ${time}), caught_up_at)
     WHERE range_start = ${rangeStart} AND holder = ?`,
    [cursor?.recordType, cursor?.recordId, cursor?.slot, at, at, caughtUp, at, at, holder],
  )
}
