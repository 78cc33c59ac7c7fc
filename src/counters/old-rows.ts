import { bucketsSql } from '../database/buckets.ts'
import { countStatements, type Database, type Executor } from '../database/database.ts'
import { withRetries } from '../database/retry-and-breaker.ts'
import { packedSql, unpack } from '../database/values.ts'
import type { RunBudgets, StoppedBy } from './background-runs.ts'
import { DAY_MS, PERIODS, startOf, timeText } from './calendar.ts'
import { afterSql, counterListsSql, HOUR_SQL, sameCounterSql } from './counters-sql.ts'
import { rangeOf } from './ranges.ts'

/** Deletes empty slots that need not be kept any longer (`hoursKept`), oldest first. @param settings `pageSlots`: the slots of a page */
export async function prune(database: Database, { pageSlots, ...budgets }: RunBudgets & { pageSlots: number }) {
  const { kept: _, ...summary } = await deleteOldRows(database, pageSlots, budgets, [
    {
      from: `FROM slotted_counters FORCE INDEX (pruning) WHERE kept_until < ${HOUR_SQL}`,
      order: ['kept_until', 'record_type', 'record_id', 'slot'],
      // Integers, written into the statement: see applyBatch. `+ 0`: the gaps of the index on kept_until must not be locked.
      deletion: (slots) => `FROM slotted_counters
        WHERE (record_type, record_id, slot) IN (${slots.map(([, ...key]) => `(${key.join(',')})`).join(',')})
        AND count = 0 AND kept_until + 0 < ${HOUR_SQL}`,
    },
  ])
  return summary
}

/** The statements of a page of counters and one of types: one read each, and one deletion for each range. */
export function leastExpiryStatements(ranges: number): number {
  return 2 * (1 + ranges)
}

/** How long the history keeps hours, and the bounds of one run. */
export interface ExpiryOptions extends RunBudgets {
  /** Of older days, only the sum remains. */
  hourDays: number
  pageHours: number
  recordTypes: readonly number[]
  at: Date
}

/** Deletes the hours of old days, oldest first. Days hold their sums. @returns also `before`: of older days; `kept`: old hours whose day is missing */
export async function expireHours(database: Database, options: ExpiryOptions) {
  const { hourDays, pageHours, recordTypes, at, ...budgets } = options
  // Whole days: a day has all of its hours or none, unless a run could not finish it.
  const before = timeText(startOf('day', new Date(at.getTime() - hourDays * DAY_MS)))
  const condition = 'd.count IS NOT NULL'
  // Types last: a deletion beside this takes from its type the hours that its counter still has.
  const summary = await deleteOldRows(database, pageHours, budgets, [
    {
      condition,
      from: `FROM counter_history AS h FORCE INDEX (period_start)
        LEFT JOIN counter_periods AS d ON ${sameCounterSql('d', 'h')} AND d.period = ${PERIODS.day}
          AND d.period_start = DATE(h.period_start)
        WHERE h.period_start < '${before}'`,
      order: ['h.period_start', 'h.record_type', 'h.record_id'],
      deletion: (hours) => `FROM counter_history WHERE ${hoursOfCountersSql(hours)}`,
    },
    {
      condition,
      from: `FROM type_history AS h FORCE INDEX (PRIMARY)
        LEFT JOIN type_history AS d ON d.record_type = h.record_type AND d.period = ${PERIODS.day}
          AND d.period_start = DATE(h.period_start) AND d.range_lane = h.range_lane AND d.bucket = h.bucket
        WHERE h.record_type IN (${recordTypes.join(',')}) AND h.period = ${PERIODS.hour} AND h.period_start < '${before}'`,
      order: ['h.record_type', 'h.period_start', 'h.range_lane'],
      deletion: (hours) => `FROM type_history WHERE (record_type, period, period_start, range_lane)
        IN (${hours.map(([type, start, lane]) => `(${type},${PERIODS.hour},'${start}',${lane})`).join(',')})`,
    },
  ])
  return { ...summary, before }
}

