import { packedSql } from '../../database/values.ts'
import { DAY_MS, dayText, HOUR_MS, NO_PERIOD, PERIODS, timeText } from '../calendar.ts'
import { fromNamesSql, type KeysWithPrefix } from '../keys/prefix.ts'
import { type HistoryRange, periodAt, periodOfDay } from './history-range.ts'

/** A count of the history; `hours` are those of a day together. */
export interface HistoryRow {
  unit: 'hour' | 'hours' | 'day' | 'week' | 'month'
  start: number
  count: bigint
  /** How much of it was imported without an hour, as far as the row says. */
  imported?: bigint
}

/** Milliseconds since 1970, `to` exclusive. */
export interface Times {
  from: number
  to: number
}

/** Rows of one unit that begin in any of some spans. */
export interface HistorySource {
  unit: HistoryRow['unit']
  spans: readonly (Times & { only?: Midnights })[]
}

/** Hours before and after the midnight in UTC at which each day, week or month begins. */
interface Midnights {
  of: 'day' | 'week' | 'month'
  before: number
  after: number
}

/** The rows for `sumPeriods`: also hours between UTC's midnights and the zone's, and the days of hours. */
export function sourcesOf(range: HistoryRange): HistorySource[] {
  const { by, zone, edges } = range
  const days = daysOf(range)
  if (by === 'hour') {
    return [
      { unit: 'day', spans: [days] },
      { unit: 'hour', spans: [days] },
    ]
  }
  const leads = edges.map((edge) => zone.dateAt(edge) - edge)
  const before = Math.ceil(Math.max(0, ...leads) / HOUR_MS)
  const after = Math.ceil(Math.max(0, ...leads.map((lead) => -lead)) / HOUR_MS)
  const units: HistorySource = {
    unit: by,
    spans: [{ from: zone.dateAt(edges[0]!), to: zone.dateAt(edges.at(-2)!) + DAY_MS }],
  }
  if (before === 0 && after === 0) return [units]
  return [units, { unit: 'hour', spans: [{ ...days, only: { of: by, before, after } }] }]
}

/** The same rows, each once: one source for each unit. */
export function joinSources(sources: readonly HistorySource[]): HistorySource[] {
  return [...Map.groupBy(sources, ({ unit }) => unit)].map(([unit, same]) => {
    const spans = same.flatMap(({ spans }) => spans)
    const whole = spans.filter(({ only }) => only === undefined).sort((a, b) => a.from - b.from)
    const joined: Times[] = []
    for (const { from, to } of whole) {
      const last = joined.at(-1)
      if (last === undefined || from > last.to) joined.push({ from, to })
      else last.to = Math.max(last.to, to)
    }
    return { unit, spans: [...joined, ...spans.filter(({ only }) => only !== undefined)] }
  })
}

/** The fewest days of a unit; of hours, none. */
export const LEAST_DAYS: Partial<Record<HistoryRow['unit'], number>> = { day: 1, week: 7, month: 28 }

/** The most rows that sources have of one counter, if hours are kept for `hourDays`. */
export function mostRows(sources: readonly HistorySource[], hourDays: number): number {
  return sources.reduce((rows, { unit, spans }) => {
    const days = spans.reduce((sum, { from, to }) => sum + (to - from) / DAY_MS, 0)
    const least = LEAST_DAYS[unit]
    return rows + (least === undefined ? 24 * Math.min(days, hourDays) : Math.ceil(days / least))
  }, 0)
}

/** Whole UTC days, with a margin of one: local time differs from UTC by less than a day. */
export function daysOf({ edges }: HistoryRange): Times {
  return {
    from: (Math.floor(edges[0]! / DAY_MS) - 1) * DAY_MS,
    to: (Math.ceil(edges.at(-1)! / DAY_MS) + 1) * DAY_MS,
  }
}

/** The table with the rows of counters of a unit, and the condition on its column `period`, if it has one. */
function tableOf(unit: HistoryRow['unit']): { table: string; period: string } {
  if (unit === 'hours' || unit === 'hour') return { table: 'counter_history', period: '' }
  return { table: 'counter_periods', period: `period = ${PERIODS[unit]}` }
}

/** SQL that reads rows of a unit of the counters of an SQL condition. */
export function fromCountersSql(unit: HistoryRow['unit'], counters: string): string {
  const { table, period } = tableOf(unit)
  return `FROM ${table} FORCE INDEX (PRIMARY) WHERE ${counters} ${period && `AND ${period}`}`
}

/** The same of the counters whose keys begin with a prefix. Columns are those of `h`: vtgate looks for others in names, too. */
export function fromPrefixSql(unit: HistoryRow['unit'], of: KeysWithPrefix): string {
  const { table, period } = tableOf(unit)
  return `${fromNamesSql(of, `${table} AS h FORCE INDEX (PRIMARY)`, 'h')} ${period && `AND h.${period}`}`
}

