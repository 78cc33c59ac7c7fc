import { countStatements, type Database, type Executor } from '../../database/database.ts'
import { withRetries } from '../../database/retry-and-breaker.ts'
import { toBigInt, toDate, toText } from '../../database/values.ts'
import { type RunBudgets, readRuns, TASK_BUCKET, VERIFICATION } from '../background-runs.ts'
import { ADJUSTMENTS_SUM, DAY_MS, dayText, midnightOf, PERIODS, startOf, timeText } from '../calendar.ts'
import { type CounterPlace, counterId, distinct } from '../counter-address.ts'
import { counterSql, readByCounter } from '../counters-sql.ts'
import { IMPORT_LANE, readOldestHour } from '../ledger/history-addition.ts'
import { LARGEST_ID } from '../ranges.ts'

/** The most counters of a page. */
export const MAX_VERIFIED = 500
/** Rows of each table that a page reads for each of its counters. It ends early when they are used up. */
const ROWS_PER_COUNTER = 40
/** Mismatches of one statement. */
const MAX_WRONG = 1_000
/** Earlier and later than any day. */
const [FIRST, LAST] = ['1000-01-01', '9999-12-31']

export const MISMATCHES = ['total', 'hours', 'day', 'month', 'adjustments'] as const

export interface Mismatch {
  recordType: number
  /** `null`: of the type. */
  recordId: bigint | null
  /**
   * The rule that is broken:
   * - `total` of a counter: it is the sum of its days and adjustments;
   * - `month` of a counter or type: it is the sum of its days;
   * - `hours` of a counter or type: a day without what was imported is the sum of its hours, while all of them are kept;
   * - `day` and `adjustments` of a type: each is the sum over its counters.
   */
  what: (typeof MISMATCHES)[number]
  /** The day, or the first one of the month; `null` for totals and adjustments. */
  start: string | null
  is: bigint
  shouldBe: bigint
}

/** Where a page begins: its phase, record type and start, which is a record id or a day; empty for the first one. */
const POSITION = /^(?:counters\.\d{1,5}\.(\d{0,20})|days\.\d{1,5}\.(\d{4}-\d\d-\d\d)?)$/
/** First come the counters of all types, then the days of types. */
export const FIRST_POSITION = 'counters.0.'

export function isPosition(text: string): boolean {
  const [found, id = '', day = FIRST] = POSITION.exec(text) ?? []
  return found !== undefined && BigInt(id) <= LARGEST_ID && midnightOf(day) >= Date.parse(FIRST)
}

/** A mismatch with the key of its counter, if it has one. */
export type KeyedMismatch = Mismatch & { key: string | null }

interface Page {
  recordType: number
  start: string
  limit: number
  firstDay: string
  /** The most rows of each table, unless a single counter or day has more. */
  rows: number
}

/**
 * Checks one page: whether the tables agree (`Mismatch.what`). Each comparison is one statement, and so sees changes whole or not at all. A
 * mismatch is reported only if a second reading has it too. Pending slots would be on both sides of every sum.
 * @param from a position @param limit the most counters @param firstDay the first day whose hours are checked
 * @returns the mismatches with the keys of their counters, and the position of the next page; `null` after the last one
 */
export async function verifyPage(db: Executor, from: string, limit: number, firstDay: string) {
  const [phase, type, begin] = from.split('.') as ['counters' | 'days', string, string]
  const recordType = await nextRecordType(db, Number(type))
  if (recordType === null) return { checked: 0, wrong: [], next: phase === 'counters' ? 'days.0.' : null }
  const start = recordType === Number(type) ? begin : ''
  const page = { recordType, start, limit, firstDay, rows: limit * ROWS_PER_COUNTER }
  const { checked, next, key, sides } = await (phase === 'counters' ? counterPage : dayPage)(db, page)
  const place = ({ recordId, what, start }: Mismatch) => `${recordId} ${what} ${start}`
  const first = new Set((await mismatches(db, key, sides)).map(place))
  const wrong = first.size === 0 ? [] : (await mismatches(db, key, sides)).filter((found) => first.has(place(found)))
  const following = next === null ? `${phase}.${recordType + 1}.` : `${phase}.${recordType}.${next}`
  return { checked, wrong: await withKeys(db, wrong), next: following }
}

/** The first record type, from a number on, that has anything to check; `null` if there is none. */
async function nextRecordType(db: Executor, recordType: number): Promise<number | null> {
  const tables = ['counters', 'counter_periods', 'counter_history', 'counter_adjustments', 'type_history']
  const selects = tables.map(
    (table) => `SELECT MIN(record_type) AS record_type FROM ${table} WHERE record_type >= ${recordType}`,
  )
  const { rows } = await db.execute(
    `SELECT MIN(record_type) AS record_type FROM (${selects.join(' UNION ALL ')}) AS types`,
  )
  const first = rows[0]!.record_type
  return first === null ? null : Number(first)
}

