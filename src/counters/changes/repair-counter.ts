import type { Database } from '../../database/database.ts'
import { ADJUSTMENTS_SUM, NO_PERIOD, PERIODS, startOf, timeText } from '../calendar.ts'
import type { CounterAddress } from '../keys/counter-address.ts'
import { addToSingleRows, type RowAmount } from '../ledger/periods.ts'
import { recordAdjustments } from '../ledger/totals.ts'
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
  /** Whether to change nothing. */
  dryRun: boolean
}

/**
 * Makes sums agree, in one transaction. The days of a counter are the truth for its months and hours, its total for the
 * count: what the total has beyond days and adjustments is recorded as an adjustment. The counters are the truth for the days of
 * their type, its days for its months and hours.
 *
 * Counting goes on meanwhile: a roll-up changes both sides of each sum, so the differences stay as they were read. Two repairs of
 * the same type at once would both add the difference of the type.
 * @returns what was wrong
 * @throws {ChangeRefused} there is no such counter @throws {Overtaken | DatabaseFailure} as `makeChange`
 */
export async function repairCounter(
  db: Database,
  counter: CounterAddress,
  { days, at, hourDays, dryRun }: Repair,
): Promise<Mismatch[]> {
  const firstDay = await firstDayWithHours(db, at, hourDays)
  const ofType = await typeMismatches(db, counter.recordType, days, firstDay)
  let ofCounter: Mismatch[] = []
  await makeChange(db, {
    key: null,
    counters: [counter],
    statements: ATTEMPT_STATEMENTS,
    async attempt(transaction, locked) {
      if (locked(counter) === null) throw new ChangeRefused('no_such_counter')
      ofCounter = await counterMismatches(transaction, counter, firstDay)
      if (dryRun) return
      const { undated, ...rows } = corrections(ofCounter, ofType, firstDay)
      await addToSingleRows(transaction, counter, rows, laneOf(db, counter))
      if (undated !== 0n) await recordAdjustments(transaction, 'set', [{ ...counter, amount: undated }], at)
    },
  })
  return [...ofCounter, ...ofType]
}

/** What to add to which rows; `undated`: the adjustment of the counter. */
function corrections(ofCounter: readonly Mismatch[], ofType: readonly Mismatch[], firstDay: string) {
  const rows: { ofCounter: RowAmount[]; ofType: RowAmount[] } = { ofCounter: [], ofType: [] }
  let undated = 0n
  for (const { what, start, is, shouldBe } of ofCounter) {
    const amount = shouldBe - is
    if (what === 'total') {
      undated = -amount
      rows.ofType.push({ period: ADJUSTMENTS_SUM, start: NO_PERIOD, amount: undated })
    } else if (what === 'hours') {
      rows.ofCounter.push(firstHour(start!, amount))
    } else rows.ofCounter.push({ period: PERIODS[what as 'month'], start: start!, amount })
  }
  for (const { what, start, is, shouldBe } of ofType) {
    const amount = shouldBe - is
    if (what === 'adjustments') rows.ofType.push({ period: ADJUSTMENTS_SUM, start: NO_PERIOD, amount })
    else if (what === 'hours') rows.ofType.push(firstHour(start!, amount))
    else rows.ofType.push({ period: PERIODS[what as 'day'], start: start!, amount })
    if (what === 'day') {
      // Its month is the sum of its days. Its hours were compared with the day as it was before.
      rows.ofType.push({ period: PERIODS.month, start: timeText(startOf('month', new Date(start!))), amount })
      if (start! >= firstDay) rows.ofType.push(firstHour(start!, amount))
    }
  }
  return { ...rows, undated }
}

/** The difference of a day goes into its first hour. */
function firstHour(day: string, amount: bigint): RowAmount {
  return { period: PERIODS.hour, start: `${day} 00:00:00`, amount }
}
