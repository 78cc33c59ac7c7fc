import type { Executor } from '../../database/database.ts'
import { toDate } from '../../database/values.ts'
import { ADJUSTMENTS_SUM, type CalendarPeriod, NO_PERIOD, PERIODS, startOf, timeText } from '../calendar.ts'
import type { CounterPlace } from '../keys/counter-address.ts'

export interface PeriodAmount extends CounterPlace {
  amount: bigint
}

const CALENDAR = ['day', 'month'] as const satisfies CalendarPeriod[]
const HOURLY = ['hour', ...CALENDAR] as const satisfies CalendarPeriod[]

/**
 * Prepares to add counts to the periods that contain an instant, of each counter and of its type: writes the statements.
 * @param amounts in primary key order, each counter once
 * @param rangeLane the lane of the range in the history of types (`laneOf`)
 * @param undated adjustments that the same transaction adds to the sums of the types
 * @returns sends the statements. Call it in the transaction that adds the same amounts to the totals, so that the history
 *   always accounts for the totals.
 */
export function additionToPeriods(
  amounts: readonly PeriodAmount[],
  at: Date,
  rangeLane: bigint,
  undated: readonly PeriodAmount[] = [],
): (transaction: Executor) => Promise<void> {
  // Integers and times, written into the statement: see applyBatch.
  const hour = timeText(startOf('hour', at))
  const starts = CALENDAR.map((period) => startSql(period, at))
  const ofHours: string[] = []
  const ofDays: string[] = []
  const hourly: DayAmount[] = []
  for (const { recordType, recordId, amount } of amounts) {
    if (amount === 0n) continue
    const counter = `${recordType},${recordId}`
    ofHours.push(`(${counter},'${hour}',${amount})`)
    for (const start of starts) ofDays.push(`(${counter},${start},${amount})`)
    hourly.push({ recordType, recordId, amount, at })
  }
  const ofTypes = rowsOfTypes({ hourly, undated }, rangeLane)
  return async (transaction) => {
    await addRows(transaction, HOURS, ofHours.join(','))
    await addRows(transaction, DAYS, ofDays.join(','))
    await addRows(transaction, TYPES, ofTypes)
  }
}

/** The number and the start of the period that contains an instant, as SQL. */
function startSql(period: CalendarPeriod, at: Date): string {
  return `${PERIODS[period]},'${timeText(startOf(period, at))}'`
}

const HOURS = 'counter_history (record_type, record_id, period_start, count)'
const DAYS = 'counter_periods (record_type, record_id, period, period_start, count)'
const TYPES = 'type_history (record_type, period, period_start, range_lane, count)'

async function addRows(
  transaction: Executor,
  table: typeof HOURS | typeof DAYS | typeof TYPES,
  rows: string,
): Promise<void> {
  if (rows === '') return
  await transaction.execute(`INSERT INTO ${table} VALUES ${rows} ON DUPLICATE KEY UPDATE count = count + VALUES(count)`)
}

/** Added to the lane for amounts without an hour: the imported part of a day has its own rows. Larger than any lane. */
export const IMPORT_LANE = 64n

export interface DayAmount extends PeriodAmount {
  at: Date
}

/**
 * Adds amounts of which only the day is known to the days and months of each counter and of its type, and adjustments to
 * the sums of the types.
 * @param amounts in primary key order, all in one range; a counter may occur for several days
 * @param adjustments those that the transaction adds to `counter_adjustments`, or takes away
 */
export async function addToDays(
  transaction: Executor,
  amounts: readonly DayAmount[],
  adjustments: readonly PeriodAmount[],
  rangeLane: bigint,
): Promise<void> {
  await addRows(transaction, DAYS, rowsOfCounters(amounts))
  await addToTypes(transaction, { daily: amounts, undated: adjustments }, rangeLane)
}

/** Amounts of which the hour, the day or, for adjustments, no time is known. */
export interface CalendarAmounts {
  hourly?: readonly DayAmount[]
  daily?: readonly DayAmount[]
  undated?: readonly PeriodAmount[]
}

