import type { Executor } from '../../database/database.ts'
import { toBigInt, toDate } from '../../database/values.ts'
import { boundedPendingSql, counterListsSql, counterSql, pendingOfOneSql } from '../counters-sql.ts'
import { type CounterAddress, counterId, distinct } from '../keys/counter-address.ts'

export const MAX_READ = 1_000

/**
 * `exact` adds total and pending slots from one snapshot, so that a roll-up is seen whole or not at all. A number does the same
 * for counters with at most so many pending slots. `rolled` reads the totals only.
 */
export type Consistency = 'exact' | number | 'rolled'

export interface Reading {
  total: bigint
  /** Counted and not rolled up yet; `null` if that was not read. */
  pending: bigint | null
  /** `null` if never. */
  rolledUpAt: Date | null
}

/** The count: as of the last roll-up if the pending count was not read. */
export function countIn({ total, pending }: Pick<Reading, 'total' | 'pending'>): bigint {
  return total + (pending ?? 0n)
}

/** Reads at most `MAX_READ` counters of any types, in the order given. A counter that was never counted reads as zeros. */
export async function readCounters(
  db: Executor,
  counters: readonly CounterAddress[],
  consistency: Consistency = 'exact',
): Promise<Reading[]> {
  const different = distinct(counters)
  if (different.length === 0) return []
  if (different.length === 1 && consistency !== 'rolled') {
    const reading = await readOne(db, different[0]!, consistency)
    return counters.map(() => reading)
  }
  const selects = counterListsSql(different).flatMap((list) => [totalsSql(list), ...pendingSql(list, consistency)])
  const { rows } = await db.execute(selects.join(' UNION ALL '))
  const zero = { total: 0n, pending: consistency === 'rolled' ? null : 0n, rolledUpAt: null }
  const readings = new Map<string, Reading>()
  for (const { reading: text } of rows) {
    const [part, id, count, rolledUpAt] = String(text).split(',')
    const reading = readings.get(id!) ?? { ...zero }
    if (part === 'pending') reading.pending = count === undefined ? null : toBigInt(count)
    else {
      reading.total = toBigInt(count)
      reading.rolledUpAt = toDate(rolledUpAt ?? null)
    }
    readings.set(id!, reading)
  }
  return counters.map((counter) => readings.get(counterId(counter)) ?? zero)
}

/** vtgate sends both SELECTs to one shard as one query, because they name the same record id. */
async function readOne(db: Executor, counter: CounterAddress, most: 'exact' | number): Promise<Reading> {
  const { column, from } = pendingOfOneSql(counter, most === 'exact' ? null : most)
  const { rows } = await db.execute(
    `SELECT 'total' AS part, count, rolled_up_at FROM counters WHERE ${counterSql(counter)}
     UNION ALL SELECT 'pending', ${column}, NULL FROM ${from}`,
  )
  const total = rows.find(({ part }) => part === 'total')
  const pending = rows.find(({ part }) => part === 'pending')
  return {
    total: total === undefined ? 0n : toBigInt(total.count),
    pending: pending?.count === null ? null : toBigInt(pending?.count),
    rolledUpAt: toDate(total?.rolled_up_at ?? null),
  }
}

/** SQL of the pending counts in a list: a row for each counter with pending slots, or for each with a name. */
function pendingSql(list: string, consistency: Consistency): string[] {
  if (consistency === 'rolled') return []
  const sql =
    consistency === 'exact'
      ? `${readingSql('pending', 'SUM(count)')} FROM slotted_counters FORCE INDEX (pending)
          WHERE pending = 1 AND ${list} GROUP BY record_type, record_id`
      : `${readingSql('pending', boundedPendingSql(consistency))} FROM counters AS n FORCE INDEX (PRIMARY) WHERE ${list}`
  return [`SELECT ${sql}`]
}

// The indexes are named because a long list makes the optimizers guess instead of look (eq_range_index_dive_limit).
const totalsSql = (list: string) =>
  `SELECT ${readingSql('total', 'count, rolled_up_at')} FROM counters FORCE INDEX (PRIMARY) WHERE ${list}`

/** SQL of a row as one text, because the driver decodes each column. `counterId` writes the counter likewise. No NULLs. */
const readingSql = (part: 'total' | 'pending', values: string) =>
  `CONCAT_WS(',', '${part}', CONCAT(record_type, '/', record_id), ${values}) AS reading`
