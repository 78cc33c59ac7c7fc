import type { Executor } from '../../database/database.ts'
import { packedSql, toBigInt, unpack } from '../../database/values.ts'
import { DAY_MS, HOUR_MS, NO_PERIOD, PERIODS } from '../calendar.ts'
import { pendingOfOneSql } from '../counters-sql.ts'
import type { CounterAddress } from '../keys/counter-address.ts'
import { checkPrefix, fromNamesSql, type PrefixLimit } from '../keys/prefix.ts'
import { IMPORT_LANE } from '../ledger/periods.ts'
import { ADJUSTMENT_KINDS, ADJUSTMENTS, type AdjustmentKind } from '../ledger/totals.ts'
import { type HistoryRange, periodAt } from './history-range.ts'
import type { SumOf } from './read-sum.ts'
import {
  type HistoryRow,
  type HistorySource,
  hoursSql,
  LEAST_DAYS,
  oneCountSql,
  packedCountsSql,
  sourceSql,
  sourcesOf,
  sumPeriods,
  unpackCounts,
} from './sum-periods.ts'

/** The most adjustments in one response: the newest ones. */
export const MAX_ADJUSTMENTS = 1_000

const KINDS = new Map<number, AdjustmentKind>(ADJUSTMENT_KINDS.map((kind) => [ADJUSTMENTS[kind], kind]))

/** A change of a total other than by counting. */
export interface Adjustment {
  at: Date
  kind: AdjustmentKind
  count: bigint
}

/** The counts of the periods of a range, in its order, and the adjustments within it, oldest first. */
export interface CounterHistory {
  counts: bigint[]
  adjustments: Adjustment[]
  /** Whether the current period includes pending counts. */
  exact: boolean
}

/** A row, and how much of it was imported without an hour. */
export interface DetailedRow extends HistoryRow {
  imported: bigint
}

export interface ReadRows {
  rows: DetailedRow[]
  pending: bigint
  /** Those within the range. */
  adjustments: Adjustment[]
  /**
   * The end of the first day with a count; of a prefix the first month, because its counters have too many days. Infinity: there
   * is none. On shards, vtgate asks for that of a type before the rows.
   */
  begun: number
}

/** Reads the history of a counter, or of all counters of a type or prefix together. */
export interface HistoryReader {
  /** Reads from one snapshot. */
  readRows: (range: HistoryRange, sources: readonly HistorySource[]) => Promise<ReadRows>
  /** From then on, days have all their hours: a remainder was imported. */
  hoursSince: number
}

/** The part of a row whose count was not read. */
const NOT_READ = 'not read'
/** The part of the row with the first day or month. */
const FIRST = 'first'
/** All parts that are not rows of the history. */
const OTHER_PARTS = [NOT_READ, FIRST, 'pending', 'adjustment']

/** The time of a period is in hours since 1970, that of an adjustment in milliseconds. */
type Row = [part: string, at: number, kind: number, count: bigint]

/**
 * Reads the history of one counter from one snapshot: a roll-up is seen whole or not at all. Pending counts belong to now.
 * @param mostPending the most pending slots that are added up; others are left out. `null`: all of them
 */
export async function readCounterHistory(
  db: Executor,
  counter: CounterAddress,
  range: HistoryRange,
  now: Date,
  mostPending: number | null = null,
): Promise<CounterHistory> {
  const rows = await readCounterRows(db, counter, range, sourcesOf(range), { mostPending })
  const counts = sumPeriods(range, historyRows(rows))
  const current = periodAt(range, now.getTime())
  if (current !== undefined) counts[current]! += pendingOf(rows)
  const exact = current === undefined || rows.every(([part]) => part !== NOT_READ)
  return { counts, adjustments: adjustmentsOf(rows), exact }
}

