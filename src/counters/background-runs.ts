import { bucketOf, idsSql } from '../database/buckets.ts'
import type { Database, Executor } from '../database/database.ts'
import { toBigInt, toDate, toText } from '../database/values.ts'
import { earliest } from './calendar.ts'
import type { CounterPlace } from './counter-address.ts'
import { placeOf } from './counters-sql.ts'
import { rangeStarts } from './ranges.ts'

/** How runs end, indexes as stored: `null`: all work done; `interruption`: killed or cut off, so that the lease was not released. */
const ENDS = [null, 'statements', 'seconds', 'interruption', 'failure'] as const
type End = (typeof ENDS)[number]
/** Budgets that can end a run before its work is done. */
export type StoppedBy = 'statements' | 'seconds'

/** Tasks whose runs are recorded; numbers as stored. The roll-up has `rollup_state`, others have more columns (`verify-page.ts`). */
const TASKS = { pruning: 1, expiry: 2 } as const
export const VERIFICATION = 3
const QUEUE = 4
/** The bucket of all runs: a task has no record id. */
export const TASK_BUCKET = bucketOf(0n)
export type BackgroundTask = keyof typeof TASKS

const endSql = (end: End) => (end === null ? 'NULL' : ENDS.indexOf(end))

/** Records how a run of a task ended. @param position of expiry: before which time it deletes hours; the latest one is kept */
export async function recordRun(db: Executor, task: BackgroundTask, stoppedBy: StoppedBy | null, position = '') {
  await db.execute(
    `INSERT INTO background_runs (task, bucket, finished_at, stopped_by, position)
     VALUES (${TASKS[task]}, ${TASK_BUCKET}, UTC_TIMESTAMP(3), ${endSql(stoppedBy)}, '${position}')
     ON DUPLICATE KEY UPDATE finished_at = VALUES(finished_at), stopped_by = VALUES(stopped_by),
       position = GREATEST(COALESCE(position, ''), VALUES(position))`,
  )
}

/** Adds to the batches that died in the queue. */
export async function recordDeadBatches(db: Executor, batches: number): Promise<void> {
  await db.execute(
    `INSERT INTO background_runs (task, bucket, finished_at, dead_batches) VALUES (${QUEUE}, ${TASK_BUCKET}, UTC_TIMESTAMP(3), ${batches})
     ON DUPLICATE KEY UPDATE finished_at = VALUES(finished_at), dead_batches = dead_batches + VALUES(dead_batches)`,
  )
}

/** A mismatch as verification stores it: JSON has no bigint. `key` is `null` of a type, and of a counter without a name. */
export interface FoundMismatch {
  recordType: number
  key: string | null
  recordId: string | null
  what: string
  start: string | null
  is: string
  shouldBe: string
}

/**
 * Reads how the last run of each task ended (`stoppedBy` is `null`: all work was done; a task without a run is missing), the batches that
 * died, when a whole round of verification last agreed (`null`: none did, or a mismatch was found since), and what was found since.
 */
export async function readRuns(db: Executor) {
  const { rows } = await db.execute(
    `SELECT task, finished_at, stopped_by, agreed_at, found, dead_batches, position FROM background_runs FORCE INDEX (PRIMARY)
     WHERE task IN (${[...Object.values(TASKS), VERIFICATION, QUEUE].join()}) AND bucket = ${TASK_BUCKET}`,
  )
  const rowOf = (number: number) => rows.find(({ task }) => Number(task) === number)
  const runOf = (task: BackgroundTask) => {
    const row = rowOf(TASKS[task])
    return row && { finishedAt: toDate(row.finished_at), stoppedBy: ENDS[Number(row.stopped_by)] as StoppedBy | null }
  }
  const [verification, queue] = [rowOf(VERIFICATION), rowOf(QUEUE)]
  return {
    pruning: runOf('pruning'),
    expiry: runOf('expiry'),
    expiredBefore: toDate(rowOf(TASKS.expiry)?.position || null),
    verification: {
      agreedAt: toDate(verification?.agreed_at ?? null),
      found: JSON.parse(toText(verification?.found ?? '[]')) as FoundMismatch[],
    },
    deadBatches: { count: Number(queue?.dead_batches ?? 0), lastAt: toDate(queue?.finished_at ?? null) },
  }
}

