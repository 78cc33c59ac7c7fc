import type { Executor } from '../../database/database.ts'
import { PERIODS, startOf } from '../calendar.ts'

/** An amount to add to the history of one counter. */
export interface PeriodAmount {
  recordType: number
  recordId: bigint
  amount: bigint
}

const CALENDAR = ['day', 'week', 'month'] as const

/**
 * Adds counts to the periods in which an instant lies, of each counter and of its type. Call it in the transaction that adds the
 * same amounts to the totals, so that the history always accounts for the totals.
 *
 * @param amounts in primary key order, each counter once
 * @param rangeLane as for `addToDays`
 */
export async function addToPeriods(
  transaction: Executor,
  amounts: readonly PeriodAmount[],
  at: Date,
  rangeLane: bigint,
): Promise<void> {
  const changes = amounts.filter(({ amount }) => amount !== 0n)
  if (changes.length === 0) return
  // Integers and times, written into the statement: see applyBatch.
  const hour = literal(startOf('hour', at))
  await transaction.execute(
    `INSERT INTO counter_history (record_type, record_id, period_start, count)
     VALUES ${changes.map(({ recordType, recordId, amount }) => `(${recordType},${recordId},${hour},${amount})`).join(',')}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
  await addToDays(
    transaction,
    changes.map((amount) => ({ ...amount, at })),
    rangeLane,
    ['hour'],
  )
}

/** An amount to add to the history of one counter on one day. */
export interface DayAmount extends PeriodAmount {
  /** Any instant of the UTC day. */
  at: Date
}

/**
 * Adds amounts of which only the day is known to the days, weeks and months of each counter and of its type.
 *
 * @param amounts in primary key order, all in one range; a counter may occur for several days
 * @param rangeLane a record id of the range, by which the rows of the types are told apart: transactions with different ones do
 *   not wait for each other
 * @param typePeriods further periods, for the types only: the caller has added them to the counters
 */
export async function addToDays(
  transaction: Executor,
  amounts: readonly DayAmount[],
  rangeLane: bigint,
  typePeriods: readonly 'hour'[] = [],
): Promise<void> {
  const ofCounters = new Sums()
  const ofTypes = new Sums()
  for (const { recordType, recordId, amount, at } of amounts) {
    for (const period of CALENDAR) {
      ofCounters.add(`${recordType},${recordId},${PERIODS[period]},${literal(startOf(period, at))}`, amount)
    }
    for (const period of [...typePeriods, ...CALENDAR]) {
      ofTypes.add(`${recordType},${PERIODS[period]},${literal(startOf(period, at))},${rangeLane}`, amount)
    }
  }
  if (ofCounters.size === 0) return
  await transaction.execute(
    `INSERT INTO counter_periods (record_type, record_id, period, period_start, count) VALUES ${ofCounters.rows()}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
  await transaction.execute(
    `INSERT INTO type_history (record_type, period, period_start, range_lane, count) VALUES ${ofTypes.rows()}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
}

/** Sums of amounts, by the address of their row. */
class Sums {
  readonly #sums = new Map<string, bigint>()

  get size(): number {
    return this.#sums.size
  }

  add(address: string, amount: bigint): void {
    this.#sums.set(address, (this.#sums.get(address) ?? 0n) + amount)
  }

  /** The rows of an INSERT, sorted so that no two transactions lock rows in opposite orders. */
  rows(): string {
    return [...this.#sums]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([address, sum]) => `(${address},${sum})`)
      .join(',')
  }
}

/** A time as an SQL literal: UTC, whole seconds. */
function literal(time: Date): string {
  return `'${time.toISOString().slice(0, 19).replace('T', ' ')}'`
}
