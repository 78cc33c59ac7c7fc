import { countStatements, type Database, type Executor } from '../database/database.ts'
import { withRetries } from '../database/retry-and-breaker.ts'
import { toDate, toText } from '../database/values.ts'
import { byRange } from './ranges.ts'

/** Budgets that can end a run before its work is done; indexes as stored. */
const BUDGETS = [null, 'statements', 'seconds'] as const
export type StoppedBy = NonNullable<(typeof BUDGETS)[number]>

/** Tasks whose runs are recorded; numbers as stored. The roll-up has `rollup_state`, others have more columns (`daily-round.ts`). */
const TASKS = { pruning: 1, expiry: 2 } as const
export const VERIFICATION = 3
const QUEUE = 4
export type BackgroundTask = keyof typeof TASKS

/** The number of a budget, as SQL. */
export function budgetSql(stoppedBy: StoppedBy | null): string {
  return stoppedBy === null ? 'NULL' : String(BUDGETS.indexOf(stoppedBy))
}

/** The budget with a number in the database. */
export function toStoppedBy(value: unknown): StoppedBy | null {
  return BUDGETS[Number(value)] ?? null
}

/** Records how a run of a task ended. */
export async function recordRun(db: Executor, task: BackgroundTask, stoppedBy: StoppedBy | null): Promise<void> {
  await db.execute(
    `INSERT INTO background_runs (task, finished_at, stopped_by)
     VALUES (${TASKS[task]}, UTC_TIMESTAMP(3), ${budgetSql(stoppedBy)})
     ON DUPLICATE KEY UPDATE finished_at = VALUES(finished_at), stopped_by = VALUES(stopped_by)`,
  )
}

/** Adds to the batches that died in the queue. */
export async function recordDeadBatches(db: Executor, batches: number): Promise<void> {
  await db.execute(
    `INSERT INTO background_runs (task, finished_at, dead_batches) VALUES (${QUEUE}, UTC_TIMESTAMP(3), ${batches})
     ON DUPLICATE KEY UPDATE finished_at = VALUES(finished_at), dead_batches = dead_batches + VALUES(dead_batches)`,
  )
}

/** A mismatch as verification stores it: JSON has no bigint. */
export interface FoundMismatch {
  recordType: number
  /** `null`: that of a type, or of a counter without a name. */
  key: string | null
  recordId: string | null
  what: string
  start: string | null
  is: string
  shouldBe: string
}

/**
 * Reads how the last run of each task ended (`stoppedBy` is `null`: all work was done; a task without a run is missing), the
 * batches that died, when a whole round of verification last agreed (`null`: none did, or a mismatch was found since), and what
 * was found since.
 */
export async function readRuns(db: Executor) {
  const { rows } = await db.execute(
    `SELECT task, finished_at, stopped_by, agreed_at, found, dead_batches FROM background_runs FORCE INDEX (PRIMARY)
     WHERE task IN (${[...Object.values(TASKS), VERIFICATION, QUEUE].join()})`,
  )
  const rowOf = (number: number) => rows.find(({ task }) => Number(task) === number)
  const runOf = (task: BackgroundTask) => {
    const row = rowOf(TASKS[task])
    return row && { finishedAt: toDate(row.finished_at), stoppedBy: toStoppedBy(row.stopped_by) }
  }
  const [verification, queue] = [rowOf(VERIFICATION), rowOf(QUEUE)]
  return {
    pruning: runOf('pruning'),
    expiry: runOf('expiry'),
    verification: {
      agreedAt: toDate(verification?.agreed_at ?? null),
      found: JSON.parse(toText(verification?.found ?? '[]')) as FoundMismatch[],
    },
    deadBatches: { count: Number(queue?.dead_batches ?? 0), lastAt: toDate(queue?.finished_at ?? null) },
  }
}

export interface RunBudgets {
  /** Each statement is one subrequest of the Worker. */
  maxStatements: number
  /** No further page starts after this. Default: no limit. */
  maxSeconds?: number
}

/** How to delete one kind of old rows. */
interface OldRows<Row> {
  /** Reads the next page of rows without locks: those after a row, or the first ones. */
  read(db: Executor, after: Row | null): Promise<Row[]>
  /** A shorter page is the last one. */
  pageRows: number
  recordIdOf(row: Row): bigint
  /** Deletes rows of one range, and returns their number. */
  remove(db: Executor, rows: readonly Row[]): Promise<number>
}

/** Starts a run that deletes old rows page by page, with one statement for each range. The next run deletes what this one leaves. */
export function startDeletion(
  database: Database,
  { maxStatements, maxSeconds = Number.POSITIVE_INFINITY }: RunBudgets,
) {
  const counted = countStatements(database)
  const db = withRetries(counted)
  const began = Date.now()
  let deleted = 0
  return {
    /** Deletes one kind of rows. Returns the budget that was spent first; `null` if all were deleted. */
    async deleteAll<Row>({ read, pageRows, recordIdOf, remove }: OldRows<Row>): Promise<StoppedBy | null> {
      for (let after: Row | null = null; ; ) {
        if (counted.sent + 1 + database.ranges > maxStatements) return 'statements'
        if (Date.now() - began >= maxSeconds * 1_000) return 'seconds'
        const page: Row[] = await read(db, after)
        const parts = [...byRange(page, database.ranges, recordIdOf).values()]
        const counts = await Promise.all(parts.map((part) => remove(db, part)))
        deleted += counts.reduce((sum, count) => sum + count, 0)
        if (page.length < pageRows) return null
        after = page.at(-1)!
      }
    },
    /** The result. `stoppedBy`: the budget that ended the run before its work was done. */
    summary(stoppedBy: StoppedBy | null) {
      const outcome = stoppedBy === null ? ('complete' as const) : ('partial' as const)
      return { outcome, stoppedBy, deleted, statements: counted.sent, milliseconds: Date.now() - began }
    },
  }
}
