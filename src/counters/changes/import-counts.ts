import type { Database, Executor } from '../../database/database.ts'
import { classify, DatabaseFailure } from '../../database/errors.ts'
import { toBigInt } from '../../database/values.ts'
import { startOf } from '../calendar.ts'
import { counterListsSql } from '../counters-sql.ts'
import { hash64 } from '../ids.ts'
import { byPrimaryKey, type CounterAddress, counterId } from '../keys/counter-address.ts'
import { ensureNames } from '../keys/names.ts'
import { addToDays } from '../ledger/periods.ts'
import {
  addToTotals,
  changingTotals,
  createTotals,
  fitsTotal,
  type Ledger,
  lockTotals,
  outOfRange,
  recordAdjustments,
} from '../ledger/totals.ts'
import { boundsOf, byRange, laneOf } from '../ranges.ts'
import { makeChange, tieKey } from './change.ts'

/**
 * The most statements of one attempt: BEGIN, read, missing totals, names, lock, totals, two for the history, adjustments,
 * COMMIT, and ROLLBACK if that fails.
 */
const ATTEMPT_STATEMENTS = 11

/** A count from elsewhere. */
export interface ImportRow {
  counter: CounterAddress
  count: bigint
  /** Any instant of the UTC day on which it was counted; `null` if the day is unknown. */
  day: Date | null
}

/** The counts imported for one counter. */
interface CounterImport {
  counter: CounterAddress
  amount: bigint
  /** The part of `amount` without a day. */
  undated: bigint
  days: { at: Date; amount: bigint }[]
}

/**
 * Adds counts from elsewhere to the totals: in each range, all of them or none. Counts with a day go into the history as well;
 * counts without one become adjustments. Every counter gets an adjustment, of 0 if necessary: it tells that days may have more
 * than their hours. If the import got into some ranges only, sending it again completes it.
 *
 * @param options `id`: the hash of the idempotency key; `at`: the current time
 * @returns `repeated` if all of it was imported before
 * @throws {KeyReused} if other rows were to be imported under the same id before, or with another number of ranges; nothing was
 *   changed
 * @throws {Overtaken} if roll-ups or other changes overtook every attempt; nothing was changed
 * @throws {DatabaseFailure} of kind `range` if a total would leave 64 bits; its `applied` is `unknown` if some ranges have it
 */
export function importCounts(
  ledger: Ledger,
  rows: readonly ImportRow[],
  options: { id: bigint; at: Date },
): Promise<'imported' | 'repeated'> {
  return changingTotals(ledger, (database) => importByRange(database, rows, options))
}

async function importByRange(
  database: Database,
  rows: readonly ImportRow[],
  options: { id: bigint; at: Date },
): Promise<'imported' | 'repeated'> {
  const { ranges } = database
  // With another number of ranges the parts are others. They must not be mistaken for those of before.
  const [contents, partHash] = await Promise.all([hash64(contentsOf(rows, ranges)), hash64(`part ${options.id}`)])
  const whole = { recordId: 0n, hash: options.id, contents }
  const parts = [...byRange(sumByCounter(rows), ranges, ({ counter }) => counter.recordId)]
  try {
    if (ranges > 1) await tieKey(database, whole)
    // What must not be imported must not get into some of the ranges either.
    if (parts.length > 1) await checkRanges(database, parts, partHash)
  } catch (error) {
    throw error instanceof DatabaseFailure ? error.withApplied('no') : error
  }
  const outcomes = await Promise.allSettled(
    parts.map(([range, part]) => {
      const key = ranges === 1 ? whole : { recordId: boundsOf(range, ranges).first, hash: partHash, contents }
      const attempt = (transaction: Executor, db: Database) => attemptToImport(transaction, db, part, options)
      return makeChange(database, { key, statements: ATTEMPT_STATEMENTS, attempt })
    }),
  )
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) {
    const partly = outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value === 'done')
    throw partly ? classify(failed.reason).withApplied('unknown') : failed.reason
  }
  return outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value === 'done')
    ? 'imported'
    : 'repeated'
}

/**
 * Checks that every total has room, in the ranges that do not have their part yet.
 *
 * @throws {DatabaseFailure} of kind `range`
 */
