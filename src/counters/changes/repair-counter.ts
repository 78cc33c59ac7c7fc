import type { Database } from '../../database/database.ts'
import { PERIODS, startOf, timeText } from '../calendar.ts'
import type { CounterAddress } from '../counter-address.ts'
import { HistoryAddition } from '../ledger/history-addition.ts'
import { laneOf } from '../ranges.ts'
import { counterMismatches, firstDayWithHours, type Mismatch, typeMismatches } from '../verify/verify-page.ts'
import { ChangeRefused, makeChange } from './change.ts'

/** The most statements of one attempt: read, hours, months, type, adjustment. */
const ATTEMPT_STATEMENTS = 5

/** The most days of the type that one repair rebuilds. */
export const MAX_REPAIRED_DAYS = 100

export interface Repair {
  /** Days of the type to rebuild from its counters, such as 2026-11-20. */
  days: readonly string[]
  at: Date
  hourDays: number
  dryRun: boolean
}

/**
 * Makes sums agree, in one transaction. Days are the truth for months and hours, the total for the count, counters for the days of their
 * type. What a total has beyond days and adjustments becomes an adjustment. A roll-up changes both sides of each sum, so the differences
 * stay as they were read. But two repairs of one type at once would both add its difference. @returns what was wrong
 * @throws {ChangeRefused} there is no such counter @throws {Overtaken | DatabaseFailure} as `makeChange`
 */
export async function repairCounter(db: Database, counter: CounterAddress, { days, at, hourDays, dryRun }: Repair) {
  const firstDay = await firstDayWithHours(db, at, hourDays)
  const ofType = await typeMismatches(db, counter.recordType, days, firstDay)
  let ofCounter: Mismatch[] = []
  await makeChange(db, {
    key: null,
    counters: [counter],
    statements: ATTEMPT_STATEMENTS,
    async attempt(transaction, locked) {
      if (locked(counter).version === null) throw new ChangeRefused('no_such_counter')
      ofCounter = await counterMismatches(transaction, counter, firstDay)
      if (dryRun) return
      const history = new HistoryAddition(laneOf(db, counter))
      for (const found of [...ofCounter, ...ofType]) correct(history, counter, found, { firstDay, at })
      await history.send(transaction)
    },
  })
  return [...ofCounter, ...ofType]
}

/** Adds the difference to the row that is wrong. That of a total is an adjustment. */
function correct(
  history: HistoryAddition,
  counter: CounterAddress,
  found: Mismatch,
  { firstDay, at }: { firstDay: string; at: Date },
): void {
  const { recordId, what, is, shouldBe } = found
  const start = found.start ?? ''
  const difference = { ...counter, amount: shouldBe - is }
  const add = (period: number, start: string) =>
    recordId === null ? history.addToType(difference, period, start) : history.addToCounter(difference, period, start)
  if (what === 'total') history.adjust([{ ...counter, amount: is - shouldBe }], { kind: 'set', at })
  if (what === 'adjustments') history.adjust([difference])
  if (what === 'day' || what === 'month') add(PERIODS[what], start)
  // Its month is the sum of its days. Its hours were compared with the day as it was before.
  if (what === 'day') add(PERIODS.month, timeText(startOf('month', new Date(start))))
  // The difference of a day goes into its first hour.
  if (what === 'hours' || (what === 'day' && start >= firstDay)) add(PERIODS.hour, `${start} 00:00:00`)
}