/** The next counters of a type, in the order of their ids. One with too many rows has a page of its own. */
async function counterPage(db: Executor, { recordType, start, limit, rows, firstDay }: Page) {
  const first = BigInt(start)
  const idsOf = (table: string, most: number) => `SELECT record_id FROM ${table} FORCE INDEX (PRIMARY)
    WHERE record_type = ${recordType} AND record_id >= ${first} ORDER BY record_id LIMIT ${most}`
  // The inner limits bound what is read.
  const ends = ['counter_adjustments', 'counter_periods', 'counter_history'].map(
    (table, i) => `SELECT MAX(record_id) AS last, COUNT(*) AS found FROM (${idsOf(table, rows)}) AS part_${i}`,
  )
  const [ids, found] = await Promise.all([
    db.execute(idsOf('counters', limit + 1)),
    db.execute(ends.join(' UNION ALL ')),
  ])
  const counters = ids.rows.map(({ record_id }) => toBigInt(record_id))
  const full = found.rows.filter(({ found }) => Number(found) === rows).map(({ last }) => toBigInt(last))
  // The last counter may have more rows than were read, so it is left to the next page, unless it is the first one.
  const lasts = [...counters.slice(limit - 1, counters.length - 1), ...full.map((id) => (id > first ? id - 1n : id))]
  const last = lasts.reduce((a, b) => (a < b ? a : b), LARGEST_ID)
  const range = `record_type = ${recordType} AND record_id >= ${first} AND record_id <= ${last}`
  const checked = counters.filter((id) => id <= last).length
  const next = last === LARGEST_ID ? null : String(last + 1n)
  return { checked, next, key: OF_COUNTERS, sides: sumsOfCounters(range, firstDay) }
}

/** The next days of a type. The first page has its other sums too. A day is never split: only one statement reads one snapshot. */
async function dayPage(db: Executor, { recordType, start, rows, firstDay }: Page) {
  const begin = start || FIRST
  const days = `counter_periods FORCE INDEX (ranking) WHERE record_type = ${recordType} AND period = ${PERIODS.day}`
  const { rows: ends } = await db.execute(
    `SELECT MAX(period_start) AS last, COUNT(*) AS found FROM (
       SELECT period_start FROM ${days} AND period_start >= '${begin}' ORDER BY period_start LIMIT ${rows}) AS parts`,
  )
  const { last: end, found } = ends[0]!
  const last = Number(found) < rows ? LAST : String(end).slice(0, 10)
  const sides = daysOfType(recordType, `period_start BETWEEN '${begin}' AND '${last}'`)
  if (start === '') sides.push(...sumsOfType(recordType, firstDay))
  const next = last === LAST ? null : dayText(Date.parse(last) + DAY_MS)
  return { checked: 0, next, key: OF_TYPES, sides }
}

/** Rows whose counts are sums (`is`), or parts of what these should be. `start`: SQL for the day; `from`: table and condition. */
type Side = readonly [what: Mismatch['what'], start: string, side: 'is' | 'shouldBe', from: string]

const NONE = 'CAST(NULL AS DATE)'
const DAY = 'DATE(period_start)'
const MONTH = `${DAY} - INTERVAL DAYOFMONTH(period_start) - 1 DAY`

function sumsOfCounters(where: string, firstDay: string): Side[] {
  const periods = 'counter_periods FORCE INDEX (PRIMARY)'
  const adjustments = `counter_adjustments FORCE INDEX (PRIMARY) WHERE ${where}`
  // An import adds to days but not to hours, and only to days up to that on which it was made.
  const keptHours = `LEFT JOIN (SELECT record_id AS imported_id, bucket AS imported_bucket, DATE(MAX(adjusted_at)) AS imported_on FROM ${adjustments}
      AND kind = 2 GROUP BY record_id, bucket) AS i ON imported_id = record_id AND imported_bucket = bucket
    WHERE ${where} AND period_start >= '${firstDay}' AND (imported_on IS NULL OR ${DAY} > imported_on)`
  return [
    ['total', NONE, 'is', `counters FORCE INDEX (PRIMARY) WHERE ${where}`],
    ['total', NONE, 'shouldBe', adjustments],
    ['total', NONE, 'shouldBe', `${periods} WHERE ${where} AND period = ${PERIODS.day}`],
    ['month', DAY, 'is', `${periods} WHERE ${where} AND period = ${PERIODS.month}`],
    ['month', MONTH, 'shouldBe', `${periods} WHERE ${where} AND period = ${PERIODS.day}`],
    ['hours', DAY, 'is', `counter_history FORCE INDEX (PRIMARY) ${keptHours}`],
    ['hours', DAY, 'shouldBe', `${periods} ${keptHours} AND period = ${PERIODS.day}`],
  ]
}

