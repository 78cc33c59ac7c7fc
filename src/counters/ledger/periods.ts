import type { Executor } from '../../database/database.ts'
import { type CalendarPeriod, PERIODS, startOf } from '../calendar.ts'

/** An amount to add to the history of one counter. */
export interface PeriodAmount {
  recordType: number
  recordId: bigint
  amount: bigint
}

const CALENDAR = ['day', 'week', 'month'] as const satisfies CalendarPeriod[]

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
  const hourly = changes.map((amount) => ({ ...amount, at }))
  await addToCalendar(transaction, { hourly, daily: [] }, rangeLane)
}

/**
 * Added to the lane of a type's row for amounts of which only the day is known: so it is known of a day how much of it was
 * imported. More than a range has lanes.
 */
export const IMPORT_LANE = 64n

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
 */
export function addToDays(transaction: Executor, amounts: readonly DayAmount[], rangeLane: bigint): Promise<void> {
  return addToCalendar(transaction, { hourly: [], daily: amounts }, rangeLane)
}

/**
 * Adds amounts to the days, weeks and months of each counter, and to those of its type.
 *
 * @param amounts `hourly`: those of which the hour is known. They are added to the hours of the types; the caller has added them
 *   to those of the counters.
 */
async function addToCalendar(
  transaction: Executor,
  { hourly, daily }: { hourly: readonly DayAmount[]; daily: readonly DayAmount[] },
  rangeLane: bigint,
): Promise<void> {
  const ofCounters = new Sums()
  const ofTypes = new Sums()
  const add = (
    { recordType, recordId, amount, at }: DayAmount,
    typePeriods: readonly CalendarPeriod[],
    lane: bigint,
  ) => {
    for (const period of CALENDAR) {
      ofCounters.add(`${recordType},${recordId},${PERIODS[period]},${literal(startOf(period, at))}`, amount)
    }
    for (const period of typePeriods) {
      ofTypes.add(`${recordType},${PERIODS[period]},${literal(startOf(period, at))},${lane}`, amount)
    }
  }
  for (const amount of hourly) add(amount, ['hour', ...CALENDAR], rangeLane)
  for (const amount of daily) add(amount, CALENDAR, rangeLane + IMPORT_LANE)
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

/** What a counter's history has of one day. */
export interface DayHistory {
  /** The start of the day, in UTC. */
  start: Date
  count: bigint
  /** Its hours, as far as they are known and kept. */
  hours: readonly { start: Date; count: bigint }[]
}

/**
 * Adds days with their hours to the history of a counter and of its type. Call it in the transaction that accounts for them in
 * the total.
 *
 * @param rangeLane as for `addToDays`
 */
export async function addHistory(
  transaction: Executor,
  counter: Pick<PeriodAmount, 'recordType' | 'recordId'>,
  days: readonly DayHistory[],
  rangeLane: bigint,
): Promise<void> {
  const amounts = amountsOf(counter, days, 1n)
  if (amounts.hourly.length > 0) {
    const rows = amounts.hourly.map(({ at, amount }) => `(${idOf(counter)},${literal(at)},${amount})`)
    await transaction.execute(
      `INSERT INTO counter_history (record_type, record_id, period_start, count) VALUES ${rows.join(',')}
       ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
    )
  }
  await addToCalendar(transaction, amounts, rangeLane)
}

/**
 * Removes days with their hours from the history of a counter and of its type, weeks and months included. Call it in the
 * transaction that accounts for them in the total, which must be locked. Parameters as for `addHistory`.
 */
export async function removeHistory(
  transaction: Executor,
  counter: Pick<PeriodAmount, 'recordType' | 'recordId'>,
  days: readonly DayHistory[],
  rangeLane: bigint,
): Promise<void> {
  const hours = days.flatMap(({ hours }) => hours)
  if (hours.length > 0) {
    await transaction.execute(
      `DELETE FROM counter_history WHERE record_type = ${counter.recordType} AND record_id = ${counter.recordId}
         AND period_start IN (${hours.map(({ start }) => literal(start)).join(',')})`,
    )
  }
  await addToCalendar(transaction, amountsOf(counter, days, -1n), rangeLane)
  const periods = CALENDAR.map((period) => {
    const starts = new Set(days.map(({ start }) => `'${startOf(period, start).toISOString().slice(0, 10)}'`))
    return `(period = ${PERIODS[period]} AND period_start IN (${[...starts].join(',')}))`
  })
  // Days are empty now; weeks and months may be. `count + 0` keeps the optimizer from using the ranking.
  await transaction.execute(
    `DELETE FROM counter_periods WHERE record_type = ${counter.recordType} AND record_id = ${counter.recordId}
       AND (${periods.join(' OR ')}) AND count + 0 = 0`,
  )
}

/** The amounts of days: those of their hours, and what each day has beyond them. */
function amountsOf(counter: Pick<PeriodAmount, 'recordType' | 'recordId'>, days: readonly DayHistory[], sign: bigint) {
  const amount = (at: Date, count: bigint): DayAmount => ({ ...counter, at, amount: sign * count })
  const some = ({ amount }: DayAmount) => amount !== 0n
  return {
    hourly: days.flatMap(({ hours }) => hours.map(({ start, count }) => amount(start, count))).filter(some),
    daily: days
      .map(({ start, count, hours }) =>
        amount(
          start,
          hours.reduce((rest, hour) => rest - hour.count, count),
        ),
      )
      .filter(some),
  }
}

const idOf = ({ recordType, recordId }: Pick<PeriodAmount, 'recordType' | 'recordId'>) => `${recordType},${recordId}`

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