async function readCounterRows(
  db: Executor,
  counter: CounterAddress,
  range: HistoryRange,
  sources: readonly HistorySource[],
  { mostPending = null, first = false }: { mostPending?: number | null; first?: boolean },
): Promise<Row[]> {
  const { recordType, recordId } = counter
  const pending = pendingOfOneSql(counter, mostPending)
  const parts = [
    ...sources.map((source) => {
      const { table, period } = columnsOf(source)
      const { columns, groupBy } = packedCountsSql(source.unit)
      return {
        sql: `SELECT ${packedSql(`'${source.unit}'`, '0', ...columns)} FROM ${table} AS h FORCE INDEX (PRIMARY)
      WHERE h.record_type = ? AND h.record_id = ? ${period} AND ${sourceSql(source, 'h.period_start')} GROUP BY ${groupBy}`,
        args: [recordType, recordId],
      }
    }),
    {
      sql: `SELECT ${packedSql("'pending'", '0', pending.column, `CONCAT('0:', ${pending.column})`)} FROM ${pending.from}`,
      args: [],
    },
    ...(first
      ? [
          {
            sql: `SELECT ${packedSql(`'${FIRST}'`, '0', ...oneCountSql('MIN(h.period_start)', '0'))} FROM counter_periods AS h FORCE INDEX (PRIMARY)
      WHERE h.record_type = ? AND h.record_id = ? AND h.period = ${PERIODS.day}`,
            args: [recordType, recordId],
          },
        ]
      : []),
    {
      sql: `(SELECT ${packedSql("'adjustment'", 'kind', 'count', `CONCAT(TIMESTAMPDIFF(MICROSECOND, '${NO_PERIOD}', adjusted_at) DIV 1000, ':', count)`)}
        FROM counter_adjustments FORCE INDEX (PRIMARY)
        WHERE record_type = ? AND record_id = ? AND adjusted_at >= ? AND adjusted_at < ? AND count <> 0
        ORDER BY adjusted_at DESC, adjustment_id LIMIT ${MAX_ADJUSTMENTS})`,
      args: [recordType, recordId, new Date(range.edges[0]!), new Date(range.edges.at(-1)!)],
    },
  ]
  const { rows } = await db.execute(
    parts.map(({ sql }) => sql).join('\nUNION ALL '),
    parts.flatMap(({ args }) => args),
  )
  return unpacked(rows)
}

function columnsOf({ unit }: HistorySource) {
  const time = 'h.period_start'
  if (unit === 'hours' || unit === 'hour') return { table: 'counter_history', period: '', time }
  return { table: 'counter_periods', period: `AND h.period = ${PERIODS[unit]}`, time }
}

function pendingOf(rows: readonly Row[]): bigint {
  return rows.find(([part]) => part === 'pending')?.[3] ?? 0n
}

function adjustmentsOf(rows: readonly Row[]): Adjustment[] {
  return rows
    .filter(([part]) => part === 'adjustment')
    .map(([, at, kind, count]) => ({ at: new Date(at), kind: KINDS.get(kind)!, count }))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
}

/**
 * Reads the history of a sum, without pending counts: adding those up would cost more with every counter.
 * @param limit for a prefix; by default, that of a caller with a token
 * @returns the count of each period of the range @throws {TooManyKeys}
 */
export async function readSumHistory(
  db: Executor,
  of: SumOf,
  range: HistoryRange,
  limit?: PrefixLimit,
): Promise<bigint[]> {
  const sources = sourcesOf(range)
  if (of.name === '') return sumPeriods(range, historyRows(await readTypeRows(db, of.recordType, sources)))
  await checkPrefix(db, of, limit ?? usualLimit(range, sources))
  return sumPeriods(range, historyRows(await readPrefixRows(db, of, sources)))
}

async function readPrefixRows(
  db: Executor,
  of: SumOf,
  sources: readonly HistorySource[],
  first = false,
): Promise<Row[]> {
  const from = (table: string) => fromNamesSql(of, `${table} AS h FORCE INDEX (PRIMARY)`, 'h')
  const parts = sources.map((source) => {
    const { table, period, time } = columnsOf(source)
    return `SELECT '${source.unit}' AS part, ${hoursSql(time)} AS at, h.count AS number
        ${from(table)} ${period} AND ${sourceSql(source, 'h.period_start')}`
  })
  if (first) {
    parts.push(`SELECT '${FIRST}', ${hoursSql('MIN(h.period_start)')}, 0
        ${from('counter_periods')} AND h.period = ${PERIODS.month} GROUP BY h.record_id`)
  }
  // Summed outside of the union, which vtgate sends to each shard whole. Not packed: vtgate adds the sums of the shards up.
  const { rows } = await db.execute(
    `SELECT part, at, SUM(number) AS count FROM (${parts.join('\nUNION ALL ')}) AS parts GROUP BY part, at`,
  )
  return rows.map(({ part, at, count }): Row => [String(part), Number(at), 0, toBigInt(count)])
}

