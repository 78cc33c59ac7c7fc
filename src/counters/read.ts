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

/**
 * Reads counters of one type, in the order given. A counter that was never counted reads as zeros.
 *
 * `exact` reads totals and pending slots in one statement, hence from one snapshot: no roll-up can be seen half done. Only
 * slots that hold something are touched. `rolled` reads the totals alone, one row per counter.
 *
 * @param counters at most `MAX_READ`, all of the same type
 * @throws {DatabaseFailure}
 */
export async function readCounters(
  db: Executor,
  counters: readonly Counter[],
  consistency: 'exact' | 'rolled' = 'exact',
): Promise<Reading[]> {
  const [first] = counters
  if (first === undefined) return []
  const ids = [...new Set(counters.map(({ recordId }) => recordId))]
  // Pairs, not record_id IN (…): MariaDB cannot use an index for a list of numbers below and above 2^63 and would read all
  // counters of the type. The indexes are named because a long list makes the optimizers guess instead of look
  // (eq_range_index_dive_limit).
  const pairs = ids.map(() => '(?, ?)').join(', ')
  const triples = ids.map(() => '(1, ?, ?)').join(', ')
  const args = ids.flatMap((recordId) => [first.recordType, recordId])
  const totals = `SELECT record_id, count AS total, 0 AS pending, rolled_up_at
    FROM counter_totals FORCE INDEX (PRIMARY) WHERE (record_type, record_id) IN (${pairs})`
  const slots = `SELECT record_id, 0, count, NULL
    FROM slotted_counters FORCE INDEX (pending) WHERE (pending, record_type, record_id) IN (${triples})`
  const { rows } =
    consistency === 'rolled'
      ? await db.execute(totals, args)
      : await db.execute(
          `SELECT record_id, SUM(total) AS total, SUM(pending) AS pending, MAX(rolled_up_at) AS rolled_up_at
           FROM (${totals} UNION ALL ${slots}) AS parts GROUP BY record_id`,
          [...args, ...args],
        )
  const readings = new Map(
    rows.map((row) => [
      counterId({ recordType: first.recordType, recordId: toBigInt(row.record_id) }),
      { total: toBigInt(row.total), pending: toBigInt(row.pending), rolledUpAt: toDate(row.rolled_up_at) },
    ]),
  )
  return counters.map((counter) => readings.get(counterId(counter)) ?? { total: 0n, pending: 0n, rolledUpAt: null })
}
