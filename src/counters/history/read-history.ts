import type { Executor } from '../../database/database.ts'
import { toBigInt, toDate } from '../../database/numbers.ts'
import { DAY_MS, dayText, PERIODS } from '../calendar.ts'
import type { CounterAddress } from '../keys/counter-address.ts'
import { checkPrefix, fromNamesSql } from '../keys/prefix.ts'
import { IMPORT_LANE } from '../ledger/periods.ts'
import { ADJUSTMENT_KINDS, ADJUSTMENTS, type AdjustmentKind } from '../ledger/record-adjustments.ts'
import { pendingSlotsSql } from '../pending-slots-sql.ts'
import { type HistoryRange, periodAt } from './range.ts'
import type { TotalOf } from './read-total.ts'
import { type HistorySource, sourcesOf, sumPeriods } from './sum-periods.ts'
import { type DetailedRow, type UnitCount, unitCounts } from './unit-counts.ts'

/** The most adjustments in one response: the newest ones. */
export const MAX_ADJUSTMENTS = 1_000

/** Kinds of adjustments, by their number in the database. */
const KINDS = new Map<number, AdjustmentKind>(ADJUSTMENT_KINDS.map((kind) => [ADJUSTMENTS[kind], kind]))

/** A change of a total other than by counting. */
export interface Adjustment {
  at: Date
  kind: AdjustmentKind
  count: bigint
}

/** The count of each period of a range, in its order, and the adjustments within the range, oldest first. */
export interface CounterHistory {
  counts: bigint[]
  adjustments: Adjustment[]
}

type Row = Record<string, unknown>

/**
 * One SELECT of a union. Each returns the columns `part`, `at`, `kind` and `count`. Sources begin and end at midnight in UTC, which
 * is written as a date: it compares with DATE and DATETIME columns alike.
 */
interface Part {
  sql: string
  args: unknown[]
}

/**
 * Reads the history of one counter. Pending counts belong to the current period. One statement reads from one snapshot, so a
 * roll-up is seen whole or not at all.
 */
export async function readCounterHistory(
  db: Executor,
  counter: CounterAddress,
  range: HistoryRange,
  now: Date,
): Promise<CounterHistory> {
  const rows = await readCounterRows(db, counter, range, sourcesOf(range))
  const counts = sumPeriods(range, historyRows(rows))
  const current = periodAt(range, now.getTime())
  if (current !== undefined) counts[current]! += pendingOf(rows)
  return { counts, adjustments: adjustmentsOf(rows) }
}

function readCounterRows(
  db: Executor,
  counter: CounterAddress,
  range: HistoryRange,
  sources: readonly HistorySource[],
): Promise<Row[]> {
  const { recordType, recordId } = counter
  return readParts(db, [
    ...sources.map(({ unit, from, to }) => {
      const [table, period] =
        unit === 'hour' ? ['counter_history', ''] : ['counter_periods', `AND period = ${PERIODS[unit]}`]
      return {
        sql: `SELECT '${unit}' AS part, period_start AS at, 0 AS kind, count FROM ${table} FORCE INDEX (PRIMARY)
      WHERE record_type = ? AND record_id = ? ${period} AND period_start >= ? AND period_start < ?`,
        args: [recordType, recordId, dayText(from), dayText(to)],
      }
    }),
    {
      sql: `SELECT 'pending' AS part, NULL AS at, 0 AS kind, COALESCE(SUM(count), 0) AS count FROM ${pendingSlotsSql(counter)}`,
      args: [],
    },
    {
      sql: `(SELECT 'adjustment' AS part, adjusted_at AS at, kind, count FROM counter_adjustments FORCE INDEX (PRIMARY)
        WHERE record_type = ? AND record_id = ? AND adjusted_at >= ? AND adjusted_at < ? AND count <> 0
        ORDER BY adjusted_at DESC, adjustment_id LIMIT ${MAX_ADJUSTMENTS})`,
      args: [recordType, recordId, new Date(range.edges[0]!), new Date(range.edges.at(-1)!)],
    },
  ])
}

function pendingOf(rows: readonly Row[]): bigint {
  return toBigInt(rows.find(({ part }) => part === 'pending')?.count)
}

function adjustmentsOf(rows: readonly Row[]): Adjustment[] {
  return rows
    .filter(({ part }) => part === 'adjustment')
    .map(({ at, kind, count }) => ({ at: toDate(at)!, kind: KINDS.get(Number(kind))!, count: toBigInt(count) }))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
}

/**
 * Reads the history of all counters of a type together, without pending counts: the cost of adding those up would grow with
 * the number of counters. A period has a row for each roll-up lane. They are added up here, not with GROUP BY: vtgate would
 * then ask for days and hours apart, and no longer read the rows of a shard from one snapshot.
 *
 * @returns the count of each period of the range, in its order
 */
