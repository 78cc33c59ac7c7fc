import type { Executor } from '../database/database.ts'
import { toBigInt, toDate } from '../database/values.ts'

/** Budgets that can end a run before its work is done; numbers as stored. */
const BUDGETS = { statements: 1, seconds: 2 } as const
export type StoppedBy = keyof typeof BUDGETS

/** Tasks whose runs are recorded; numbers as stored. The roll-up has `rollup_state`. */
const TASKS = { pruning: 1, expiry: 2 } as const
export type BackgroundTask = keyof typeof TASKS

export interface BackgroundRun {
  finishedAt: Date
  /** `null`: all work was done. */
  stoppedBy: StoppedBy | null
}

/** The number of a budget, as SQL. */
export function budgetSql(stoppedBy: StoppedBy | null): string {
  return stoppedBy === null ? 'NULL' : String(BUDGETS[stoppedBy])
}

/** The budget with a number in the database. */
export function toStoppedBy(value: unknown): StoppedBy | null {
  if (value === null) return null
  return toBigInt(value) === BigInt(BUDGETS.statements) ? 'statements' : 'seconds'
}

/** Records how a run of a task ended. */
export async function recordRun(db: Executor, task: BackgroundTask, stoppedBy: StoppedBy | null): Promise<void> {
  await db.execute(
    `INSERT INTO background_runs (task, finished_at, stopped_by)
     VALUES (${TASKS[task]}, UTC_TIMESTAMP(3), ${budgetSql(stoppedBy)})
     ON DUPLICATE KEY UPDATE finished_at = VALUES(finished_at), stopped_by = VALUES(stopped_by)`,
  )
}

/** Reads how the last run of each task ended. A task that never finished a run is missing. */
export async function readRuns(db: Executor): Promise<Partial<Record<BackgroundTask, BackgroundRun>>> {
  const { rows } = await db.execute(
    `SELECT task, finished_at, stopped_by FROM background_runs FORCE INDEX (PRIMARY)
     WHERE task IN (${Object.values(TASKS).join()})`,
  )
  const runs: Partial<Record<BackgroundTask, BackgroundRun>> = {}
  for (const row of rows) {
    const task = Number(row.task) === TASKS.pruning ? 'pruning' : 'expiry'
    runs[task] = { finishedAt: toDate(row.finished_at)!, stoppedBy: toStoppedBy(row.stopped_by) }
  }
  return runs
}
