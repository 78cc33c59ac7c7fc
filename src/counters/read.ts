import type { Executor } from '../database/database.ts'
import { toBigInt, toDate } from '../database/numbers.ts'
import { type Counter, counterId } from './counter.ts'

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
 * `exact` reads totals and pending slots in one statement, hence from one snapshot: no roll-up can be seen half done. Only
 * slots that hold something are touched. `rolled` reads the totals alone, one row per counter.
 *
 * @param counters at most `MAX_READ`, of any types
 * @throws {DatabaseFailure}
 */
export async function readCounters(
  db: Executor,
  counters: readonly Counter[],
  consistency: 'exact' | 'rolled' = 'exact',
): Promise<Reading[]> {
  if (counters.length === 0) return []
  const addresses = new Map(counters.map((counter) => [counterId(counter), counter]))
  // Pairs, not record_id IN (…): MariaDB cannot use an index for a list of numbers below and above 2^63 and would read all
  // counters of the type. The indexes are named because a long list makes the optimizers guess instead of look
  // (eq_range_index_dive_limit). Integers, written out rather than bound: see applyBatch.
  const pairs = [...addresses.values()].map(({ recordType, recordId }) => `${recordType},${recordId}`)
  const totals = `SELECT record_type, record_id, count AS total, 0 AS pending, rolled_up_at
    FROM counter_totals FORCE INDEX (PRIMARY)
    WHERE (record_type, record_id) IN (${pairs.map((pair) => `(${pair})`).join(',')})`
  const slots = `SELECT record_type, record_id, 0, count, NULL
    FROM slotted_counters FORCE INDEX (pending)
    WHERE (pending, record_type, record_id) IN (${pairs.map((pair) => `(1,${pair})`).join(',')})`
  const { rows } = await db.execute(
    consistency === 'rolled'
      ? totals
      : `SELECT record_type, record_id, SUM(total) AS total, SUM(pending) AS pending, MAX(rolled_up_at) AS rolled_up_at
         FROM (${totals} UNION ALL ${slots}) AS parts GROUP BY record_type, record_id`,
  )
  const readings = new Map(
    rows.map((row) => [
      counterId({ recordType: Number(row.record_type), recordId: toBigInt(row.record_id) }),
      { total: toBigInt(row.total), pending: toBigInt(row.pending), rolledUpAt: toDate(row.rolled_up_at) },
    ]),
  )
  return counters.map((counter) => readings.get(counterId(counter)) ?? NOTHING)
}
