import type { Executor } from '../../database/database.ts'
import { packedSql, toBigInt, unpack } from '../../database/values.ts'
import { DAY_MS, HOUR_MS, NO_PERIOD, PERIODS, timeText } from '../calendar.ts'
import { counterSql, MAX_PENDING, pendingOfOneSql } from '../counters-sql.ts'
import type { CounterAddress } from '../keys/counter-address.ts'
import { checkPrefix, type PrefixLimit } from '../keys/prefix.ts'
import { IMPORT_LANE } from '../ledger/periods.ts'
import { ADJUSTMENT_KINDS, ADJUSTMENTS, type AdjustmentKind } from '../ledger/totals.ts'
import { type HistoryRange, periodAt } from './history-range.ts'
import type { SumOf } from './read-sum.ts'
import {
  fromCountersSql,
  fromPrefixSql,
  type HistoryRow,
  type HistorySource,
  hoursSql,
  LEAST_DAYS,
  oneCountSql,
  packedRowsSql,
  sourceSql,
  sourcesOf,
  sumPeriods,
  unpackCounts,
} from './sum-periods.ts'

/** The most adjustments in one response: the newest ones. */
export const MAX_ADJUSTMENTS = 1_000

/** A change of a total other than by counting. */
export interface Adjustment {
  at: Date
  kind: AdjustmentKind
  count: bigint
}

/** What is read of a history, from one snapshot. */
export interface HistoryRows {
  rows: HistoryRow[]
  /** Pending counts, which belong to now; `null`: they were not read. */
  pending: bigint | null
  /** Those within the range, oldest first. */
  adjustments: Adjustment[]
  /**
   * The end of the first day with a count; of a prefix the first month, because its counters have too many days. Infinity: there
   * is none, or it was not read. On shards, vtgate asks for that of a type before the rows.
   */
  begun: number
}

/** Reads the history of a counter, or of all counters of a type or prefix together. */
export interface HistoryReader {
  readRows: (range: HistoryRange, sources: readonly HistorySource[]) => Promise<HistoryRows>
  /** From then on, days have all their hours: a remainder was imported. */
  hoursSince: number
}

/**
 * Reads the history of one counter from one snapshot: a roll-up is seen whole or not at all. Pending counts belong to now.
 * @param mostPending the most pending slots that are added up; with more, none is
 * @returns the counts of the periods of the range, in its order; `exact`: whether the current one includes pending counts
 */
export async function readCounterHistory(
  db: Executor,
  counter: CounterAddress,
  range: HistoryRange,
  now: Date,
  mostPending = MAX_PENDING,
): Promise<{ counts: bigint[]; adjustments: Adjustment[]; exact: boolean }> {
  const read = await readCounterRows(db, counter, range, sourcesOf(range), { mostPending })
  const exact = read.pending !== null || periodAt(range, now.getTime()) === undefined
  return { counts: countsOf(range, read, now.getTime()), adjustments: read.adjustments, exact }
}

/** The counts of the periods of a range. Pending ones belong to now. */
export function countsOf(range: HistoryRange, { rows, pending }: HistoryRows, now: number): bigint[] {
  const counts = sumPeriods(range, rows)
  const current = periodAt(range, now)
  if (current !== undefined) counts[current]! += pending ?? 0n
  return counts
}

/** The history of one counter. */
export function historyOfCounter(db: Executor, counter: CounterAddress, hoursSince: number): HistoryReader {
  return { readRows: (range, sources) => readCounterRows(db, counter, range, sources, { first: true }), hoursSince }
}

/** @param options `first`: whether to read `begun` */
async function readCounterRows(
  db: Executor,
  counter: CounterAddress,
  { edges }: HistoryRange,
  sources: readonly HistorySource[],
  { mostPending = MAX_PENDING, first = false }: { mostPending?: number; first?: boolean },
): Promise<HistoryRows> {
  const where = counterSql(counter)
  const pending = pendingOfOneSql(counter, mostPending)
  const parts = [
    ...sources.map((source) => packedRowsSql(source, '0', fromCountersSql(source.unit, where))),
    `SELECT ${packedSql("'pending'", '0', pending.column, `CONCAT('0:', ${pending.column})`)} FROM ${pending.from}`,
  ]
  if (first) {
    const columns = oneCountSql('MIN(period_start)', '0')
    parts.push(`SELECT ${packedSql(`'${FIRST}'`, '0', ...columns)} ${fromCountersSql('day', where)}`)
  }
  parts.push(
    `(SELECT ${packedSql("'adjustment'", 'kind', 'count', `CONCAT(TIMESTAMPDIFF(MICROSECOND, '${NO_PERIOD}', adjusted_at) DIV 1000, ':', count)`)}
      FROM counter_adjustments FORCE INDEX (PRIMARY) WHERE ${where}
      AND adjusted_at >= '${timeText(edges[0]!)}' AND adjusted_at < '${timeText(edges.at(-1)!)}' AND count <> 0
      ORDER BY adjusted_at DESC, adjustment_id LIMIT ${MAX_ADJUSTMENTS})`,
  )
  const { rows } = await db.execute(parts.join('\nUNION ALL '))
  return historyRows(unpacked(rows))
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
  if (of.name !== '') await checkPrefix(db, of, limit ?? usualLimit(range, sources))
  const { rows } = await readSumRows(db, of, sources)
  return sumPeriods(range, rows)
}

