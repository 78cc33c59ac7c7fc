import type { Executor } from '../database/database.ts'
import { PERIODS, startOf } from './calendar.ts'

/** What is added to the history of one counter. */
export interface HistoryAmount {
  recordType: number
  recordId: bigint
  amount: bigint
}

const CALENDAR = ['day', 'week', 'month'] as const

/**
 * Adds what was counted to the periods in which an instant lies: of each counter, and of its type as a whole. For a
 * transaction that adds the same to the totals, so that the history always says where they come from.
 *
 * @param amounts in primary key order, each counter once
 * @throws {DatabaseFailure}
 */
export async function addToHistory(transaction: Executor, amounts: readonly HistoryAmount[], at: Date): Promise<void> {
  const some = amounts.filter(({ amount }) => amount !== 0n)
  if (some.length === 0) return
  // Numbers and times of our own, written out: see applyBatch.
  const hour = literal(startOf('hour', at))
  await transaction.execute(
    `INSERT INTO counter_history (record_type, record_id, period_start, count)
     VALUES ${some.map(({ recordType, recordId, amount }) => `(${recordType},${recordId},${hour},${amount})`).join(',')}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
  await addToCalendar(
    transaction,
    some.map((amount) => ({ ...amount, at })),
    ['hour'],
  )
}

/** What is added to the history of one counter in one day. */
export interface DayAmount extends HistoryAmount {
  at: Date
}

/**
 * Adds what is known by the day only: to days, weeks and months, of each counter and of its type as a whole.
 *
 * @param amounts in primary key order; a counter may occur for several days
 * @param beyond further periods of the types, whose amounts the caller has added to the counters
 * @throws {DatabaseFailure}
 */
export async function addToCalendar(
  transaction: Executor,
  amounts: readonly DayAmount[],
  beyond: readonly 'hour'[] = [],
): Promise<void> {
  const ofCounters = new Sums()
  const ofTypes = new Sums()
  for (const { recordType, recordId, amount, at } of amounts) {
    for (const period of CALENDAR) {
      ofCounters.add(`${recordType},${recordId},${PERIODS[period]},${literal(startOf(period, at))}`, amount)
    }
    for (const period of [...beyond, ...CALENDAR]) {
      ofTypes.add(`${recordType},${PERIODS[period]},${literal(startOf(period, at))}`, amount)
    }
  }
  if (ofCounters.size === 0) return
  await transaction.execute(
    `INSERT INTO counter_periods (record_type, record_id, period, period_start, count) VALUES ${ofCounters.rows()}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
  await transaction.execute(
    `INSERT INTO type_history (record_type, period, period_start, count) VALUES ${ofTypes.rows()}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
}

/** Sums by address. */
class Sums {
  readonly #sums = new Map<string, bigint>()

  get size(): number {
    return this.#sums.size
  }

  add(address: string, amount: bigint): void {
    this.#sums.set(address, (this.#sums.get(address) ?? 0n) + amount)
  }

  /** Always in the same order, so that no two transactions lock rows in opposite orders. */
  rows(): string {
    return [...this.#sums]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([address, sum]) => `(${address},${sum})`)
      .join(',')
  }
}

/** A whole second in UTC as SQL writes it. */
function literal(time: Date): string {
  return `'${time.toISOString().slice(0, 19).replace('T', ' ')}'`
}
