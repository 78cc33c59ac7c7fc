import type { Database, Executor } from '../../database/database.ts'
import { withRetries } from '../../database/retry.ts'
import { countStatements } from '../../database/statement-budget.ts'
import type { StoppedBy } from '../background-runs.ts'
import { DAY_MS, startOf } from '../calendar.ts'
import { byRange } from '../ranges.ts'
import { deleteCounterHours, deleteTypeHours, type OldHour, readCounterHours, readTypeHours } from './delete-hours.ts'

/** How long the history keeps hours, and the bounds of one run that deletes them. */
export interface ExpirySettings {
  /** Days for which hours are kept. Of an older day, only its sum remains. */
  hourDays: number
  /** Hours that one page reads and deletes. */
  pageHours: number
  /** Statements that a run may send, including those of pruning. Each is one subrequest of the Worker. */
  maxStatements: number
  /** Seconds after which a run starts no further page. Default: no limit. */
  maxSeconds?: number
}

/** The result of one run. */
export interface ExpirySummary {
  outcome: 'complete' | 'partial'
  /** The budget that was spent before everything was deleted. */
  stoppedBy: StoppedBy | null
  /** Hours deleted, of counters and types. */
  deleted: number
  /** Hours that are old enough but were kept, because the history does not have their day. */
  kept: number
  statements: number
  milliseconds: number
}

/** The statements of a page of types and one of counters: each is read with one, and deleted with one for each range. */
export function leastExpiryStatements(ranges: number): number {
  return 2 * (1 + ranges)
}

/** How to run. */
export interface ExpiryOptions extends ExpirySettings {
  /** The record types whose own hours expire too. */
  recordTypes: readonly number[]
  /** The time of the run. */
  at: Date
}

/**
 * Deletes the hours of old days from the history, oldest first, page by page. The days stay and hold the sums of their hours, so
 * histories by UTC days or months do not change. An hour whose day is missing is kept. The next run deletes what this one leaves.
 */
export async function expireHours(database: Database, options: ExpiryOptions): Promise<ExpirySummary> {
  const counted = countStatements(database)
  const db = withRetries(counted)
  const began = Date.now()
  const tally = { deleted: 0, kept: 0 }
  // Whole days, so that a day has either all of its hours or none, unless a run could not finish it.
  const before = startOf('day', new Date(options.at.getTime() - options.hourDays * DAY_MS))
  const { pageHours, recordTypes, maxStatements, maxSeconds = Number.POSITIVE_INFINITY } = options

  const expirePages = async <Hour extends OldHour>(
    read: (after: Hour | null) => Promise<Hour[]>,
    remove: (db: Executor, hours: readonly Hour[]) => Promise<number>,
    recordIdOf: (hour: Hour) => bigint,
  ): Promise<StoppedBy | null> => {
    for (let after: Hour | null = null; ; ) {
      if (counted.sent + 1 + database.ranges > maxStatements) return 'statements'
      if (Date.now() - began >= maxSeconds * 1_000) return 'seconds'
      const page: Hour[] = await read(after)
      const covered = page.filter((hour) => hour.covered)
      const parts = [...byRange(covered, database.ranges, recordIdOf).values()]
      const deleted = await Promise.all(parts.map((part) => remove(db, part)))
      tally.deleted += deleted.reduce((sum, count) => sum + count, 0)
      tally.kept += page.length - covered.length
      if (page.length < pageHours) return null
      after = page.at(-1)!
    }
  }
  // Types first, because they have few hours.
  const stoppedBy =
    (await expirePages(
      (after) => readTypeHours(db, recordTypes, before, after, pageHours),
      deleteTypeHours,
      ({ rangeLane }) => rangeLane,
    )) ??
    (await expirePages(
      (after) => readCounterHours(db, before, after, pageHours),
      deleteCounterHours,
      ({ recordId }) => recordId,
    ))
  const outcome = stoppedBy === null ? 'complete' : 'partial'
  return { outcome, stoppedBy, ...tally, statements: counted.sent, milliseconds: Date.now() - began }
}
