import type { Database, Executor } from '../../database/database.ts'
import { classify } from '../../database/errors.ts'
import { toBigInt } from '../../database/numbers.ts'
import { startOf } from '../calendar.ts'
import { counterListsSql } from '../counter-lists-sql.ts'
import { byPrimaryKey, type CounterAddress, counterId } from '../keys/counter-address.ts'
import { ensureNames } from '../keys/names.ts'
import { addToDays } from '../ledger/periods.ts'
import { recordAdjustments } from '../ledger/record-adjustments.ts'
import {
  addToTotals,
  changingTotals,
  createTotals,
  fitsTotal,
  type Ledger,
  lockTotals,
  outOfRange,
} from '../ledger/totals.ts'
import { byRange, laneOf } from '../ranges.ts'
import { tieKey } from './adjustment-keys.ts'
import { AlreadyApplied, beforeTransaction, retryUntilDone } from './attempts.ts'

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
 * counts without one become adjustments. Every counter gets an adjustment, of 0 if necessary. It marks the import, so that the
 * same import is recognized whenever it is sent again. If it got into some ranges only, sending it again completes it.
 *
 * @param options `id`: the hash of the idempotency key; `at`: the current time
 * @returns `repeated` if all of it was imported before
 * @throws {KeyReused} if other rows were to be imported under the same id before; nothing was changed
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
  await tieKey(database, options.id, contentsOf(rows))
  const imports = sumByCounter(rows)
  const parts = [...byRange(imports, database.ranges, ({ counter }) => counter.recordId)]
  // What must not be imported must not get into some of the ranges either.
  if (parts.length > 1) {
    await beforeTransaction(Promise.all(parts.map(([, part]) => missingOf(database, part, options.id))))
  }
  const outcomes = await Promise.allSettled(parts.map(([, part]) => attemptToImport(database, part, options)))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) {
    const partly = outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value === 'done')
    throw partly ? classify(failed.reason).withApplied('unknown') : failed.reason
  }
  return outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value === 'done')
    ? 'imported'
    : 'repeated'
}

/** @param imports all in one range */
function attemptToImport(
  database: Database,
  imports: readonly CounterImport[],
  options: { id: bigint; at: Date },
): Promise<'done' | 'repeated'> {
  return retryUntilDone(database, ATTEMPT_STATEMENTS, (db) =>
    db.transaction(async (transaction) => {
      // The first statement takes no locks: if its answer is lost, nobody can roll the transaction back.
      const missing = await beforeTransaction(missingOf(transaction, imports, options.id))
      if (missing.length === 0) throw new AlreadyApplied()
      const read = missing.map(({ counter, amount, version }) => ({ ...addressOf(counter), amount, version }))
      // Outside the transaction, so that the rows stay if this attempt is overtaken.
      const changes = await beforeTransaction(createTotals(db, read))
      const counters = missing.map(({ counter }) => counter)
      await beforeTransaction(ensureNames(db, counters, 1))
      // The order in which roll-ups lock, too: totals, days, types.
      await lockTotals(transaction, changes)
      await addToTotals(transaction, changes, null)
      await addToDays(
        transaction,
        missing.flatMap(({ counter, days }) => days.map((day) => ({ ...addressOf(counter), ...day }))),
        missing.map(({ counter, undated }) => ({ ...addressOf(counter), amount: undated })),
        laneOf(db, counters[0]!),
      )
      const adjustments = missing.map(({ counter, undated }) => ({ ...addressOf(counter), count: undated }))
      await recordAdjustments(transaction, 'import', adjustments, options)
    }),
  )
}

/**
 * The counters that do not have the import's mark yet, with the versions of their totals.
 *
 * @throws {DatabaseFailure} of kind `range` if a total would leave 64 bits
 */
async function missingOf(db: Executor, imports: readonly CounterImport[], id: bigint) {
  const counters = imports.map(({ counter }) => counter)
  const snapshots = await readTotals(db, counters, id)
  const missing = imports.flatMap((each) => {
    const snapshot = snapshots.get(counterId(each.counter))
    return snapshot?.applied ? [] : [{ ...each, total: snapshot?.total ?? 0n, version: snapshot?.version ?? null }]
  })
  if (!missing.every(({ total, amount }) => fitsTotal(total + amount) && fitsTotal(amount))) throw outOfRange()
  return missing
}

/** The rows as a text. Their order makes no difference to an import. */
function contentsOf(rows: readonly ImportRow[]): string {
  const lines = rows.map(({ counter: { recordType, recordId }, count, day }) =>
    [recordType, recordId, count, day === null ? '' : startOf('day', day).toISOString()].join(),
  )
  return lines.sort().join('\n')
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

/** A total at one instant, and whether the counter has the import's mark. */
interface TotalSnapshot {
  total: bigint
  /** `null` if there is no row. */
  version: bigint | null
  applied: boolean
}

/** Reads totals and marks without locks. A counter's total and mark are from one snapshot. */
async function readTotals(
  db: Executor,
  counters: readonly CounterAddress[],
  id: bigint,
): Promise<Map<string, TotalSnapshot>> {
  const { rows } = await db.execute(
    counterListsSql(counters)
      .map(
        (list) => `SELECT record_type, record_id, count AS total, version, 0 AS applied
          FROM counter_totals FORCE INDEX (PRIMARY) WHERE ${list}
        UNION ALL SELECT record_type, record_id, 0, NULL, 1
          FROM counter_adjustments FORCE INDEX (PRIMARY) WHERE ${list} AND adjustment_id = ${id}`,
      )
      .join(' UNION ALL '),
  )
  const snapshots = new Map<string, TotalSnapshot>()
  for (const row of rows) {
    const counter = counterId({ recordType: Number(row.record_type), recordId: toBigInt(row.record_id) })
    const { total, version, applied } = snapshots.get(counter) ?? { total: 0n, version: null, applied: false }
    snapshots.set(counter, {
      total: total + toBigInt(row.total),
      version: row.version === null ? version : toBigInt(row.version),
      applied: applied || toBigInt(row.applied) === 1n,
    })
  }
  return snapshots
}
