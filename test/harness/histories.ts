import type { CounterAddress } from '../../src/counters/counter-address.ts'
import type { HistoryRange } from '../../src/counters/history/history-range.ts'
import { countsOf, readCounterHistory } from '../../src/counters/history/read-history.ts'
import { selectionsOf } from '../../src/counters/history/selection.ts'
import type { KeysWithPrefix } from '../../src/counters/keys/prefix.ts'
import { readSumHistory } from '../../src/counters/read/read-sum.ts'
import type { Executor } from '../../src/database/database.ts'

/** Reads the counts of a range, with all hours that are there, and its adjustments. */
export async function counterHistory(db: Executor, counter: CounterAddress, range: HistoryRange, now: Date) {
  const between = { from: range.edges[0]!, to: range.edges.at(-1)! }
  const selections = selectionsOf(range)
  const history = await readCounterHistory(db, counter, { selections, hoursFrom: 0 }, between)
  return { adjustments: history.adjustments, counts: countsOf(range, selections, history, now.getTime()) }
}

/** The same of a type or a prefix. */
export async function sumHistory(db: Executor, of: KeysWithPrefix, range: HistoryRange): Promise<bigint[]> {
  const selections = selectionsOf(range)
  return countsOf(range, selections, await readSumHistory(db, of, { selections, hoursFrom: 0 }), Number.NaN)
}
