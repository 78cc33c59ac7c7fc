import type { Database, Executor } from '../../database/database.ts'
import { packedSql, unpack } from '../../database/values.ts'
import { type RunBudgets, startDeletion } from '../background-runs.ts'
import { DAY_MS, PERIODS, startOf } from '../calendar.ts'
import { afterSql, counterListsSql } from '../counters-sql.ts'

/** How long the history keeps hours, and the bounds of one run, whose statements include those of pruning. */
export interface ExpirySettings extends RunBudgets {
  /** Of older days, only the sum remains. */
  hourDays: number
  pageHours: number
}

/** The statements of a page of counters and one of types: one read each, and one deletion for each range. */
export function leastExpiryStatements(ranges: number): number {
  return 2 * (1 + ranges)
}

export interface ExpiryOptions extends ExpirySettings {
  recordTypes: readonly number[]
  at: Date
}

/**
 * Deletes the hours of old days, oldest first, page by page. Days hold their sums, so histories by UTC days or months stay.
 * @returns also `kept`: old hours whose day is missing
 */
export async function expireHours(database: Database, options: ExpiryOptions) {
  const { hourDays, pageHours, recordTypes, at, ...budgets } = options
  const run = startDeletion(database, budgets)
  // Whole days: a day has all of its hours or none, unless a run could not finish it.
  const before = startOf('day', new Date(at.getTime() - hourDays * DAY_MS))
  let kept = 0
  const expire = (read: ReadHours, remove: typeof deleteTypeHours) =>
    run.deleteAll<OldHour>({
      read,
      pageRows: pageHours,
      recordIdOf: ({ id }) => id,
      remove: async (db, hours) => {
        const covered = hours.filter((hour) => hour.covered)
        kept += hours.length - covered.length
        return covered.length === 0 ? 0 : remove(db, covered)
      },
    })
  // Types last: a deletion beside this takes from its type the hours that its counter still has.
  const stoppedBy =
    (await expire((db, after) => readCounterHours(db, before, after, pageHours), deleteCounterHours)) ??
    (await expire((db, after) => readTypeHours(db, recordTypes, before, after, pageHours), deleteTypeHours))
  return { ...run.summary(stoppedBy), kept }
}

/** An hour of a counter, or of a type in a lane. */
interface OldHour {
  recordType: number
  /** The record id, or the lane. */
  id: bigint
  /** Whether its day is there. */
  covered: boolean
  /** UTC, in the database's notation. */
  start: string
}

type ReadHours = (db: Executor, after: OldHour | null) => Promise<OldHour[]>

/** The columns of `oldHours`: hours are `h`, and their days `d`. */
const columnsSql = (id: string) => packedSql('h.record_type', id, 'd.count IS NOT NULL', 'h.period_start')

function oldHours(rows: readonly Record<string, unknown>[]): OldHour[] {
  return rows.map((row) => {
    const [recordType, id, covered, date, time] = unpack(row) as [string, string, string, string, string]
    return { recordType: Number(recordType), id: BigInt(id), covered: covered === '1', start: `${date} ${time}` }
  })
}

async function readCounterHours(db: Executor, before: Date, after: OldHour | null, limit: number): Promise<OldHour[]> {
  const [resume, resumeAt] = afterSql(
    ['h.period_start', 'h.record_type', 'h.record_id'],
    after && [after.start, after.recordType, after.id],
  )
  const { rows } = await db.execute(
    `SELECT ${columnsSql('h.record_id')}
     FROM counter_history AS h FORCE INDEX (period_start)
     LEFT JOIN counter_periods AS d ON d.record_type = h.record_type AND d.record_id = h.record_id AND d.period = ${PERIODS.day}
       AND d.period_start = DATE(h.period_start)
     WHERE h.period_start < ? ${resume} ORDER BY h.period_start, h.record_type, h.record_id LIMIT ?`,
    [before, ...resumeAt, limit],
  )
  return oldHours(rows)
}

/** Deletes hours of one range, by primary key: deleting by time would lock the gaps that roll-ups insert into. */
async function deleteCounterHours(db: Executor, hours: readonly OldHour[]): Promise<number> {
  const counters = hours.map(({ recordType, id, start }) => ({ recordType, recordId: id, start }))
  const conditions = [...Map.groupBy(counters, ({ start }) => start)].flatMap(([start, begun]) =>
    counterListsSql(begun).map((list) => `(${list} AND period_start = '${start}')`),
  )
  // Routes the statement to the shard: vtgate does not look into OR.
  const recordIds = new Set(hours.map(({ id }) => id))
  const { rowsAffected } = await db.execute(
    `DELETE FROM counter_history WHERE record_id IN (${[...recordIds].join(',')}) AND (${conditions.join(' OR ')})`,
  )
  return rowsAffected
}

async function readTypeHours(
  db: Executor,
  recordTypes: readonly number[],
  before: Date,
  after: OldHour | null,
  limit: number,
): Promise<OldHour[]> {
  const [resume, resumeAt] = afterSql(
    ['h.record_type', 'h.period_start', 'h.range_lane'],
    after && [after.recordType, after.start, after.id],
  )
  const { rows } = await db.execute(
    `SELECT ${columnsSql('h.range_lane')}
     FROM type_history AS h FORCE INDEX (PRIMARY)
     LEFT JOIN type_history AS d ON d.record_type = h.record_type AND d.period = ${PERIODS.day}
       AND d.period_start = DATE(h.period_start) AND d.range_lane = h.range_lane
     WHERE h.record_type IN (${recordTypes.join(',')}) AND h.period = ${PERIODS.hour} AND h.period_start < ? ${resume}
     ORDER BY h.record_type, h.period_start, h.range_lane LIMIT ?`,
    [before, ...resumeAt, limit],
  )
  return oldHours(rows)
}

async function deleteTypeHours(db: Executor, hours: readonly OldHour[]): Promise<number> {
  const rows = hours.map(({ recordType, start, id }) => `(${recordType},${PERIODS.hour},'${start}',${id})`)
  const { rowsAffected } = await db.execute(
    `DELETE FROM type_history WHERE (record_type, period, period_start, range_lane) IN (${rows.join(',')})`,
  )
  return rowsAffected
}