/** The rows by which amounts change the history of their types. */
function rowsOfTypes({ hourly = [], daily = [], undated = [] }: CalendarAmounts, rangeLane: bigint): string {
  const rows: [address: string, amount: bigint][] = []
  const addPeriods = (amounts: readonly DayAmount[], periods: readonly CalendarPeriod[], lane: bigint) => {
    for (const [at, some] of Map.groupBy(amounts, ({ at }) => at.getTime())) {
      const starts = periods.map((period) => startSql(period, new Date(at)))
      for (const [recordType, amount] of amountsByType(some)) {
        for (const start of starts) rows.push([`${recordType},${start},${lane}`, amount])
      }
    }
  }
  addPeriods(hourly, HOURLY, rangeLane)
  addPeriods(daily, CALENDAR, rangeLane + IMPORT_LANE)
  for (const [recordType, amount] of amountsByType(undated.filter(({ amount }) => amount !== 0n))) {
    rows.push([`${recordType},${ADJUSTMENTS_SUM},'${NO_PERIOD}',${rangeLane}`, amount])
  }
  return summedRows(rows)
}

/** Amounts by type, summed first because there are far more amounts than types and periods. */
function amountsByType(amounts: readonly PeriodAmount[]): Map<number, bigint> {
  const sums = new Map<number, bigint>()
  for (const { recordType, amount } of amounts) sums.set(recordType, (sums.get(recordType) ?? 0n) + amount)
  return sums
}

/** The rows of an INSERT for days and months. `amounts` are in primary key order, the order of locks. */
function rowsOfCounters(amounts: readonly DayAmount[]): string {
  const byCounter = Map.groupBy(amounts, ({ recordType, recordId }) => `${recordType},${recordId},`)
  const rows = [...byCounter].map(([counter, ofCounter]) => {
    const amounts = ofCounter.flatMap(({ at, amount }) =>
      CALENDAR.map((period): [string, bigint] => [startSql(period, at), amount]),
    )
    return summedRows(amounts, counter)
  })
  return rows.join(',')
}

/** Changes the history of types alone, in the transaction that changes that of their counters. */
export async function addToTypes(transaction: Executor, amounts: CalendarAmounts, rangeLane: bigint): Promise<void> {
  await addRows(transaction, TYPES, rowsOfTypes(amounts, rangeLane))
}

/** What is added to one row of the history, without the periods around it. `start`: as SQL writes it */
export interface RowAmount {
  period: number
  start: string
  amount: bigint
}

/** Adds to single rows of a counter and of its type: for repairs. */
export async function addToSingleRows(
  transaction: Executor,
  { recordType, recordId }: CounterPlace,
  { ofCounter, ofType }: { ofCounter: readonly RowAmount[]; ofType: readonly RowAmount[] },
  rangeLane: bigint,
): Promise<void> {
  const text = (rows: readonly RowAmount[], row: (amount: RowAmount) => string) => rows.map(row).join(',')
  const hours = ofCounter.filter(({ period }) => period === PERIODS.hour)
  const days = ofCounter.filter(({ period }) => period !== PERIODS.hour)
  const counter = `${recordType},${recordId}`
  await addRows(
    transaction,
    HOURS,
    text(hours, ({ start, amount }) => `(${counter},'${start}',${amount})`),
  )
  await addRows(
    transaction,
    DAYS,
    text(days, ({ period, start, amount }) => `(${counter},${period},'${start}',${amount})`),
  )
  await addRows(
    transaction,
    TYPES,
    text(ofType, ({ period, start, amount }) => `(${recordType},${period},'${start}',${rangeLane},${amount})`),
  )
}

/** The oldest hour in the history; `null` if there is none. */
export async function readOldestHour(db: Executor): Promise<Date | null> {
  const { rows } = await db.execute('SELECT MIN(period_start) AS oldest FROM counter_history')
  return toDate(rows[0]?.oldest ?? null)
}

/** The rows of an INSERT with the sum of each address, sorted so that no two transactions lock rows in opposite orders. */
function summedRows(amounts: readonly [address: string, amount: bigint][], prefix = ''): string {
  const sums = new Map<string, bigint>()
  for (const [address, amount] of amounts) sums.set(address, (sums.get(address) ?? 0n) + amount)
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([address, sum]) => `(${prefix}${address},${sum})`)
    .join(',')
}
