import { bucketOf } from '../../database/buckets.ts'
import type { Executor } from '../../database/database.ts'
import { toDate } from '../../database/values.ts'
import { ADJUSTMENTS_SUM, NO_PERIOD, PERIODS, startOf, timeText } from '../calendar.ts'
import type { CounterPlace } from '../counter-address.ts'
import { counterValues } from '../counters-sql.ts'
import { random63 } from '../ids.ts'
import { timeSql } from './totals.ts'

export interface PeriodAmount extends CounterPlace {
  amount: bigint
}

/** Added to the lane for amounts without an hour: the imported part of a day has its own rows. Larger than any lane. */
export const IMPORT_LANE = 64n

export const ADJUSTMENTS = { set: 1, import: 2 } as const
export type AdjustmentKind = keyof typeof ADJUSTMENTS
export const ADJUSTMENT_KINDS = Object.keys(ADJUSTMENTS) as AdjustmentKind[]

/** The periods of amounts of which the hour is known, or only the day. */
const KNOWN = { hour: ['hour', 'day', 'month'], day: ['day', 'month'] } as const

/** What a transaction adds to the history of counters of one range and of their types: the amounts that it adds to the totals. */
export class HistoryAddition {
  readonly #rangeLane: bigint
  // Rows as SQL: integers and times, written into the statement (see applyBatch).
  readonly #hours: string[] = []
  readonly #days: string[] = []
  readonly #adjustments: string[] = []
  readonly #types = new Map<string, bigint>()

  /** @param rangeLane the lane of the range in the history of types (`laneOf`) */
  constructor(rangeLane: bigint) {
    this.#rangeLane = rangeLane
  }

  /** Adds to the periods around an instant, of counters (unless `of` is `types`) and their types. @param amounts in primary key order */
  add(amounts: readonly PeriodAmount[], at: Date, known: keyof typeof KNOWN = 'hour', of?: 'types'): void {
    const starts = KNOWN[known].map((period) => [PERIODS[period], timeText(startOf(period, at))] as const)
    // Summed first, because there are far more counters than types and periods.
    const ofTypes = new Map<number, bigint>()
    for (const counter of amounts) {
      const { recordType, amount } = counter
      if (amount === 0n) continue
      const values = counterValues(counter)
      if (of !== 'types') for (const [period, start] of starts) this.#addRow(values, period, start, amount)
      addTo(ofTypes, recordType, amount)
    }
    const lane = known === 'hour' ? this.#rangeLane : this.#rangeLane + IMPORT_LANE
    for (const [recordType, amount] of ofTypes) {
      for (const [period, start] of starts) this.addToType({ recordType, amount }, period, start, lane)
    }
  }

  /** Adds adjustments (changes other than by counting) to the sums of the types and, if `recorded`, as a row of each counter. */
  adjust(adjustments: readonly PeriodAmount[], recorded?: { kind: AdjustmentKind; at: Date }): void {
    const id = random63()
    for (const adjustment of adjustments) {
      const { amount } = adjustment
      if (amount !== 0n) this.addToType(adjustment, ADJUSTMENTS_SUM, NO_PERIOD)
      if (recorded === undefined) continue
      const { kind, at } = recorded
      this.#adjustments.push(`(${counterValues(adjustment)},${id},${ADJUSTMENTS[kind]},${timeSql(at)},${amount})`)
    }
  }

  /** Adds to one row of a counter, without the periods around it. @param start as SQL writes it */
  addToCounter(addition: PeriodAmount, period: number, start: string): void {
    this.#addRow(counterValues(addition), period, start, addition.amount)
  }

  #addRow(counter: string, period: number, start: string, amount: bigint): void {
    if (period === PERIODS.hour) this.#hours.push(`(${counter},'${start}',${amount})`)
    else this.#days.push(`(${counter},${period},'${start}',${amount})`)
  }

  /** The same of a type. */
  addToType(of: Omit<PeriodAmount, 'recordId'>, period: number, start: string, lane = this.#rangeLane): void {
    addTo(this.#types, `${of.recordType},${period},'${start}',${lane},${bucketOf(lane)}`, of.amount)
  }

  async send(transaction: Executor): Promise<void> {
    // Sorted, so that no two transactions lock rows in opposite orders. Those of a counter are guarded by that of its total.
    const types = [...this.#types].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, sum]) => `(${key},${sum})`)
    const add = async (table: string, rows: readonly string[]) => {
      const sql = `INSERT INTO ${table} VALUES ${rows.join(',')} ON DUPLICATE KEY UPDATE count = count + VALUES(count)`
      if (rows.length > 0) await transaction.execute(sql)
    }
    const ofCounter = 'record_type, record_id, bucket'
    await add(`counter_history (${ofCounter}, period_start, count)`, this.#hours)
    await add(`counter_periods (${ofCounter}, period, period_start, count)`, this.#days)
    await add('type_history (record_type, period, period_start, range_lane, bucket, count)', types)
    await add(`counter_adjustments (${ofCounter}, adjustment_id, kind, adjusted_at, count)`, this.#adjustments)
  }
}

function addTo<Key>(sums: Map<Key, bigint>, key: Key, amount: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount)
}

/** The oldest hour in the history; `null` if there is none. */
export async function readOldestHour(db: Executor): Promise<Date | null> {
  const { rows } = await db.execute('SELECT MIN(period_start) AS oldest FROM counter_history')
  return toDate(rows[0]?.oldest ?? null)
}
