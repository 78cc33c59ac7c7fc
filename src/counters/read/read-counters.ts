import type { Executor } from '../../database/database.ts'
import { toBigInt, toDate } from '../../database/numbers.ts'
import { counterListsSql } from '../counter-lists-sql.ts'
import { type CounterAddress, counterId, distinct } from '../keys/counter-address.ts'
import { pendingSlotsSql } from '../pending-slots-sql.ts'

/** The most counters that one statement reads. */
export const MAX_READ = 1_000

/** The state of a counter. `total + pending` is its count. */
export interface Reading {
  total: bigint
  pending: bigint
  /** When the counter was last rolled up; `null` if never. */
  rolledUpAt: Date | null
}

/** The reading of a counter that was never counted. */
const ZERO: Reading = { total: 0n, pending: 0n, rolledUpAt: null }

/**
 * Reads counters, in the order given. A counter that was never counted reads as zeros.
 *
 * `exact` reads the total and the pending slots of a counter from one snapshot: a roll-up is seen whole or not at all. `rolled`
 * reads only the totals, one row per counter.
 *
 * @param counters at most `MAX_READ`, of any types
 */
export async function readCounters(
  db: Executor,
  counters: readonly CounterAddress[],
  consistency: 'exact' | 'rolled' = 'exact',
): Promise<Reading[]> {
  const different = distinct(counters)
  if (different.length === 0) return []
  if (different.length === 1 && consistency === 'exact') {
    const reading = await readOne(db, different[0]!)
    return counters.map(() => reading)
  }
  const selects = counterListsSql(different).map(consistency === 'exact' ? exactSql : totalsSql)
  const { rows } = await db.execute(selects.join(' UNION ALL '))
  const readings = new Map<string, Reading>()
  for (const { reading: text } of rows) {
    const [part, id, count, rolledUpAt] = String(text).split(',')
    const reading = readings.get(id!) ?? { ...ZERO }
    if (part === 'pending') reading.pending = toBigInt(count)
    else {
      reading.total = toBigInt(count)
      reading.rolledUpAt = toDate(rolledUpAt ?? null)
    }
    readings.set(id!, reading)
  }
  return counters.map((counter) => readings.get(counterId(counter)) ?? ZERO)
}

/**
 * Reads one counter exactly. vtgate sends the two SELECTs to one shard as one query, because they name the same record id. It
 * would not do that with a subquery in the select list.
 */
async function readOne(db: Executor, counter: CounterAddress): Promise<Reading> {
  const { rows } = await db.execute(
    `SELECT 'total' AS part, count, rolled_up_at FROM counter_totals
     WHERE record_type = ${counter.recordType} AND record_id = ${counter.recordId}
     UNION ALL SELECT 'pending', COALESCE(SUM(count), 0), NULL FROM ${pendingSlotsSql(counter)}`,
  )
  const total = rows.find(({ part }) => part === 'total')
  const pending = rows.find(({ part }) => part === 'pending')
  return {
    total: total === undefined ? 0n : toBigInt(total.count),
    pending: toBigInt(pending?.count),
    rolledUpAt: toDate(total?.rolled_up_at ?? null),
  }
}

/**
 * SQL of the totals and pending slots of the counters in a list: a row for each counter that was ever rolled up, and one for each
 * that has pending slots.
 */
const exactSql = (list: string) =>
  `${totalsSql(list)}
        UNION ALL SELECT ${readingSql('pending', 'SUM(count)')} FROM slotted_counters FORCE INDEX (pending)
          WHERE pending = 1 AND ${list} GROUP BY record_type, record_id`

// The indexes are named because a long list makes the optimizers guess instead of look (eq_range_index_dive_limit).
const totalsSql = (list: string) =>
  `SELECT ${readingSql('total', 'count, rolled_up_at')} FROM counter_totals FORCE INDEX (PRIMARY) WHERE ${list}`

/**
 * SQL of a row as one text: the driver decodes each column on its own, which takes longer. The counter is written as `counterId`
 * writes it.
 */
const readingSql = (part: 'total' | 'pending', values: string) =>
  `CONCAT_WS(',', '${part}', CONCAT(record_type, '/', record_id), ${values}) AS reading`
