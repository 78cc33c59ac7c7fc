import type { Executor } from '../database/database.ts'
import { toBigInt, toDate } from '../database/numbers.ts'
import { ADJUSTMENT_KINDS, ADJUSTMENTS, type AdjustmentKind } from './adjustments.ts'
import { PERIODS } from './calendar.ts'
import { countPeriods, type HistoryRow, type HistorySource, sourcesOf } from './count-periods.ts'
import type { Counter } from './counter.ts'
import { type HistoryRange, periodAt } from './history-range.ts'
import { pendingOf } from './pending.ts'

/** Most adjustments that one answer holds: the newest. */
export const MAX_ADJUSTMENTS = 1_000

/** By the number that stands for it in the database. */
const KINDS = new Map<number, AdjustmentKind>(ADJUSTMENT_KINDS.map((kind) => [ADJUSTMENTS[kind], kind]))

/** What was added to a total, or taken away, other than by counting. */
export interface Adjustment {
  at: Date
  kind: AdjustmentKind
  count: bigint
}

/** What was counted in each period of a range, in its order, and what was adjusted within it, oldest first. */
export interface CounterHistory {
  counts: bigint[]
  adjustments: Adjustment[]
}

/** One of the selects of a statement, all of which return the columns `part`, `at`, `kind` and `count`. */
interface Part {
  sql: string
  args: unknown[]
}

/**
 * Reads the history of one counter. What is pending belongs to the present period. One statement, hence one snapshot: a roll-up
 * is seen not at all or whole.
 *
 * @throws {DatabaseFailure}
 */
export async function readCounterHistory(
  db: Executor,
  counter: Counter,
  range: HistoryRange,
  now: Date,
): Promise<CounterHistory> {
  const { recordType, recordId } = counter
  const rows = await readParts(db, [
    ...sourcesOf(range).map((source) => counterPart(recordType, recordId, source)),
    { sql: `SELECT 'pending' AS part, NULL AS at, 0 AS kind, ${pendingOf(counter)} AS count`, args: [] },
    {
      sql: `(SELECT 'adjustment' AS part, adjusted_at AS at, kind, count FROM counter_adjustments FORCE INDEX (PRIMARY)
        WHERE record_type = ? AND record_id = ? AND adjusted_at >= ? AND adjusted_at < ? AND count <> 0
        ORDER BY adjusted_at DESC, adjustment_id LIMIT ${MAX_ADJUSTMENTS})`,
      args: [recordType, recordId, new Date(range.edges[0]!), new Date(range.edges.at(-1)!)],
    },
  ])
  const counts = countPeriods(range, historyRows(rows))
  const present = periodAt(range, now.getTime())
  const pending = rows.find(({ part }) => part === 'pending')
  if (present !== undefined) counts[present]! += toBigInt(pending?.count)
  const adjustments = rows
    .filter(({ part }) => part === 'adjustment')
    .map(({ at, kind, count }) => ({
      at: toDate(at)!,
      kind: KINDS.get(Number(kind))!,
      count: toBigInt(count),
    }))
    .sort((a, b) => a.at.getTime() - b.at.getTime())
  return { counts, adjustments }
}

/**
 * Reads the history of all counters of a type together, as far as it is rolled up: adding up what is pending of a type would
 * cost as much as there are counters.
 *
 * @returns what was counted in each period of the range, in its order
 * @throws {DatabaseFailure}
 */
export async function readTypeHistory(db: Executor, recordType: number, range: HistoryRange): Promise<bigint[]> {
  const rows = await readParts(
    db,
    sourcesOf(range).map(({ unit, from, to }) => ({
      sql: `SELECT '${unit}' AS part, period_start AS at, 0 AS kind, count FROM type_history
        WHERE record_type = ? AND period = ${PERIODS[unit]} AND period_start >= ? AND period_start < ?`,
      args: [recordType, dayText(from), dayText(to)],
    })),
  )
  return countPeriods(range, historyRows(rows))
}

function counterPart(recordType: number, recordId: bigint, { unit, from, to }: HistorySource): Part {
  const [table, period] =
    unit === 'hour' ? ['counter_history', ''] : ['counter_periods', `AND period = ${PERIODS[unit]}`]
  return {
    sql: `SELECT '${unit}' AS part, period_start AS at, 0 AS kind, count FROM ${table} FORCE INDEX (PRIMARY)
      WHERE record_type = ? AND record_id = ? ${period} AND period_start >= ? AND period_start < ?`,
    args: [recordType, recordId, dayText(from), dayText(to)],
  }
}

async function readParts(db: Executor, parts: readonly Part[]): Promise<Record<string, unknown>[]> {
  const { rows } = await db.execute(
    parts.map(({ sql }) => sql).join('\nUNION ALL '),
    parts.flatMap(({ args }) => args),
  )
  return rows
}

function historyRows(rows: readonly Record<string, unknown>[]): HistoryRow[] {
  return rows.flatMap(({ part, at, count }) =>
    part === 'hour' || part === 'day' || part === 'month'
      ? [{ unit: part, start: toDate(at)!.getTime(), count: toBigInt(count) }]
      : [],
  )
}

/** Sources begin and end at midnight, which both DATE and DATETIME columns are compared with as they are. */
function dayText(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
