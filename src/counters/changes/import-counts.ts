import type { Database, Executor } from '../../database/database.ts'
import { classify, DatabaseFailure } from '../../database/errors.ts'
import { toBigInt } from '../../database/values.ts'
import { startOf } from '../calendar.ts'
import { readByCounter } from '../counters-sql.ts'
import { hash64 } from '../ids.ts'
import { byPrimaryKey, type CounterAddress, counterId } from '../keys/counter-address.ts'
import { ensureNames } from '../keys/names.ts'
import { addToDays } from '../ledger/periods.ts'
import {
  addToTotals,
  createTotals,
  fitsTotal,
  lockTotals,
  outOfRange,
  recordAdjustments,
  type TotalsStore,
} from '../ledger/totals.ts'
import { boundsOf, laneOf, rowsByRange } from '../ranges.ts'
import { makeChange, tieKey } from './change.ts'

/** The most of one attempt: BEGIN, read, missing totals, names, lock, totals, 2 for history, adjustments, COMMIT, ROLLBACK. */
const ATTEMPT_STATEMENTS = 11

export interface ImportRow {
  counter: CounterAddress
  count: bigint
  /** Any instant of its UTC day; `null` if the day is unknown. */
  day: Date | null
}

interface CounterImport extends CounterAddress {
  amount: bigint
  /** The part of `amount` without a day. */
  undated: bigint
  days: { at: Date; amount: bigint }[]
}

/**
 * Adds counts from elsewhere to the totals: in each range all of them or none. Dated counts go into the history, others become
 * adjustments. Every counter gets an adjustment, if only of 0: it says that days may exceed their hours. Sending an import
 * again completes it.
 * @param options `id`: the hash of the idempotency key
 * @returns `repeated` if all of it was imported before
 * @throws {KeyReused} the id was used for other rows, or with another number of ranges; nothing was changed
 * @throws {Overtaken} every attempt was overtaken; nothing was changed
 * @throws {DatabaseFailure} of kind `range` if a total would leave 64 bits; `applied` is `unknown` if some ranges have it
 */
export async function importCounts(
  store: TotalsStore,
  rows: readonly ImportRow[],
  options: { id: bigint; at: Date },
): Promise<'imported' | 'repeated'> {
  const { ranges } = store.db
  // With another number of ranges, the parts differ and must not pass for the former ones.
  const [contents, partHash] = await Promise.all([hash64(contentsOf(rows, ranges)), hash64(`part ${options.id}`)])
  const whole = { recordId: 0n, hash: options.id, contents }
  const parts = [...rowsByRange(sumByCounter(rows), ranges)]
  try {
    if (ranges > 1) await tieKey(store.db, whole)
    // One range without room refuses the import in all of them.
    if (parts.length > 1) await checkRanges(store.db, parts, partHash)
  } catch (error) {
    throw error instanceof DatabaseFailure ? error.withApplied('no') : error
  }
  const outcomes = await Promise.allSettled(
    parts.map(([range, part]) => {
      const key = ranges === 1 ? whole : { recordId: boundsOf(range, ranges).first, hash: partHash, contents }
      return makeChange(store, {
        key,
        statements: ATTEMPT_STATEMENTS,
        attempt: (transaction, db) => attemptToImport(transaction, db, part, options),
      })
    }),
  )
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  const imported = outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value === 'done')
  if (failed !== undefined) throw imported ? classify(failed.reason).withApplied('unknown') : failed.reason
  return imported ? 'imported' : 'repeated'
}

/** Checks that every total has room, in the ranges that lack their part. @throws {DatabaseFailure} of kind `range` */
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

async function attemptToImport(
  transaction: Executor,
  db: Database,
  imports: readonly CounterImport[],
  options: { id: bigint; at: Date },
): Promise<void> {
  const totals = await readTotals(transaction, imports)
  checkRoom(imports, totals)
  const read = imports.map((each) => ({ ...each, version: totals.get(counterId(each))?.version ?? null }))
  // Outside the transaction, so that the rows stay if this attempt is overtaken.
  const changes = await createTotals(db, read)
  await ensureNames(db, imports)
  const undated = imports.map(({ recordType, recordId, undated }) => ({ recordType, recordId, amount: undated }))
  // The lock order of roll-ups: totals, days, types.
  await lockTotals(transaction, changes)
  await addToTotals(transaction, changes, null)
  await addToDays(
    transaction,
    imports.flatMap(({ recordType, recordId, days }) => days.map((day) => ({ recordType, recordId, ...day }))),
    undated,
    laneOf(db, imports[0]!),
  )
  await recordAdjustments(transaction, 'import', undated, options.at)
}

/** @throws {DatabaseFailure} of kind `range` if a total would leave 64 bits */
function checkRoom(imports: readonly CounterImport[], totals: Awaited<ReturnType<typeof readTotals>>): void {
  for (const each of imports) {
    const total = totals.get(counterId(each))?.total ?? 0n
    if (!fitsTotal(each.amount) || !fitsTotal(total + each.amount)) throw outOfRange()
  }
}

/** The same text for the same rows in any order, with the same number of ranges. */
function contentsOf(rows: readonly ImportRow[], ranges: number): string {
  const lines = rows.map(({ counter: { recordType, recordId }, count, day }) =>
    [recordType, recordId, count, day === null ? '' : startOf('day', day).toISOString()].join(),
  )
  return [ranges, ...lines.sort()].join('\n')
}

function sumByCounter(rows: readonly ImportRow[]): CounterImport[] {
  const sumOf = (some: readonly ImportRow[]) => some.reduce((sum, { count }) => sum + count, 0n)
  const imports = [...Map.groupBy(rows, ({ counter }) => counterId(counter)).values()].map((ofCounter) => ({
    ...ofCounter[0]!.counter,
    amount: sumOf(ofCounter),
    undated: sumOf(ofCounter.filter(({ day }) => day === null)),
    days: ofCounter.flatMap(({ day, count }) => (day === null ? [] : { at: day, amount: count })),
  }))
  return imports.sort(byPrimaryKey)
}

/** Reads totals without locks, by the id of their counter. */
async function readTotals(db: Executor, imports: readonly CounterImport[]) {
  const rows = await readByCounter(db, 'count, version', 'counter_totals', imports)
  return new Map(
    [...rows].map(([id, { count, version }]) => [id, { total: toBigInt(count), version: toBigInt(version) }]),
  )
}
