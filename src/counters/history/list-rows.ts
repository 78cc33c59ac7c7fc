import type { Executor } from '../../database/database.ts'
import { DAY_MS, HOUR_MS } from '../calendar.ts'
import type { CounterPlace } from '../keys/counter-address.ts'
import type { ChosenPeriod, Span } from './comparison.ts'
import type { HistoryRange } from './history-range.ts'
import { countsSql, readPacked, sumCounts } from './ranking.ts'
import { selectionOf } from './selection.ts'
import {
  daysOf,
  fromCountersSql,
  type HistoryRow,
  type HistorySource,
  packedRowsSql,
  sourcesOf,
  sumPeriods,
  unpackCounts,
} from './sum-periods.ts'

/** What a list shows of each of some counters, in their order. */
export interface Rows {
  /** The counts of the units of its chart; `null`: none is shown. */
  charts: bigint[][] | null
  /** Its counts in each span. */
  counts: bigint[][]
}

/**
 * Reads the rows of a list with one statement, as of the last roll-up.
 * @param counters of one type
 * @param options `period`: that of the charts, which show the units of its range, without those of the predecessor; `firstHour`:
 *   the first hour that is kept, in milliseconds since 1970
 */
export async function readRows(
  db: Executor,
  counters: readonly CounterPlace[],
  { period, firstHour, spans }: { period: ChosenPeriod | null; firstHour: number; spans: readonly Span[] },
): Promise<Rows> {
  const range = period && { ...period.range, edges: period.range.edges.slice(period.first) }
  const sources = range === null ? [] : chartSources(range, firstHour)
  const selections = spans.map(selectionOf)
  const rows = await readPacked(db, counters, (list) => [
    ...countsSql(list, selections),
    ...sources.map((source) => packedRowsSql(source, 'record_id', fromCountersSql(source.unit, list), 'record_id')),
  ])
  const byId = new Map<string, HistoryRow[]>()
  for (const [unit, id, sum, packed] of rows) {
    if (packed === undefined) continue
    const found = byId.get(id!) ?? []
    for (const [hour, count] of unpackCounts(sum!, packed)) {
      found.push({ unit: unit === 'hours' ? 'hour' : (unit as HistoryRow['unit']), start: hour * HOUR_MS, count })
    }
    byId.set(id!, found)
  }
  return {
    charts: range && counters.map(({ recordId }) => sumPeriods(range, byId.get(`${recordId}`) ?? [])),
    counts: sumCounts(rows, counters, selections.length),
  }
}

/** The rows of charts. Away from UTC, the hours between the midnight of the zone and that of UTC with the same date are summed. */
function chartSources(range: HistoryRange, firstHour: number): HistorySource[] {
  const { by, zone, edges } = range
  if (by === 'hour') return sourcesOf(range)
  const hours = edges
    .map((edge) => {
      // A day that was skipped has its own midnight in UTC.
      const midnights = [zone.dateAt(edge - 1) + DAY_MS, zone.dateAt(edge), Math.ceil(edge / HOUR_MS) * HOUR_MS]
      return { from: Math.min(...midnights), to: Math.max(...midnights) }
    })
    .filter(({ from, to }) => from < to && to > firstHour)
  const days: HistorySource = { unit: by, spans: [daysOf(range)] }
  return hours.length === 0 ? [days] : [days, { unit: 'hours', spans: hours }]
}
