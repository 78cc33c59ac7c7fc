import { HistoryAddition, type PeriodAmount } from '../../src/counters/ledger/history-addition.ts'
import { boundsOf, rowsByRange } from '../../src/counters/ranges.ts'
import type { Executor } from '../../src/database/database.ts'

/** Adds amounts to the periods of counters and types, as roll-ups of their ranges do; with `day`, as imports do. */
export async function countPeriods(
  db: Executor & { ranges: number },
  amounts: readonly PeriodAmount[],
  at: Date,
  known?: 'day',
): Promise<void> {
  for (const [range, part] of rowsByRange(amounts, db.ranges)) {
    const history = new HistoryAddition(boundsOf(range, db.ranges).first)
    history.add(part, at, known)
    await history.send(db)
  }
}