function sumsOfType(recordType: number, firstDay: string): Side[] {
  const history = `type_history WHERE record_type = ${recordType} AND period =`
  const kept = `AND period_start >= '${firstDay}'`
  return [
    ['month', DAY, 'is', `${history} ${PERIODS.month}`],
    ['month', MONTH, 'shouldBe', `${history} ${PERIODS.day}`],
    ['hours', DAY, 'is', `${history} ${PERIODS.hour} ${kept}`],
    ['hours', DAY, 'shouldBe', `${history} ${PERIODS.day} ${kept} AND range_lane & ${IMPORT_LANE} = 0`],
    ['adjustments', NONE, 'is', `${history} ${ADJUSTMENTS_SUM}`],
    ['adjustments', NONE, 'shouldBe', `counter_adjustments FORCE INDEX (PRIMARY) WHERE record_type = ${recordType}`],
  ]
}

/** @param within an SQL condition on `period_start` */
function daysOfType(recordType: number, within: string): Side[] {
  const days = `WHERE record_type = ${recordType} AND period = ${PERIODS.day} AND ${within}`
  return [
    ['day', DAY, 'is', `type_history ${days}`],
    ['day', DAY, 'shouldBe', `counter_periods FORCE INDEX (ranking) ${days}`],
  ]
}

/** What is wrong with one counter, whose row is locked. @param firstDay from `firstDayWithHours`, before the transaction */
export function counterMismatches(db: Executor, counter: CounterPlace, firstDay: string) {
  return mismatches(db, OF_COUNTERS, sumsOfCounters(counterSql(counter), firstDay))
}

/** What is wrong with some days of a type, and with its other sums. */
export function typeMismatches(db: Executor, recordType: number, days: readonly string[], firstDay: string) {
  const some = `period_start IN (${days.map((day) => `'${day}'`).join(',')})`
  const ofDays = days.length === 0 ? [] : daysOfType(recordType, some)
  return mismatches(db, OF_TYPES, [...sumsOfType(recordType, firstDay), ...ofDays])
}

const OF_COUNTERS = 'record_type, record_id, bucket'
const OF_TYPES = 'record_type'

/**
 * Compares sums in one statement. vtgate sends it whole to each shard, because the sides are not grouped, and adds up the results. A
 * change adds to both sides of a shard's sums in one transaction, so it does not matter when each shard is read.
 */
async function mismatches(db: Executor, key: string, sides: readonly Side[]): Promise<Mismatch[]> {
  const parts = sides.map(([what, start, side, from]) => {
    const counts = side === 'is' ? 'count AS recorded, 0 AS expected' : '0 AS recorded, count AS expected'
    return `SELECT ${key}, '${what}' AS what, ${start} AS start, ${counts} FROM ${from}`
  })
  const { rows } = await db.execute(
    `SELECT ${key}, what, start, SUM(recorded) AS recorded, SUM(expected) AS expected FROM (${parts.join(' UNION ALL ')}) AS parts
     GROUP BY ${key}, what, start HAVING SUM(recorded) <> SUM(expected) ORDER BY ${key}, what, start LIMIT ${MAX_WRONG}`,
  )
  return rows.map(({ record_type, record_id = null, what, start, recorded, expected }) => ({
    recordType: Number(record_type),
    recordId: record_id === null ? null : toBigInt(record_id),
    what: String(what) as Mismatch['what'],
    start: start === null ? null : String(start).slice(0, 10),
    is: toBigInt(recorded),
    shouldBe: toBigInt(expected),
  }))
}

async function withKeys(db: Executor, wrong: readonly Mismatch[]): Promise<KeyedMismatch[]> {
  const counters = wrong.filter(({ recordId }) => recordId !== null) as CounterPlace[]
  const rows = counters.length === 0 ? null : await readByCounter(db, 'name', distinct(counters))
  return wrong.map((found) => {
    const row = rows?.get(counterId(found as CounterPlace))
    return { ...found, key: row === undefined ? null : toText(row.name) }
  })
}

/**
 * The first day of which all hours must exist. They expire after `hourDays`, oldest first, and raising that brings none back, but an
 * import may add older ones. So it is after the oldest hour and after those deleted or being deleted, but yesterday at the latest.
 */
