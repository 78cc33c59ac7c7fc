import type { Executor } from '../database/database.ts'
import { toBigInt, toDate } from '../database/numbers.ts'
import { type Counter, counterId } from './counter.ts'
import { pendingOf } from './pending.ts'

/** Most counters one statement reads. */
export const MAX_READ = 1_000

/** What a counter says. `total + pending` is the count. */
export interface Reading {
  total: bigint
  pending: bigint
  /** When something of this counter was last rolled up; `null`: never. */
  rolledUpAt: Date | null
}

/** What a counter says that was never counted. */
const NOTHING: Reading = { total: 0n, pending: 0n, rolledUpAt: null }

/**
 * Reads counters, in the order given. A counter that was never counted reads as zeros.
 *
 * `exact` reads totals and pending slots in one statement, hence from one snapshot: no roll-up can be seen half done. `rolled`
 * reads the totals alone, one row per counter.
 *
 * @param counters at most `MAX_READ`, of any types
 * @throws {DatabaseFailure}
 */
export async function readCounters(
  db: Executor,
  counters: readonly Counter[],
  consistency: 'exact' | 'rolled' = 'exact',
): Promise<Reading[]> {
  const addresses = new Map(counters.map((counter) => [counterId(counter), counter]))
  const different = [...addresses.values()]
  if (different.length === 0) return []
  if (different.length === 1 && consistency === 'exact') {
    const reading = await readOne(db, different[0]!)
    return counters.map(() => reading)
  }
  const { rows } = await db.execute(consistency === 'exact' ? exactSql(different) : rolledSql(different))
  const readings = new Map(
    rows.map((row) => [
      counterId({ recordType: Number(row.record_type), recordId: toBigInt(row.record_id) }),
      readingOf(row),
    ]),
  )
  return counters.map((counter) => readings.get(counterId(counter)) ?? NOTHING)
}

/**
 * One counter, exactly: its total, of which there is at most one, as an aggregate, so that there is a row without it, too. No
 * temporary table is needed that everything is put into before it is added up.
 */
async function readOne(db: Executor, counter: Counter): Promise<Reading> {
  const { rows } = await db.execute(
    `SELECT COALESCE(MAX(count), 0) AS total, ${pendingOf(counter)} AS pending, MAX(rolled_up_at) AS rolled_up_at
     FROM counter_totals WHERE record_type = ${counter.recordType} AND record_id = ${counter.recordId}`,
  )
  return readingOf(rows[0]!)
}

const readingOf = (row: Record<string, unknown>): Reading => ({
  total: toBigInt(row.total),
  pending: toBigInt(row.pending),
  rolledUpAt: toDate(row.rolled_up_at),
})

/** What is rolled up of several counters: a row for each that was ever rolled up. */
function rolledSql(counters: readonly Counter[]): string {
  // Pairs, not record_id IN (…): MariaDB cannot use an index for a list of numbers below and above 2^63 and would read all
  // counters of the type. The indexes are named because a long list makes the optimizers guess instead of look
  // (eq_range_index_dive_limit). Integers, written out rather than bound: see applyBatch.
  return `SELECT record_type, record_id, count AS total, 0 AS pending, rolled_up_at
    FROM counter_totals FORCE INDEX (PRIMARY)
    WHERE (record_type, record_id) IN (${pairsOf(counters)
      .map((pair) => `(${pair})`)
      .join(',')})`
}

/** Several counters, exactly: a row for each that was ever counted. */
function exactSql(counters: readonly Counter[]): string {
  const slots = `SELECT record_type, record_id, 0, count, NULL
    FROM slotted_counters FORCE INDEX (pending)
    WHERE (pending, record_type, record_id) IN (${pairsOf(counters)
      .map((pair) => `(1,${pair})`)
      .join(',')})`
  return `SELECT record_type, record_id, SUM(total) AS total, SUM(pending) AS pending, MAX(rolled_up_at) AS rolled_up_at
    FROM (${rolledSql(counters)} UNION ALL ${slots}) AS parts GROUP BY record_type, record_id`
}

const pairsOf = (counters: readonly Counter[]) =>
  counters.map(({ recordType, recordId }) => `${recordType},${recordId}`)
