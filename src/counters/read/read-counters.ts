import type { Executor } from '../../database/database.ts'
import { toBigInt, toDate } from '../../database/values.ts'
import { boundedPendingSql, counterListsSql, counterSql, MAX_PENDING, pendingOfOneSql } from '../counters-sql.ts'
import { type CounterAddress, counterId, distinct } from '../keys/counter-address.ts'

export const MAX_READ = 1_000

/**
 * A number adds total and pending slots of counters with at most so many, from one snapshot, so that a roll-up is seen whole or
 * not at all. Of all others, and with `rolled`, it is the totals only.
 */
export type Consistency = number | 'rolled'

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

/** Whether a reading includes what is pending. */
export function consistencyOf({ pending }: Pick<Reading, 'pending'>): 'exact' | 'rolled' {
  return pending === null ? 'rolled' : 'exact'
}

/** Reads at most `MAX_READ` counters of any types, in the order given. In a list, one without a row reads as zeros. */
export async function readCounters(
  db: Executor,
  counters: readonly CounterAddress[],
  consistency: Consistency = MAX_PENDING,
): Promise<Reading[]> {
  const different = distinct(counters)
  if (different.length === 0) return []
  if (different.length === 1 && consistency !== 'rolled') {
    const reading = await readOne(db, different[0]!, consistency)
    return counters.map(() => reading)
  }
  const pending = consistency === 'rolled' ? 'NULL' : boundedPendingSql(consistency)
  // One text, because the driver decodes each column; `counterId` writes the counter likewise. The index is named because a long
  // list makes the optimizers guess instead of look (eq_range_index_dive_limit).
  const selects = counterListsSql(different).map(
    (
      list,
    ) => `SELECT CONCAT_WS(',', CONCAT(record_type, '/', record_id), count, COALESCE(${pending}, ''), rolled_up_at) AS reading
      FROM counters AS n FORCE INDEX (PRIMARY) WHERE ${list}`,
  )
  const { rows } = await db.execute(selects.join(' UNION ALL '))
  const readings = new Map(
    rows.map(({ reading }) => {
      const [id, total, pending, rolledUpAt = null] = String(reading).split(',')
      const read = { total: toBigInt(total), pending: pending === '' ? null : toBigInt(pending) }
      return [id!, { ...read, rolledUpAt: toDate(rolledUpAt) }]
    }),
  )
  const zero = { total: 0n, pending: consistency === 'rolled' ? null : 0n, rolledUpAt: null }
  return counters.map((counter) => readings.get(counterId(counter)) ?? zero)
}

/** Reads the slots once. vtgate sends both SELECTs to one shard as one query, because they name the same record id. */
async function readOne(db: Executor, counter: CounterAddress, most: number): Promise<Reading> {
  const { column, from } = pendingOfOneSql(counter, most)
  const { rows } = await db.execute(
    `SELECT 'total' AS part, count, rolled_up_at FROM counters WHERE ${counterSql(counter)}
     UNION ALL SELECT 'pending', ${column}, NULL FROM ${from}`,
  )
  const total = rows.find(({ part }) => part === 'total')
  const pending = rows.find(({ part }) => part === 'pending')!.count
  return {
    total: toBigInt(total?.count ?? 0),
    pending: pending === null ? null : toBigInt(pending),
    rolledUpAt: toDate(total?.rolled_up_at ?? null),
  }
}
