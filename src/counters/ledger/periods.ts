import type { Executor } from '../../database/database.ts'
import { hasErrorNumber } from '../../database/errors.ts'
import { ADJUSTMENTS_SUM, BUILDS_VERSION, type CalendarPeriod, NO_PERIOD, PERIODS, startOf } from '../calendar.ts'
import type { SumsPlace } from './kept-sums.ts'
import { Overtaken } from './totals.ts'

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
 * @param place as for `addToDays`
 */
export async function addToPeriods(
  transaction: Executor,
  amounts: readonly PeriodAmount[],
  at: Date,
  place: SumsPlace,
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
  await addToCalendar(transaction, { hourly, daily: [], undated: [] }, place)
}

/**
 * Added to the lane for amounts of which only the day is known, so that they have rows of their own: what of a day was imported.
 * Larger than any lane.
 */
export const IMPORT_LANE = 64n

/** An amount to add to the history of one counter on one day. */
export interface DayAmount extends PeriodAmount {
  /** Any instant of the UTC day. */
  at: Date
}

/**
 * Adds amounts of which only the day is known to the days, weeks and months of each counter and of its type, and adjustments to
 * the sums of the types.
 *
 * @param amounts in primary key order, all in one range; a counter may occur for several days
 * @param adjustments those that the transaction adds to `counter_adjustments`, or takes away
 * @param place where the sums of the types and prefixes are: `KeptSums.placeOf` all of these counters
 * @throws {Overtaken} if the builds of prefixes have changed since; the transaction must be rolled back
 */
export function addToDays(
  transaction: Executor,
  amounts: readonly DayAmount[],
  adjustments: readonly PeriodAmount[],
  place: SumsPlace,
): Promise<void> {
  return addToCalendar(transaction, { hourly: [], daily: amounts, undated: adjustments }, place)
}

/** What changes in the history. */
interface CalendarAmounts {
  /**
   * Amounts of which the hour is known. They are added to the hours of the types; the caller has added them to those of the
   * counters.
   */
  hourly: readonly DayAmount[]
  daily: readonly DayAmount[]
  /** Adjustments, which are in no day. */
  undated: readonly PeriodAmount[]
}

/** Adds amounts to the days, weeks and months of each counter, and to those of its type and of prefixes of its key. */
async function addToCalendar(
  transaction: Executor,
  { hourly, daily, undated }: CalendarAmounts,
  place: SumsPlace,
): Promise<void> {
  const ofCounters = new Sums()
  const ofTypes = new Sums()
  const ofPrefixes = new Sums()
  const types = new Set<number>()
  const addToSums = (counter: PeriodAmount, period: number, start: string, lane = place.rangeLane) => {
    const { recordType, amount } = counter
    types.add(recordType)
    ofTypes.add(`${recordType},${period},${start},${lane}`, amount)
    for (const hash of place.prefixesOf(counter)) {
      ofPrefixes.add(`${recordType},${hash},${period},${start},${lane}`, amount)
    }
  }
  const add = (counter: DayAmount, periods: readonly CalendarPeriod[], lane = place.rangeLane) => {
    for (const period of CALENDAR) {
      const start = literal(startOf(period, counter.at))
      ofCounters.add(`${counter.recordType},${counter.recordId},${PERIODS[period]},${start}`, counter.amount)
    }
    for (const period of periods) addToSums(counter, PERIODS[period], literal(startOf(period, counter.at)), lane)
  }
  for (const amount of hourly) add(amount, ['hour', ...CALENDAR])
  for (const amount of daily) add(amount, CALENDAR, place.rangeLane + IMPORT_LANE)
  for (const amount of undated) if (amount.amount !== 0n) addToSums(amount, ADJUSTMENTS_SUM, `'${NO_PERIOD}'`)
  if (ofCounters.size > 0) {
    await transaction.execute(
      `INSERT INTO counter_periods (record_type, record_id, period, period_start, count) VALUES ${ofCounters.rows()}
       ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
    )
  }
  if (types.size === 0) return
  for (const recordType of types) {
    const version = place.versionOf(recordType)
    ofTypes.add(`${recordType},${BUILDS_VERSION},'${NO_PERIOD}',${place.rangeLane}`, version)
  }
  await addToTypes(transaction, ofTypes, place)
  if (ofPrefixes.size === 0) return
  await transaction.execute(
    `INSERT INTO prefix_history (record_type, prefix_hash, period, period_start, range_lane, count) VALUES ${ofPrefixes.rows()}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
  )
}

/**
 * Adds to the sums of types, and compares the versions of the builds: another one makes the addition overflow. The rows stay
 * locked until the end of the transaction, so no build changes before that.
 *
 * @throws {Overtaken}
 */
async function addToTypes(transaction: Executor, sums: Sums, place: SumsPlace): Promise<void> {
  try {
    await transaction.execute(
      `INSERT INTO type_history (record_type, period, period_start, range_lane, count) VALUES ${sums.rows()}
       ON DUPLICATE KEY UPDATE count = IF(period = ${BUILDS_VERSION},
         IF(9223372036854775807 + (count <> VALUES(count)) > 0, count, 0), count + VALUES(count))`,
    )
  } catch (error) {
    // No sum of 64-bit integers leaves these columns.
    if (!hasErrorNumber(error, 1690)) throw error
    place.outdated()
    throw new Overtaken()
  }
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
 * @param adjusted the change of the counter's adjustments in the same transaction
 * @param place as for `addToDays`
 */
export async function addHistory(
  transaction: Executor,
  counter: Pick<PeriodAmount, 'recordType' | 'recordId'>,
  days: readonly DayHistory[],
  adjusted: bigint,
  place: SumsPlace,
): Promise<void> {
  const amounts = amountsOf(counter, days, 1n)
  if (amounts.hourly.length > 0) {
    const rows = amounts.hourly.map(({ at, amount }) => `(${idOf(counter)},${literal(at)},${amount})`)
    await transaction.execute(
      `INSERT INTO counter_history (record_type, record_id, period_start, count) VALUES ${rows.join(',')}
       ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
    )
  }
  await addToCalendar(transaction, { ...amounts, undated: [{ ...addressOf(counter), amount: adjusted }] }, place)
}

/**
 * Removes days with their hours from the history of a counter and of its type, weeks and months included. Call it in the
 * transaction that accounts for them in the total, which must be locked. Parameters as for `addHistory`.
 */
export async function removeHistory(
  transaction: Executor,
  counter: Pick<PeriodAmount, 'recordType' | 'recordId'>,
  days: readonly DayHistory[],
  adjusted: bigint,
  place: SumsPlace,
): Promise<void> {
  const hours = days.flatMap(({ hours }) => hours)
  if (hours.length > 0) {
    await transaction.execute(
      `DELETE FROM counter_history WHERE record_type = ${counter.recordType} AND record_id = ${counter.recordId}
         AND period_start IN (${hours.map(({ start }) => literal(start)).join(',')})`,
    )
  }
  const undated = [{ ...addressOf(counter), amount: adjusted }]
  await addToCalendar(transaction, { ...amountsOf(counter, days, -1n), undated }, place)
  if (days.length === 0) return
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

const addressOf = ({ recordType, recordId }: Pick<PeriodAmount, 'recordType' | 'recordId'>) => ({
  recordType,
  recordId,
})

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
