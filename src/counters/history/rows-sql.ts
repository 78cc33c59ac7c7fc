import { packedSql } from '../../database/values.ts'
import { type CalendarPeriod, DAY_MS, dayText, NO_PERIOD, PERIODS, timeText } from '../calendar.ts'
import { fromNamesSql, type NamedSql } from '../keys/prefix.ts'
import { type Run, rowsOf, type Selection, startsOf, type Times } from './selection.ts'

/** Whose rows: of counters by an SQL condition or by name, of a type, or of all counters of a type, by the indexes in order of time. */
export type Whose = { counters: string } | { named: NamedSql } | { type: number } | { allOf: number }

/** Of more runs, the short ones are listed, start by start: a server compares a list faster than many ranges. */
const MAX_RANGES = 8
const SHORT = 24

/** In the place of the counter in packed rows of a type. */
export const ALL_LANES = 'all'

/** The most rows of each key that are looked up one by one. */
const MAX_LOOKED_UP = 100

/** How many rows selections have at most of one counter. */
export function countRows(selections: readonly Selection[], hoursFrom: number): number {
  return [...rowsOf(selections, hoursFrom)].reduce((sum, [unit, times]) => sum + startsOf(unit, times).length, 0)
}

/** SQL that reads rows `h` of one table: `FROM` and `WHERE`. Columns are those of `h`, because vtgate looks for others in names, too. */
export function rowsSql(whose: Whose, rows: readonly (readonly [CalendarPeriod, readonly Times[]])[]): string {
  const isHours = rows[0]![0] === 'hour'
  const table = isHours ? 'counter_history' : 'counter_periods'
  const periods = rows.map(([unit, times]) => `h.period = ${PERIODS[unit]} AND ${startsSql(unit, times)}`).join(' OR ')
  if ('type' in whose) {
    return `FROM type_history AS h FORCE INDEX (PRIMARY) WHERE h.record_type = ${whose.type} AND (${periods})`
  }
  const condition = isHours ? startsSql(...rows[0]!) : `(${periods})`
  if ('counters' in whose) return `FROM ${table} AS h FORCE INDEX (PRIMARY) WHERE ${whose.counters} AND ${condition}`
  if ('allOf' in whose) {
    const index = isHours ? 'period_start' : 'ranking'
    return `FROM ${table} AS h FORCE INDEX (${index}) WHERE h.record_type = ${whose.allOf} AND ${condition}`
  }
  const joined = `${table} AS h FORCE INDEX (PRIMARY)`
  const listed = rows.flatMap(([unit, times]) => startsOf(unit, times).map((at) => [PERIODS[unit], textOf(at)]))
  if (isHours || listed.length > MAX_LOOKED_UP) return `${fromNamesSql(whose.named, joined, 'h')} AND ${condition}`
  // Otherwise all days of a key would be compared, however long it has counted.
  const looked = listed.map(([period, start]) => `SELECT ${period} AS period, DATE '${start}' AS period_start`)
  return `${fromNamesSql(whose.named, `(${looked.join(' UNION ALL ')}) AS p STRAIGHT_JOIN ${joined}`, 'h')}
    AND h.period = p.period AND h.period_start = p.period_start`
}

function startsSql(unit: CalendarPeriod, times: readonly Times[]): string {
  // A single start is never a range, which would not be in the order of the next column.
  const most = times.length > MAX_RANGES ? SHORT : 1
  const { ranges = [], listed = [] } = Object.groupBy(times, (run) =>
    startsOf(unit, [run]).length > most ? 'ranges' : 'listed',
  )
  const starts = startsOf(unit, listed).map((at) => `'${textOf(at)}'`)
  const conditions = ranges.map(
    ({ from, to }) => `h.period_start >= '${textOf(from)}' AND h.period_start < '${textOf(to)}'`,
  )
  if (starts.length > 0) conditions.push(`h.period_start IN (${starts.join(',')})`)
  return `(${conditions.join(' OR ')})`
}

/** A midnight is written as a date, which compares with DATE and DATETIME columns alike. */
function textOf(at: number): string {
  return at % DAY_MS === 0 ? dayText(at) : timeText(at)
}

/** SQL that reads the parts of a selection, as `rowsSql`: one for each table, and for what is taken away. `count`: the column to add up */
export function partsSql(whose: Whose, selection: Selection, hoursFrom: number): { count: string; from: string }[] {
  return layersOf(selection).flatMap((layer) => {
    const rows = rowsOf([layer], hoursFrom)
    // The rows of types are all in one table.
    const tables = Map.groupBy(rows, ([unit]) => unit === 'hour' && !('type' in whose)).values()
    const count = layer[0]!.sign === 1n ? 'h.count' : '-h.count'
    return [...tables].map((table) => ({ count, from: rowsSql(whose, table) }))
  })
}

/** The runs by their sign. A run that overlaps another one is in a further layer, because its rows are added once more. */
function layersOf(selection: Selection): Run[][] {
  const layers: Run[][] = []
  for (const run of selection) {
    const isApart = (other: Run) => other.unit !== run.unit || other.to <= run.from || run.to <= other.from
    const layer = layers.find((layer) => layer[0]!.sign === run.sign && layer.every(isApart))
    if (layer === undefined) layers.push([run])
    else layer.push(run)
  }
  return layers
}

/** SQL of a time in hours since 1970. */
export const hoursSql = (time: string) => `TIMESTAMPDIFF(HOUR, '${NO_PERIOD}', ${time})`

const PACKED_BY = {
  hour: 'DATE(h.period_start)',
  day: 'EXTRACT(YEAR_MONTH FROM h.period_start), DAY(h.period_start) > 16',
  month: 'YEAR(h.period_start)',
}

/**
 * SELECTs that read the counts of selections in few rows, because each row takes time: a row has a day's hours, the days of half a month,
 * or the months of a year. Its text has up to 936 bytes (a count, up to 30 digits); a server cuts it after 1,024 (`group_concat_max_len`).
 * @param id the column by which rows are grouped, and which each row names; those of lanes have `ALL_LANES` there
 */
export function packedRowsSql(
  whose: Whose,
  selections: readonly Selection[],
  hoursFrom: number,
  id: 'record_id' | 'range_lane',
): string[] {
  return [...rowsOf(selections, hoursFrom)].map(([unit, times]) => {
    const counts = `GROUP_CONCAT(${hoursSql('h.period_start')}, ':', h.count)`
    const shown = id === 'record_id' ? 'h.record_id' : `'${ALL_LANES}'`
    return `SELECT ${packedSql(`'${unit}'`, shown, 'SUM(h.count)', counts)} ${rowsSql(whose, [[unit, times]])}
      GROUP BY h.bucket, h.${id}, ${PACKED_BY[unit]}`
  })
}

/** The times, in hours since 1970, and counts of a row. @param sum of the counts: a server cuts a text that is too long silently */
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