export interface RunBudgets {
  /** Each is a subrequest of the Worker. */
  maxStatements: number
  /** No further page starts after this. Default: no limit. */
  maxSeconds?: number
}

/** The last slot that a roll-up has processed. */
export type Cursor = CounterPlace & { slot: bigint }

export interface RollUpState {
  /** The run that holds the lease; 0: it was released. */
  holder: bigint
  /** Where the latest run stopped; `null` if it reached the end. */
  cursor: Cursor | null
  lastRunAt: Date | null
  /** The scheduled time of the latest run that left nothing behind. */
  caughtUpAt: Date | null
  stoppedBy: End
}

/** SQL: `stopped_by`, also of a run whose lease has expired before it was released. */
const STOPPED_BY = `IF(leased_until < UTC_TIMESTAMP(3) AND holder <> 0, ${endSql('interruption')}, stopped_by)`

/**
 * Takes the lease of a range if it is free. It expires, in case its run dies; one that ends later than one taken now was taken before the
 * clock was set back. Correctness does not depend on it. @param holder a random number that identifies this run
 * @returns the state afterwards, with the `holder` of the lease, and how long the shorter statement took
 */
export async function acquireLease(db: Executor, rangeStart: bigint, holder: bigint, seconds: number) {
  const began = Date.now()
  await db.execute(
    `INSERT INTO rollup_state (range_start, bucket, holder, leased_until) VALUES (${rangeStart}, ${bucketOf(rangeStart)}, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)
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
    cursor: states.find(({ cursor }) => cursor !== null)?.cursor ?? null,
    lastRunAt: earliestOf('lastRunAt'),
    caughtUpAt: earliestOf('caughtUpAt'),
    stoppedBy: ends.find((end) => end === 'failure') ?? ends.find((end) => end !== null) ?? null,
  }
}

async function readStates(db: Executor, rangeStarts: readonly bigint[]): Promise<RollUpState[]> {
  const { rows } = await db.execute(
    `SELECT holder, cursor_record_type AS record_type, cursor_record_id AS record_id, cursor_slot AS slot, last_run_at, caught_up_at,
       ${STOPPED_BY} AS stopped_by
     FROM rollup_state WHERE ${idsSql('range_start', rangeStarts)}`,
  )
  return rows.map((row) => ({
    holder: toBigInt(row.holder),
    cursor: row.slot === null ? null : { ...placeOf(row), slot: toBigInt(row.slot) },
    lastRunAt: toDate(row.last_run_at),
    caughtUpAt: toDate(row.caught_up_at),
    stoppedBy: ENDS[Number(row.stopped_by)] ?? null,
  }))
}

/** Stores the state for the next run, unless another one has taken the lease. Times never go back: runs may end in another order. */
export async function releaseLease(
  db: Executor,
  rangeStart: bigint,
  holder: bigint,
  { at, cursor, caughtUp, stoppedBy }: { at: Date; cursor: Cursor | null; caughtUp: boolean; stoppedBy: End },
): Promise<void> {
  // Without the cast, times are compared as text, and the driver writes a T where the database writes a space.
  const time = 'CAST(? AS DATETIME(3))'
  await db.execute(
    `UPDATE rollup_state SET holder = 0, leased_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND,
       cursor_record_type = ?, cursor_record_id = ?, cursor_slot = ?, stopped_by = ${endSql(stoppedBy)},
       last_run_at = GREATEST(COALESCE(last_run_at, ${time}), ${time}),
       caught_up_at = IF(?, GREATEST(COALESCE(caught_up_at, ${time}), ${time}), caught_up_at)
     WHERE ${idsSql('range_start', rangeStart)} AND holder = ?`,
    [cursor?.recordType, cursor?.recordId, cursor?.slot, at, at, caughtUp, at, at, holder],
  )
}
