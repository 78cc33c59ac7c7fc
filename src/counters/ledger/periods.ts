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
const HOURLY = ['hour', ...CALENDAR] as const satisfies CalendarPeriod[]

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
  await additionToPeriods(amounts, at, place)(transaction)
}

/** Prepares `addToPeriods`: writes the text of its statements at once. Parameters as there. @returns what sends them */
export function additionToPeriods(
  amounts: readonly PeriodAmount[],
  at: Date,
  place: SumsPlace,
): (transaction: Executor) => Promise<void> {
  const changes = amounts.filter(({ amount }) => amount !== 0n)
  if (changes.length === 0) return async () => {}
  // Integers and times, written into the statement: see applyBatch.
  const hour = literal(startOf('hour', at))
  const ofHours = `INSERT INTO counter_history (record_type, record_id, period_start, count)
     VALUES ${changes.map(({ recordType, recordId, amount }) => `(${recordType},${recordId},${hour},${amount})`).join(',')}
     ON DUPLICATE KEY UPDATE count = count + VALUES(count)`
  const hourly = changes.map(({ recordType, recordId, amount }) => ({ recordType, recordId, amount, at }))
  const toCalendar = additionToCalendar({ hourly, daily: [], undated: [] }, place)
  return async (transaction) => {
    await transaction.execute(ofHours)
    await toCalendar(transaction)
  }
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
  return additionToCalendar({ hourly: [], daily: amounts, undated: adjustments }, place)(transaction)
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

/**
 * Prepares to add amounts to the days, weeks and months of each counter, and to those of its type and of prefixes of its key.
 *
 * @returns what sends the statements
 */
function additionToCalendar(
  { hourly, daily, undated }: CalendarAmounts,
  place: SumsPlace,
): (transaction: Executor) => Promise<void> {
  const ofCounters = rowsOfCounters([...hourly, ...daily])
  const ofTypes = new Sums()
  const ofPrefixes = new Sums()
  const types = new Set<number>()
  const { rangeLane } = place
  // Amounts of one instant are summed first, because there are far more of them than of periods.
  const addSums = (amounts: readonly PeriodAmount[], rowsOf: (sum: Sums, address: string, amount: bigint) => void) => {
    const sumsOfTypes = new Map<number, bigint>()
    const sumsOfPrefixes = new Sums()
    for (const counter of amounts) {
      const { recordType, amount } = counter
      sumsOfTypes.set(recordType, (sumsOfTypes.get(recordType) ?? 0n) + amount)
      for (const hash of place.prefixesOf(counter)) sumsOfPrefixes.add(`${recordType},${hash}`, amount)
    }
    for (const [recordType, amount] of sumsOfTypes) {
      types.add(recordType)
      rowsOf(ofTypes, `${recordType}`, amount)
    }
    for (const [address, amount] of sumsOfPrefixes) rowsOf(ofPrefixes, address, amount)
  }
  const addPeriods = (amounts: readonly DayAmount[], periods: readonly CalendarPeriod[], lane: bigint) => {
    for (const [at, some] of byInstant(amounts)) {
      const starts = periods.map((period) => `${PERIODS[period]},${literal(startOf(period, at))},${lane}`)
      addSums(some, (sums, address, amount) => {
        for (const start of starts) sums.add(`${address},${start}`, amount)
      })
    }
  }
  addPeriods(hourly, HOURLY, rangeLane)
  addPeriods(daily, CALENDAR, rangeLane + IMPORT_LANE)
  const adjusted = undated.filter(({ amount }) => amount !== 0n)
  addSums(adjusted, (sums, address, amount) => {
    sums.add(`${address},${ADJUSTMENTS_SUM},'${NO_PERIOD}',${rangeLane}`, amount)
  })
  for (const recordType of types) {
    ofTypes.add(`${recordType},${BUILDS_VERSION},'${NO_PERIOD}',${rangeLane}`, place.versionOf(recordType))
  }
  return async (transaction) => {
    if (ofCounters !== '') {
      await transaction.execute(
        `INSERT INTO counter_periods (record_type, record_id, period, period_start, count) VALUES ${ofCounters}
         ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
      )
    }
    if (types.size === 0) return
    await addToTypes(transaction, ofTypes, place)
    if (ofPrefixes.size === 0) return
    await transaction.execute(
      `INSERT INTO prefix_history (record_type, prefix_hash, period, period_start, range_lane, count) VALUES ${ofPrefixes.rows()}
       ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
    )
  }
}

/**
 * The rows of an INSERT that adds amounts to the days, weeks and months of counters; empty if there are none.
 *
 * @param amounts in primary key order, a counter possibly several times: so no two transactions lock rows in opposite orders
 */
function rowsOfCounters(amounts: readonly DayAmount[]): string {
  const starts = new Map<number, string[]>()
  const rows: string[] = []
  for (let first = 0, next = 0; first < amounts.length; first = next) {
    const { recordType, recordId } = amounts[first]!
    const ofCounter = new Sums()
    for (; amounts[next]?.recordId === recordId && amounts[next]?.recordType === recordType; next++) {
      const { at, amount } = amounts[next]!
      let periods = starts.get(at.getTime())
      if (periods === undefined) {
        periods = CALENDAR.map((period) => `${PERIODS[period]},${literal(startOf(period, at))}`)
        starts.set(at.getTime(), periods)
      }
      for (const period of periods) ofCounter.add(period, amount)
    }
    rows.push(ofCounter.rows(`${recordType},${recordId},`))
  }
  return rows.join(',')
}

/** Amounts by their instant. */
function byInstant(amounts: readonly DayAmount[]): Iterable<[Date, DayAmount[]]> {
  return Map.groupBy(amounts, ({ at }) => at.getTime())
    .entries()
    .map(([milliseconds, some]) => [new Date(milliseconds), some])
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
  await additionToCalendar({ ...amounts, undated: [{ ...addressOf(counter), amount: adjusted }] }, place)(transaction)
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
  await additionToCalendar({ ...amountsOf(counter, days, -1n), undated }, place)(transaction)
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

  [Symbol.iterator](): Iterator<[string, bigint]> {
    return this.#sums[Symbol.iterator]()
  }

  /**
   * The rows of an INSERT, sorted so that no two transactions lock rows in opposite orders.
   *
   * @param prefix of each address
   */
  rows(prefix = ''): string {
    return [...this.#sums]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([address, sum]) => `(${prefix}${address},${sum})`)
      .join(',')
  }
}

/** A time as an SQL literal: UTC, whole seconds. */
function literal(time: Date): string {
  return `'${time.toISOString().slice(0, 19).replace('T', ' ')}'`
}