/** Few counters have something in every hour, so only the days, weeks or months count; away from UTC, the days. */
function usualLimit({ edges }: HistoryRange, sources: readonly HistorySource[]): PrefixLimit {
  const days = Math.ceil((edges.at(-1)! - edges[0]!) / DAY_MS)
  return { rows: Math.ceil(days / Math.min(...sources.map(({ unit }) => LEAST_DAYS[unit] ?? 1))) }
}

/** The history of a sum, whose prefix was checked before (`checkPrefix`). */
export function historyOfSum(db: Executor, of: SumOf): HistoryReader {
  // Rows say what was imported of a type. All hours of the keys of a prefix would be too many.
  return { readRows: (_, sources) => readSumRows(db, of, sources, true), hoursSince: Number.POSITIVE_INFINITY }
}

/** @param first whether to read `begun` */
async function readSumRows(
  db: Executor,
  of: SumOf,
  sources: readonly HistorySource[],
  first = false,
): Promise<HistoryRows> {
  return of.name === ''
    ? historyRows(await readTypeRows(db, of.recordType, sources, first))
    : historyRows(await readPrefixRows(db, of, sources, first), 31)
}

async function readPrefixRows(
  db: Executor,
  of: SumOf,
  sources: readonly HistorySource[],
  first: boolean,
): Promise<Row[]> {
  const parts = sources.map(
    (source) => `SELECT '${source.unit}' AS part, ${hoursSql('h.period_start')} AS at, h.count AS number
        ${fromPrefixSql(source.unit, of)} AND ${sourceSql(source, 'h.period_start')}`,
  )
  if (first) {
    parts.push(
      `SELECT '${FIRST}', ${hoursSql('MIN(h.period_start)')}, 0 ${fromPrefixSql('month', of)} GROUP BY h.record_id`,
    )
  }
  // Summed outside of the union, which vtgate sends to each shard whole. Not packed: vtgate adds the sums of the shards up.
  const { rows } = await db.execute(
    `SELECT part, at, SUM(number) AS count FROM (${parts.join('\nUNION ALL ')}) AS parts GROUP BY part, at`,
  )
  return rows.map(({ part, at, count }): Row => [String(part), Number(at), 0, toBigInt(count)])
}

/**
 * A period has a count for each lane; those of the import lane have a kind that is not 0. They are grouped by lane, not added up:
 * vtgate would then ask for days and hours apart, and no longer read the rows of a shard from one snapshot.
 */
async function readTypeRows(
  db: Executor,
  recordType: number,
  sources: readonly HistorySource[],
  first: boolean,
): Promise<Row[]> {
  const from = `FROM type_history WHERE record_type = ${recordType} AND period`
  const parts = sources.map((source) => {
    const ofUnit = `${from} = ${PERIODS[source.unit as 'hour']}`
    return packedRowsSql(source, `range_lane & ${IMPORT_LANE}`, ofUnit, 'range_lane')
  })
  if (first) {
    parts.push(`SELECT ${packedSql(`'${FIRST}'`, '0', ...oneCountSql('period_start', '0'))}
      ${from} = ${PERIODS.day} AND period_start = (SELECT MIN(period_start) ${from} = ${PERIODS.day})`)
  }
  const { rows } = await db.execute(parts.join('\nUNION ALL '))
  return unpacked(rows)
}

/** `part`: the unit of a count, or what else a row has. `at`: in hours since 1970; of an adjustment in milliseconds. */
type Row = [part: string, at: number, kind: number, count: bigint]

/** The part of the row with the first day or month. */
const FIRST = 'first'

/** Rows with a NULL are left out: a count that was not read, or the time of a first day that does not exist. */
function unpacked(rows: readonly Record<string, unknown>[]): Row[] {
  return rows.flatMap((row) => {
    const [part, kind, sum, counts] = unpack(row)
    if (counts === undefined) return []
    return unpackCounts(sum!, counts).map(([at, count]): Row => [part!, at, Number(kind), count])
  })
}

/** @param firstDays the days of the first period: 31 for a month */
function historyRows(rows: readonly Row[], firstDays = 1): HistoryRows {
  const found: HistoryRows = { rows: [], pending: null, adjustments: [], begun: Number.POSITIVE_INFINITY }
  for (const [part, at, kind, count] of rows) {
    if (part === 'pending') found.pending = count
    else if (part === 'adjustment') {
      const name = ADJUSTMENT_KINDS.find((name) => ADJUSTMENTS[name] === kind)!
      found.adjustments.push({ at: new Date(at), kind: name, count })
    } else if (part === FIRST) found.begun = Math.min(found.begun, at * HOUR_MS + firstDays * DAY_MS)
    else {
      const unit = part as HistoryRow['unit']
      found.rows.push({ unit, start: at * HOUR_MS, count, imported: kind === 0 ? 0n : count })
    }
  }
  found.adjustments.sort((a, b) => a.at.getTime() - b.at.getTime())
  return found
}