/** Few counters have something in every hour, so only the days, weeks or months count. */
function usualLimit({ edges }: HistoryRange, sources: readonly HistorySource[]): PrefixLimit {
  const days = Math.ceil((edges.at(-1)! - edges[0]!) / DAY_MS)
  return { rows: Math.ceil(days / Math.min(...sources.map(({ unit }) => LEAST_DAYS[unit] ?? 1))) }
}

/**
 * A period has a count for each lane; those of the import lane have a kind that is not 0. They are grouped by lane, not added up:
 * vtgate would then ask for days and hours apart, and no longer read the rows of a shard from one snapshot.
 */
async function readTypeRows(
  db: Executor,
  recordType: number,
  sources: readonly HistorySource[],
  first = false,
): Promise<Row[]> {
  const from = `FROM type_history WHERE record_type = ${recordType} AND period`
  const parts = sources.map((source) => {
    const { columns, groupBy } = packedCountsSql(source.unit)
    return `SELECT ${packedSql(`'${source.unit}'`, `range_lane & ${IMPORT_LANE}`, ...columns)}
      ${from} = ${PERIODS[source.unit as 'hour']} AND ${sourceSql(source, 'period_start')} GROUP BY range_lane, ${groupBy}`
  })
  if (first) {
    parts.push(`SELECT ${packedSql(`'${FIRST}'`, '0', ...oneCountSql('period_start', '0'))}
      ${from} = ${PERIODS.day} AND period_start = (SELECT MIN(period_start) ${from} = ${PERIODS.day})`)
  }
  const { rows } = await db.execute(parts.join('\nUNION ALL '))
  return unpacked(rows)
}

/** The history of a sum, whose prefix was checked before (`checkPrefix`). */
export function historyOfSum(db: Executor, of: SumOf): HistoryReader {
  const isType = of.name === ''
  return {
    readRows: async (_, sources) => {
      const rows = isType
        ? await readTypeRows(db, of.recordType, sources, true)
        : await readPrefixRows(db, of, sources, true)
      return { rows: historyRows(rows), pending: 0n, adjustments: [], begun: begunOf(rows, isType ? 1 : 31) }
    },
    // Rows say what was imported of a type. All hours of the keys of a prefix would be too many.
    hoursSince: Number.POSITIVE_INFINITY,
  }
}

/** The history of one counter. */
export function historyOfCounter(db: Executor, counter: CounterAddress, hoursSince: number): HistoryReader {
  return {
    readRows: async (range, sources) => {
      const rows = await readCounterRows(db, counter, range, sources, { first: true })
      return {
        rows: historyRows(rows),
        pending: pendingOf(rows),
        adjustments: adjustmentsOf(rows),
        begun: begunOf(rows, 1),
      }
    },
    hoursSince,
  }
}

/** When the first day or month with a count was over. @param days its length: 1, or 31 for a month */
function begunOf(rows: readonly Row[], days: number): number {
  return Math.min(...rows.filter(([part]) => part === FIRST).map(([, at]) => at * HOUR_MS + days * DAY_MS))
}

function unpacked(rows: readonly Record<string, unknown>[]): Row[] {
  return rows.flatMap((row): Row[] => {
    // A NULL is left out: a count that was not read, or the time of a first day that does not exist.
    const [part, kind, sum, counts] = unpack(row)
    if (counts === undefined) return [[NOT_READ, 0, 0, 0n]]
    return unpackCounts(sum!, counts).map(([at, count]) => [part!, at, Number(kind), count])
  })
}

function historyRows(rows: readonly Row[]): DetailedRow[] {
  return rows.flatMap(([part, at, kind, count]) => {
    if (OTHER_PARTS.includes(part)) return []
    const unit = part as DetailedRow['unit']
    return [{ unit, start: at * HOUR_MS, count, imported: kind === 0 ? 0n : count }]
  })
}
