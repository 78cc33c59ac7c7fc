import type { Database, Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { preparing, recordAdjustments, untilDone } from './adjustments.ts'
import { byPrimaryKey, type Counter, counterId } from './counter.ts'
import { addToCalendar } from './history.ts'
import { storeNames } from './names.ts'
import { addToTotals, createTotals, fitsTotal, lockTotals, outOfRange, type TotalChange } from './totals.ts'

/**
 * Most statements of one attempt: read, missing totals, BEGIN, lock, totals, two for the history, adjustments, COMMIT, and
 * ROLLBACK if that fails.
 */
const ATTEMPT_STATEMENTS = 10

/** A number that was counted elsewhere. */
export interface ImportRow {
  counter: Counter
  count: bigint
  /** Any instant of the day (UTC) in which it was counted; `null`: nobody knows. */
  day: Date | null
}

/** What is imported for one counter. */
interface Share {
  counter: Counter
  amount: bigint
  /** The part of it without a day. */
  undated: bigint
  days: { at: Date; amount: bigint }[]
}

/**
 * Adds numbers that were counted elsewhere to the totals: all or none of them. Those with a day go into the history as well,
 * the others become adjustments. Every counter gets an adjustment, of 0 if need be, which is the mark by which the import is
 * recognised when it comes again, for ever.
 *
 * @param options `id`: hash of the idempotency key; `at`: now
 * @returns `repeated` if all of it was imported before
 * @throws {Overtaken} if roll-ups or others were faster every time; nothing was changed then
 * @throws {DatabaseFailure} of kind `range` if a total would leave 64 bits
 */
export async function importCounts(
  database: Database,
  rows: readonly ImportRow[],
  options: { id: bigint; at: Date },
): Promise<'imported' | 'repeated'> {
  const shares = shareOut(rows)
  const counters = shares.map(({ counter }) => counter)
  const named = counters.filter(({ name }) => name !== null)
  await preparing(storeNames(database, named))
  return untilDone(database, ATTEMPT_STATEMENTS, async (db, unsure) => {
    const seen = await preparing(readTotals(db, counters, options.id))
    // Marks and totals change together. That some counters have the mark and others have not comes about where they live on
    // different shards, whose commits do not depend on each other: what is missing is still to be done.
    const missing = shares.flatMap((share) => {
      const total = seen.get(counterId(share.counter))
      return total?.applied ? [] : [{ ...share, total: total?.total ?? 0n, version: total?.version ?? null }]
    })
    if (missing.length === 0) return unsure ? 'imported' : 'repeated'
    if (!missing.every(({ total, amount }) => fitsTotal(total + amount) && fitsTotal(amount))) throw outOfRange()
    const changes = missing.map(
      ({ counter, amount, version }): TotalChange => ({ ...addressOf(counter), amount, version }),
    )
    await preparing(createTotals(db, changes))
    // In the order in which roll-ups lock as well: totals, days, types.
    await db.transaction(async (transaction) => {
      await lockTotals(transaction, changes)
      await addToTotals(transaction, changes, null)
      await addToCalendar(
        transaction,
        missing.flatMap(({ counter, days }) => days.map((day) => ({ ...addressOf(counter), ...day }))),
      )
      const adjustments = missing.map(({ counter, undated }) => ({ ...addressOf(counter), count: undated }))
      await recordAdjustments(transaction, 'import', adjustments, options)
    })
    return 'imported'
  })
}

/** Adds up what is imported for each counter, in primary key order. */
function shareOut(rows: readonly ImportRow[]): Share[] {
  const shares = new Map<string, Share>()
  for (const { counter, count, day } of rows) {
    const id = counterId(counter)
    let share = shares.get(id)
    if (share === undefined) {
      share = { counter, amount: 0n, undated: 0n, days: [] }
      shares.set(id, share)
    }
    share.amount += count
    if (day === null) share.undated += count
    else share.days.push({ at: day, amount: count })
  }
  return [...shares.values()].sort((a, b) => byPrimaryKey(a.counter, b.counter))
}

function addressOf({ recordType, recordId }: Counter) {
  return { recordType, recordId }
}

/** A total, and whether it has the import's mark, at one instant. */
interface SeenTotal {
  total: bigint
  version: bigint
  applied: boolean
}

/** Reads totals and marks in one statement: from one snapshot, and without a lock. */
async function readTotals(db: Executor, counters: readonly Counter[], id: bigint): Promise<Map<string, SeenTotal>> {
  const { rows } = await db.execute(
    `SELECT t.record_type, t.record_id, t.count AS total, t.version, a.adjustment_id IS NOT NULL AS applied
     FROM counter_totals AS t FORCE INDEX (PRIMARY)
     LEFT JOIN counter_adjustments AS a
       ON a.record_type = t.record_type AND a.record_id = t.record_id AND a.adjustment_id = ?
     WHERE (t.record_type, t.record_id) IN (${counters.map(() => '(?, ?)').join(', ')})`,
    [id, ...counters.flatMap(({ recordType, recordId }) => [recordType, recordId])],
  )
  return new Map(
    rows.map((row) => [
      counterId({ recordType: Number(row.record_type), recordId: toBigInt(row.record_id) }),
      { total: toBigInt(row.total), version: toBigInt(row.version), applied: toBigInt(row.applied) === 1n },
    ]),
  )
}