async function checkRanges(
  database: Database,
  parts: readonly (readonly [number, readonly CounterImport[]])[],
  hash: bigint,
): Promise<void> {
  const firstOf = (range: number) => boundsOf(range, database.ranges).first
  const { rows } = await database.execute(
    `SELECT record_id FROM change_keys WHERE record_id IN (${parts.map(([range]) => firstOf(range)).join(',')}) AND key_hash = ${hash}`,
  )
  const done = new Set(rows.map(({ record_id }) => toBigInt(record_id)))
  const left = parts.filter(([range]) => !done.has(firstOf(range)))
  await Promise.all(left.map(async ([, part]) => checkRoom(part, await readTotals(database, part))))
}

/** @param imports all in one range */
async function attemptToImport(
  transaction: Executor,
  db: Database,
  imports: readonly CounterImport[],
  options: { id: bigint; at: Date },
): Promise<void> {
  const totals = await readTotals(transaction, imports)
  checkRoom(imports, totals)
  const read = imports.map(({ counter, amount }) => {
    return { ...addressOf(counter), amount, version: totals.get(counterId(counter))?.version ?? null }
  })
  // Outside the transaction, so that the rows stay if this attempt is overtaken.
  const changes = await createTotals(db, read)
  const counters = imports.map(({ counter }) => counter)
  await ensureNames(db, counters, 1)
  // The order in which roll-ups lock, too: totals, days, types.
  await lockTotals(transaction, changes)
  await addToTotals(transaction, changes, null)
  await addToDays(
    transaction,
    imports.flatMap(({ counter, days }) => days.map((day) => ({ ...addressOf(counter), ...day }))),
    imports.map(({ counter, undated }) => ({ ...addressOf(counter), amount: undated })),
    laneOf(db, counters[0]!),
  )
  const adjustments = imports.map(({ counter, undated }) => ({ ...addressOf(counter), count: undated }))
  await recordAdjustments(transaction, 'import', adjustments, options.at)
}

/** @throws {DatabaseFailure} of kind `range` if a total would leave 64 bits */
function checkRoom(imports: readonly CounterImport[], totals: ReadonlyMap<string, TotalSnapshot>): void {
  const fits = imports.every(({ counter, amount }) => {
    return fitsTotal((totals.get(counterId(counter))?.total ?? 0n) + amount) && fitsTotal(amount)
  })
  if (!fits) throw outOfRange()
}

/** The rows as a text, with the number of ranges. The order of the rows makes no difference to an import. */
function contentsOf(rows: readonly ImportRow[], ranges: number): string {
  const lines = rows.map(({ counter: { recordType, recordId }, count, day }) =>
    [recordType, recordId, count, day === null ? '' : startOf('day', day).toISOString()].join(),
  )
  return [ranges, ...lines.sort()].join('\n')
}

/** Adds up the rows of each counter. Counters are in primary key order. */
function sumByCounter(rows: readonly ImportRow[]): CounterImport[] {
  const imports = new Map<string, CounterImport>()
  for (const { counter, count, day } of rows) {
    const id = counterId(counter)
    let sum = imports.get(id)
    if (sum === undefined) {
      sum = { counter, amount: 0n, undated: 0n, days: [] }
      imports.set(id, sum)
    }
    sum.amount += count
    if (day === null) sum.undated += count
    else sum.days.push({ at: day, amount: count })
  }
  return [...imports.values()].sort((a, b) => byPrimaryKey(a.counter, b.counter))
}

function addressOf({ recordType, recordId }: CounterAddress) {
  return { recordType, recordId }
}

/** A total at one instant. */
interface TotalSnapshot {
  total: bigint
  version: bigint
}

/** Reads totals without locks, by the id of their counter. */
async function readTotals(db: Executor, imports: readonly CounterImport[]): Promise<Map<string, TotalSnapshot>> {
  const { rows } = await db.execute(
    counterListsSql(imports.map(({ counter }) => counter))
      .map(
        (list) =>
          `SELECT record_type, record_id, count, version FROM counter_totals FORCE INDEX (PRIMARY) WHERE ${list}`,
      )
      .join(' UNION ALL '),
  )
  return new Map(
    rows.map(({ record_type, record_id, count, version }) => [
      counterId({ recordType: Number(record_type), recordId: toBigInt(record_id) }),
      { total: toBigInt(count), version: toBigInt(version) },
    ]),
  )
}
