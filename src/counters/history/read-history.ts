import type { Executor } from '../../database/database.ts'
import { packedSql, unpack } from '../../database/values.ts'
import { NO_PERIOD, timeText } from '../calendar.ts'
import type { CounterAddress, CounterPlace } from '../counter-address.ts'
import { counterListsSql, counterSql, MAX_PENDING, pendingOfOneSql } from '../counters-sql.ts'
import { ADJUSTMENT_KINDS, ADJUSTMENTS, type AdjustmentKind } from '../ledger/history-addition.ts'
import { type HistoryRange, periodAt } from './history-range.ts'
import { packedRowsSql, partsSql, unpackCounts } from './rows-sql.ts'
import { addCounts, type Counts, noCounts, type Selection, sumOf, type Times } from './selection.ts'

/** The most adjustments in one response: the newest ones. */
export const MAX_ADJUSTMENTS = 1_000

export interface AskedHistory {
  selections: readonly Selection[]
  /** Earlier hours are expired, or will be soon, and are not read. In milliseconds since 1970. */
  hoursFrom: number
}

/** What is read of a history, from one snapshot. */
export interface HistoryRows {
  counts: Counts
  /** Pending counts, which belong to now; `null`: they were not read. */
  pending: bigint | null
  /** Changes of the total other than by counting, within the times asked for, oldest first. */
  adjustments: { at: Date; kind: AdjustmentKind; count: bigint }[]
  /** The same of some keys of a sum, in the order in which they were asked for. */
  parts?: readonly Pick<HistoryRows, 'counts' | 'pending'>[]
}

/** Reads the history of a counter from one snapshot. @param between of adjustments @param mostPending above so many slots, none is read */
export async function readCounterHistory(
  db: Executor,
  counter: CounterAddress,
  { selections, hoursFrom }: AskedHistory,
  between: Times,
  mostPending = MAX_PENDING,
): Promise<HistoryRows> {
  const counters = counterSql(counter)
  const pending = pendingOfOneSql(counter, mostPending)
  const adjusted = `CONCAT(TIMESTAMPDIFF(MICROSECOND, '${NO_PERIOD}', adjusted_at) DIV 1000, ':', count)`
  const { rows } = await db.execute(
    [
      ...packedRowsSql({ counters }, selections, hoursFrom, 'record_id'),
      `SELECT ${packedSql("'pending'", '0', 'count', "CONCAT('0:', count)")}
        FROM (SELECT ${pending.column} AS count FROM ${pending.from}) AS pending`,
      `(SELECT ${packedSql("'adjustment'", 'kind', 'count', adjusted)}
        FROM counter_adjustments FORCE INDEX (PRIMARY) WHERE ${counters}
        AND adjusted_at >= '${timeText(between.from)}' AND adjusted_at < '${timeText(between.to)}' AND count <> 0
        ORDER BY adjusted_at DESC, adjustment_id LIMIT ${MAX_ADJUSTMENTS})`,
    ].join('\nUNION ALL '),
  )
  const history: HistoryRows = { counts: noCounts(), pending: null, adjustments: [] }
  for (const [part, id, sum, packed] of rows.map(unpack)) {
    // A count that was not read.
    if (packed === undefined) continue
    const times = unpackCounts(sum!, packed)
    const [at, count] = times[0]!
    if (part === 'pending') history.pending = count
    else if (part === 'adjustment') {
      const kind = ADJUSTMENT_KINDS.find((name) => ADJUSTMENTS[name] === Number(id))!
      history.adjustments.push({ at: new Date(at), kind, count })
    } else addCounts(history.counts, part!, times)
  }
  history.adjustments.sort((a, b) => a.at.getTime() - b.at.getTime())
  return history
}

/** The counts of the periods of a range, in its order. Pending ones belong to now. @param selections of the range */
export function countsOf(
  range: HistoryRange,
  selections: readonly Selection[],
  { counts, pending }: Pick<HistoryRows, 'counts' | 'pending'>,
  now: number,
) {
  const current = periodAt(range, now)
  return selections.map((selection, place) => sumOf(selection, counts) + (place === current ? (pending ?? 0n) : 0n))
}

interface AskedRows {
  /** What is added up by the database. */
  sums?: readonly Selection[]
  /** Points of a chart. */
  charts?: readonly Selection[]
  hoursFrom: number
  names?: boolean
}

/** Reads rows of counters of one type, in their order, as of the last roll-up. `name`: empty if it is unknown or not asked for. */
export async function readRows(
  db: Executor,
  counters: readonly CounterPlace[],
  { sums = [], charts = [], hoursFrom, names = false }: AskedRows,
) {
  const name = packedSql("'name'", 'record_id', 'CONVERT(name USING utf8mb4)')
  const selects = counterListsSql(counters).flatMap((list) => [
    ...sums.flatMap((selection, place) =>
      partsSql({ counters: list }, selection, hoursFrom).map(
        ({ count, from }) =>
          `SELECT ${packedSql(`'${place}'`, 'h.record_id', `SUM(${count})`)} ${from} GROUP BY h.record_id, h.bucket`,
      ),
    ),
    ...packedRowsSql({ counters: list }, charts, hoursFrom, 'record_id'),
    ...(names ? [`SELECT ${name} FROM counters FORCE INDEX (PRIMARY) WHERE ${list}`] : []),
  ])
  // In the first hour of a period, and of expired hours, there is nothing to read.
  const { rows } = selects.length === 0 ? { rows: [] } : await db.execute(selects.join('\nUNION ALL '))
  const found = new Map(
    counters.map(({ recordId }) => [`${recordId}`, { sums: sums.map(() => 0n), counts: noCounts(), name: '' }]),
  )
  for (const [part, id, ...values] of rows.map(unpack)) {
    const counter = found.get(id!)!
    if (part === 'name') counter.name = values.join(' ')
    else if (part! in counter.counts) addCounts(counter.counts, part!, unpackCounts(values[0]!, values[1]!))
    else counter.sums[Number(part)]! += BigInt(values[0]!)
  }
  return [...found.values()].map(({ counts, ...row }) => ({
    ...row,
    charts: charts.map((selection) => sumOf(selection, counts)),
  }))
}