export function sourceSql({ spans }: HistorySource, column = 'period_start'): string {
  const conditions = spans.map(({ from, to, only }) => {
    const within = `${column} >= '${timeOf(from)}' AND ${column} < '${timeOf(to)}'`
    return only === undefined ? within : `${within} AND (${aroundSql(only, column).join(' OR ')})`
  })
  return `(${conditions.join(' OR ')})`
}

function aroundSql({ of, before, after }: Midnights, column: string): string[] {
  const [last, first] = {
    day: ['', ''],
    week: [`AND WEEKDAY(${column}) = 6`, `AND WEEKDAY(${column}) = 0`],
    month: [`AND DAY(${column} + INTERVAL 1 DAY) = 1`, `AND DAY(${column}) = 1`],
  }[of]
  return [
    ...(before > 0 ? [`HOUR(${column}) >= ${24 - before} ${last}`] : []),
    ...(after > 0 ? [`HOUR(${column}) < ${after} ${first}`] : []),
  ]
}

/** SQL of a time in hours since 1970. */
export const hoursSql = (time: string) => `TIMESTAMPDIFF(HOUR, '${NO_PERIOD}', ${time})`

const MONTH_SQL = 'EXTRACT(YEAR_MONTH FROM period_start)'

const PACKED_BY = {
  hours: 'DATE(period_start)',
  hour: 'DATE(period_start)',
  day: `${MONTH_SQL}, DAY(period_start) > 16`,
  week: MONTH_SQL,
  month: 'YEAR(period_start)',
}

/**
 * SQL that reads the counts of a source in few rows, because each row takes time: a row has a day's hours, the days of half a
 * month, the weeks of a month, or the months of a year. Such a text has up to 936 bytes, because a count has up to 30 digits, and
 * a server cuts it after 1,024 (`group_concat_max_len`).
 * @param second the second column, between the unit and two columns for `unpackCounts`
 * @param from with a condition
 * @param groupBy a column that rows are not summed over
 */
export function packedRowsSql(source: HistorySource, second: string, from: string, groupBy?: string): string {
  const { unit } = source
  const [sum, counts] =
    unit === 'hours'
      ? oneCountSql('MIN(period_start)', 'SUM(count)')
      : ['SUM(count)', `GROUP_CONCAT(${hoursSql('period_start')}, ':', count)`]
  return `SELECT ${packedSql(`'${unit}'`, second, sum, counts)} ${from} AND ${sourceSql(source)}
      GROUP BY ${groupBy === undefined ? '' : `${groupBy}, `}${PACKED_BY[unit]}`
}

/** Two columns for `unpackCounts` that have a single count. */
export function oneCountSql(time: string, count: string): [sum: string, counts: string] {
  return [count, `CONCAT(${hoursSql(time)}, ':', ${count})`]
}

/**
 * The times, in hours since 1970, and counts of a row.
 * @param sum their sum: the server cuts a text that is too long without an error
 */
export function unpackCounts(sum: string, counts: string): [hour: number, count: bigint][] {
  let rest = BigInt(sum)
  const unpacked = counts.split(',').map((text): [number, bigint] => {
    const colon = text.indexOf(':')
    const count = BigInt(text.slice(colon + 1))
    rest -= count
    return [Number(text.slice(0, colon)), count]
  })
  if (rest !== 0n) throw new Error('the server cut a list of counts: its group_concat_max_len must be at least 1024')
  return unpacked
}

/** A midnight is written as a date, which compares with DATE and DATETIME columns alike. */
function timeOf(at: number): string {
  return at % DAY_MS === 0 ? dayText(at) : timeText(at)
}

/**
 * Adds up the counts of each period. An hour belongs to the period in which it begins. A day may exceed the sum of its hours,
 * because hours expire and imports have none. In any time zone, the remainder belongs to the period with the day's name (that
 * day, or its week or month); in a history by hours, to the first hour of the day.
 * @param rows those of `sourcesOf(range)`, and any others
 */
export function sumPeriods(range: HistoryRange, rows: readonly HistoryRow[]): bigint[] {
  const counts = Array.from({ length: range.edges.length - 1 }, () => 0n)
  const add = (period: number | undefined, count: bigint) => {
    if (period !== undefined) counts[period]! += count
  }
  const whole = range.by === 'hour' ? 'day' : range.by
  for (const { unit, start, count } of rows) {
    if (unit === whole) add(periodOfDay(range, start), count)
    if (unit === 'hour') {
      // Already included in the period with the name of its day.
      add(periodOfDay(range, Math.floor(start / DAY_MS) * DAY_MS), -count)
      add(periodAt(range, start), count)
    }
  }
  return counts
}