export async function readTypeHistory(db: Executor, recordType: number, range: HistoryRange): Promise<bigint[]> {
  return sumPeriods(range, historyRows(await readTypeRows(db, recordType, sourcesOf(range))))
}

/**
 * The same for the counters whose keys begin with a prefix, added up from their own histories.
 *
 * @throws {TooManyKeys} if there are too many
 */
export async function readPrefixHistory(db: Executor, of: TotalOf, range: HistoryRange): Promise<bigint[]> {
  return sumPeriods(range, historyRows(await readPrefixRows(db, of, range, sourcesOf(range))))
}

async function readPrefixRows(
  db: Executor,
  of: TotalOf,
  range: HistoryRange,
  sources: readonly HistorySource[],
): Promise<Row[]> {
  const days = Math.ceil((range.edges.at(-1)! - range.edges[0]!) / DAY_MS)
  await checkPrefix(db, of, sources[0]!.unit === 'month' ? Math.ceil(days / 28) : days)
  const parts = sources.map(({ unit, from, to }) => {
    const [table, period] =
      unit === 'hour' ? ['counter_history', ''] : ['counter_periods', `AND h.period = ${PERIODS[unit]}`]
    const rows = fromNamesSql(of, `${table} AS h FORCE INDEX (PRIMARY)`, 'h')
    return {
      sql: `SELECT '${unit}' AS part, h.period_start AS at, 0 AS kind, SUM(h.count) AS count ${rows} ${period}
          AND h.period_start >= ? AND h.period_start < ? GROUP BY h.period_start`,
      args: [dayText(from), dayText(to)],
    }
  })
  return readParts(db, parts)
}

/** The rows of the import lane have a kind that is not 0. */
function readTypeRows(db: Executor, recordType: number, sources: readonly HistorySource[]): Promise<Row[]> {
  const parts = sources.map(({ unit, from, to }) => ({
    sql: `SELECT '${unit}' AS part, period_start AS at, range_lane & ${IMPORT_LANE} AS kind, count FROM type_history
      WHERE record_type = ? AND period = ${PERIODS[unit]} AND period_start >= ? AND period_start < ?`,
    args: [recordType, dayText(from), dayText(to)],
  }))
  return readParts(db, parts)
}

/**
 * Reads the history of all counters of a type or prefix together, unit by unit, for comparisons. Costs what `readTypeHistory`
 * costs in a time zone other than UTC, or `readPrefixHistory`.
 *
 * @param hoursSince as for `unitCounts`, for a prefix: what was imported of a type is known
 * @throws {TooManyKeys} as `readPrefixHistory`
 */
export async function readSumUnits(
  db: Executor,
  of: TotalOf,
  range: HistoryRange,
  now: Date,
  hoursSince: number,
): Promise<UnitCount[]> {
  const sources = sourcesOf(range, true)
  if (of.name !== '') {
    return unitCounts(range, historyRows(await readPrefixRows(db, of, range, sources)), now.getTime(), hoursSince)
  }
  return unitCounts(range, historyRows(await readTypeRows(db, of.recordType, sources)), now.getTime())
}

/**
 * Reads the history of one counter, unit by unit, for comparisons, with its adjustments in the last units.
 *
 * @param hoursSince as for `unitCounts`, in milliseconds since 1970
 */
export async function readCounterUnits(
  db: Executor,
  counter: CounterAddress,
  range: HistoryRange,
  now: Date,
  hoursSince: number,
): Promise<{ units: UnitCount[]; adjustments: Adjustment[] }> {
  const rows = await readCounterRows(db, counter, range, sourcesOf(range, true))
  const units = unitCounts(range, historyRows(rows), now.getTime(), hoursSince)
  const current = periodAt(range, now.getTime())
  if (current !== undefined) units[current]!.count += pendingOf(rows)
  return { units, adjustments: adjustmentsOf(rows) }
}

async function readParts(db: Executor, parts: readonly Part[]): Promise<Row[]> {
  const { rows } = await db.execute(
    parts.map(({ sql }) => sql).join('\nUNION ALL '),
    parts.flatMap(({ args }) => args),
  )
  return rows
}

function historyRows(rows: readonly Row[]): DetailedRow[] {
  return rows.flatMap(({ part, at, kind, count }) => {
    if (part !== 'hour' && part !== 'day' && part !== 'month') return []
    const amount = toBigInt(count)
    return [{ unit: part, start: toDate(at)!.getTime(), count: amount, imported: Number(kind) === 0 ? 0n : amount }]
  })
}