/** Each by primary key: MariaDB may otherwise go by the time, through all hours that began then. */
function hoursOfCountersSql(hours: readonly OldRow[]): string {
  const conditions = [...Map.groupBy(hours, ([start]) => start)].flatMap(([start, begun]) => {
    const counters = begun.map((row) => ({ recordType: Number(row[1]), recordId: idOf(row) }))
    return counterListsSql(counters).map((list) => `(${list} AND period_start = '${start}')`)
  })
  return `(${conditions.join(' OR ')})`
}

/** The columns of `OldRows.order` as SQL writes them: integers, and times with a T. */
type OldRow = readonly string[]

const idOf = (row: OldRow) => BigInt(row[2]!)

interface OldRows {
  /** `FROM` and `WHERE`. */
  from: string
  /** Columns in the order of an index. The third one is the record id, or the lane. */
  order: readonly string[]
  /** SQL: whether a row may be deleted. Default: it may. */
  condition?: string
  /** What follows DELETE, for rows of one range, but for their buckets. */
  deletion(rows: readonly OldRow[]): string
}

/**
 * Deletes old rows page by page. They are read without locks and deleted by primary key: a range would lock gaps that writers insert into.
 * @returns `kept`: the rows that the condition excludes; `stoppedBy`: the budget that ended the run before its work was done
 */
async function deleteOldRows(
  database: Database,
  pageRows: number,
  { maxStatements, maxSeconds = Number.POSITIVE_INFINITY }: RunBudgets,
  kinds: readonly OldRows[],
) {
  const counted = countStatements(database)
  const db = withRetries(counted)
  const began = Date.now()
  let [deleted, kept] = [0, 0]
  const deleteAll = async (kind: OldRows): Promise<StoppedBy | null> => {
    for (let after: OldRow | null = null; ; ) {
      if (counted.sent + 1 + database.ranges > maxStatements) return 'statements'
      if (Date.now() - began >= maxSeconds * 1_000) return 'seconds'
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(db, kind, after, pageRows)
      const old = page.filter(({ mayGo }) => mayGo).map(({ row }) => row)
      const parts = [...Map.groupBy(old, (row) => rangeOf(idOf(row), database.ranges)).values()]
      const deletions = parts.map((part) => `DELETE ${kind.deletion(part)} AND ${bucketsSql(part.map(idOf))}`)
      const results = await Promise.all(deletions.map((deletion) => db.execute(deletion)))
      for (const { rowsAffected } of results) deleted += rowsAffected
      kept += page.length - old.length
      if (page.length < pageRows) return null
      after = page.at(-1)!.row
    }
  }
  let stoppedBy: StoppedBy | null = null
  for (const kind of kinds) stoppedBy ??= await deleteAll(kind)
  const outcome = stoppedBy === null ? ('complete' as const) : ('partial' as const)
  return { outcome, stoppedBy, deleted, kept, statements: counted.sent, milliseconds: Date.now() - began }
}

/** Reads the next page of rows: those after a row, or the first ones. */
async function readPage(db: Executor, { from, order, condition = '1' }: OldRows, after: OldRow | null, limit: number) {
  const resume = afterSql(order, after?.map((text) => (/^\d+$/.test(text) ? text : `'${text}'`)) ?? null)
  // The space within a time would separate.
  const texts = order.map((column) => (column.endsWith('period_start') ? `REPLACE(${column}, ' ', 'T')` : column))
  const { rows } = await db.execute(
    `SELECT ${packedSql(condition, ...texts)} ${from} ${resume} ORDER BY ${order.join(', ')} LIMIT ${limit}`,
  )
  return rows.map((packed) => {
    const [mayGo, ...row] = unpack(packed)
    return { mayGo: mayGo === '1', row }
  })
}
