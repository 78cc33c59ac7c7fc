import type { HistorySettings } from '../config.ts'
import { countStatements } from '../database/counted.ts'
import type { Database, Executor } from '../database/database.ts'
import { withRetries } from '../database/retry.ts'
import { startOf } from './calendar.ts'
import { deleteHours, type OldHour, readOldHours } from './old-hours.ts'
import { deleteTypeHours, readOldTypeHours } from './old-type-hours.ts'

/** Statements that one page takes: read and delete. */
const PAGE_STATEMENTS = 2
const DAY_MS = 86_400_000

/** What one folding run did. */
export interface FoldSummary {
  outcome: 'complete' | 'partial'
  /** Hours deleted, of counters and of types. */
  deleted: number
  /** Hours that are old enough and were left, because the history does not have their day. */
  kept: number
  statements: number
  milliseconds: number
}

/** How to run. */
export interface FoldOptions extends HistorySettings {
  /** The record types whose own history is folded too. */
  recordTypes: readonly number[]
  /** The time of the run. */
  at: Date
}

/**
 * Deletes the hours of old days from the history, oldest first, page by page: their days stay, which hold their sums. No history
 * by days or months in UTC changes by that. An hour whose day is not there is left. What is left over is taken up by the next run.
 *
 * @throws {DatabaseFailure}
 */
export async function fold(database: Database, options: FoldOptions): Promise<FoldSummary> {
  const counted = countStatements(database)
  const db = withRetries(counted)
  const began = Date.now()
  const done = { deleted: 0, kept: 0 }
  // Whole days: a day is known by its hours or by itself, but for one that a run could not finish.
  const before = startOf('day', new Date(options.at.getTime() - options.hourDays * DAY_MS))
  const { pageHours, recordTypes } = options

  const foldPages = async <Hour extends OldHour>(
    read: (after: Hour | null) => Promise<Hour[]>,
    remove: (db: Executor, hours: readonly Hour[]) => Promise<number>,
  ): Promise<boolean> => {
    for (let after: Hour | null = null; ; ) {
      if (counted.sent + PAGE_STATEMENTS > options.maxStatements) return false
      const page: Hour[] = await read(after)
      const covered = page.filter((hour) => hour.covered)
      if (covered.length > 0) done.deleted += await remove(db, covered)
      done.kept += page.length - covered.length
      if (page.length < pageHours) return true
      after = page.at(-1)!
    }
  }
  // Types first: they have few.
  const complete =
    (await foldPages((after) => readOldTypeHours(db, recordTypes, before, after, pageHours), deleteTypeHours)) &&
    (await foldPages((after) => readOldHours(db, before, after, pageHours), deleteHours))
  const outcome = complete ? 'complete' : 'partial'
  return { outcome, ...done, statements: counted.sent, milliseconds: Date.now() - began }
}