export async function firstDayWithHours(db: Executor, at: Date, hourDays: number): Promise<string> {
  const [oldest, { expiredBefore }] = await Promise.all([readOldestHour(db), readRuns(db)])
  const today = startOf('day', at).getTime()
  const afterOldest = oldest === null ? today : startOf('day', oldest).getTime() + DAY_MS
  // A margin of one day for clock differences and time limits.
  const kept = today - (hourDays - 1) * DAY_MS
  return dayText(Math.min(today - DAY_MS, Math.max(afterOldest, kept, Number(expiredBefore))))
}

/** The most statements of a page: its type, 2 for its end, 2 comparisons, keys. */
const PAGE_STATEMENTS = 6
/** The fewest statements of a run with a page: reading and beginning the round, 2 for its first day, the page, writing the position. */
export const LEAST_ROUND_STATEMENTS = 4 + PAGE_STATEMENTS + 1
/** A round that has not ended after this begins again: its first pages say nothing about today. */
const MAX_ROUND_MS = 14 * DAY_MS
/** Mismatches that are stored. `npm run verify` lists all. */
const MAX_FOUND = 10

/**
 * Continues the day's check of all sums (in UTC), within its budgets. The round ends with its last page or the first mismatch. Of runs that
 * continue at one position, one is recorded. @param options `at`: the scheduled time of the run; `limit`: the counters of a page
 * @returns what this run checked; `null`: today's round is over
 */
export async function continueRound(
  database: Database,
  options: RunBudgets & { at: Date; hourDays: number; limit: number },
) {
  const { at, maxStatements, maxSeconds = Number.POSITIVE_INFINITY } = options
  const counted = countStatements(database)
  const db = withRetries(counted)
  const began = Date.now()
  const round = await openRound(db, at)
  if (round === null) return null
  const firstDay = await firstDayWithHours(db, at, options.hourDays)
  let from: string | null = round.position
  let checked = 0
  let wrong: KeyedMismatch[] = []
  while (from !== null && wrong.length === 0) {
    if (counted.sent + PAGE_STATEMENTS + 1 > maxStatements || Date.now() - began >= maxSeconds * 1_000) break
    const page = await verifyPage(db, from, options.limit, firstDay)
    checked += page.checked
    wrong = page.wrong
    from = page.next
  }
  const outcome = wrong.length > 0 ? 'wrong' : from === null ? 'agrees' : 'partial'
  // A mismatch ends the round, whatever other runs found. Otherwise nothing is written if another run has moved it meanwhile.
  const unmoved = `AND round_begun_at = '${round.begunAt}' AND position = '${round.position}'`
  const [change, condition] = {
    wrong: ['position = NULL, agreed_at = NULL, found = ?', ''],
    agrees: [`position = NULL, agreed_at = '${timeText(at)}', found = NULL`, unmoved],
    partial: [`position = '${from}'`, unmoved],
  }[outcome]
  const found = wrong.slice(0, MAX_FOUND)
  const args = [JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? `${value}` : value))]
  await db.execute(
    `UPDATE background_runs SET finished_at = UTC_TIMESTAMP(3), ${change} WHERE task = ${VERIFICATION} AND bucket = ${TASK_BUCKET} ${condition}`,
    outcome === 'wrong' ? args : [],
  )
  return { outcome, checked, wrong: wrong.length, statements: counted.sent, milliseconds: Date.now() - began } as const
}

/** The position of the round under way, and when it began. Begins one if none is, or it is too old. `null`: today's is over. */
async function openRound(db: Executor, at: Date) {
  const { rows } = await db.execute(
    `SELECT position, round_begun_at FROM background_runs WHERE task = ${VERIFICATION} AND bucket = ${TASK_BUCKET}`,
  )
  const { position = null, round_begun_at = null } = rows[0] ?? {}
  const begun = toDate(round_begun_at)
  if (begun !== null && position === null && dayText(begun) === dayText(at)) return null
  const isRecent = begun !== null && Math.abs(at.getTime() - begun.getTime()) <= MAX_ROUND_MS
  // Another version may have written another position.
  if (isRecent && isPosition(String(position))) return { begunAt: timeText(begun), position: String(position) }
  const round = { begunAt: timeText(at), position: FIRST_POSITION }
  await db.execute(
    `INSERT INTO background_runs (task, bucket, finished_at, position, round_begun_at)
     VALUES (${VERIFICATION}, ${TASK_BUCKET}, UTC_TIMESTAMP(3), '${round.position}', '${round.begunAt}')
     ON DUPLICATE KEY UPDATE position = VALUES(position), round_begun_at = VALUES(round_begun_at)`,
  )
  return round
}
