import { bucketOf, bucketsSql, idsSql } from '../database/buckets.ts'
import type { Executor } from '../database/database.ts'
import { toBigInt } from '../database/values.ts'
import { type CounterPlace, counterId } from './counter-address.ts'

const SIGNED_LIMIT = 2n ** 63n

/**
 * SQL conditions that together select counters, each once: one for each type and half of the ids.
 * - vtgate merges adjacent SELECTs of a UNION ALL into one query per shard, and so one snapshot, if they have the same list of buckets
 *   (Vitess `operators/union_merging.go`). It does not merge lists of pairs.
 * - MariaDB uses no index for a list of numbers below and above 2^63, and would read all counters of the type.
 * @param table as for `idsSql` @param index that the statement is forced to use, if it is not the primary key
 */
export function counterListsSql(counters: readonly CounterPlace[], table = '', index?: 'pending'): string[] {
  const halves = Map.groupBy(counters, ({ recordType, recordId }) => `${recordType} ${recordId < SIGNED_LIMIT}`)
  return [...halves.values()].map((half) => {
    const ids = half.map(({ recordId }) => recordId)
    // In the index `pending`, two lists would be looked up each with each.
    const pairs = ids.map((id) => `(${id},${bucketOf(id)})`)
    const rows = index
      ? `(record_id, bucket) IN (${pairs.join(',')}) AND ${bucketsSql(ids)}`
      : idsSql('record_id', ids, table)
    return `${table}record_type = ${half[0]!.recordType} AND ${rows}`
  })
}

/** SQL of the place of a row among counters of its type, from 1; 0: it is of none. It selects no rows, so it needs no bucket. */
export function nthSql(column: string, counters: readonly CounterPlace[]): string {
  return counters.length === 0 ? '0' : `FIELD(${column}, ${counters.map(({ recordId }) => recordId)})`
}

/** An SQL condition for the rows of one counter. */
export function counterSql({ recordType, recordId }: CounterPlace): string {
  return `record_type = ${recordType} AND ${idsSql('record_id', recordId)}`
}

/** An SQL condition for the rows of counters that have one key, and so one record id, in several types. */
export function sameKeySql(counters: readonly CounterPlace[]): string {
  const types = counters.map(({ recordType }) => recordType)
  return `record_type IN (${types.join(',')}) AND ${idsSql('record_id', counters[0]!.recordId)}`
}

/** An SQL condition: two rows are of one counter. */
export function sameCounterSql(a: string, b: string): string {
  return `${a}.record_type = ${b}.record_type AND ${a}.record_id = ${b}.record_id AND ${a}.bucket = ${b}.bucket`
}

/** The values of the columns `record_type, record_id, bucket` in a row of an INSERT. */
export function counterValues({ recordType, recordId }: CounterPlace): string {
  return `${recordType},${recordId},${bucketOf(recordId)}`
}

/** Reads columns of distinct counters, without locks. Returns the rows by `counterId`. */
export async function readByCounter(db: Executor, columns: string, counters: readonly CounterPlace[]) {
  const select = (list: string) =>
    `SELECT record_type, record_id, ${columns} FROM counters FORCE INDEX (PRIMARY) WHERE ${list}`
  const { rows } = await db.execute(counterListsSql(counters).map(select).join(' UNION ALL '))
  return new Map(rows.map((row) => [counterId(placeOf(row)), row]))
}

/** The counter of a row. */
export function placeOf({ record_type, record_id }: Record<string, unknown>): CounterPlace {
  return { recordType: Number(record_type), recordId: toBigInt(record_id) }
}

/** SQL that continues after a row, given as literals (`null`: from the first). MySQL uses no index for (a, b, c) > (x, y, z). */
export function afterSql(columns: readonly string[], values: readonly unknown[] | null): string {
  if (values === null) return ''
  const conditions = columns.map((column, place) => {
    const before = columns.slice(0, place).map((earlier, i) => `${earlier} = ${values[i]}`)
    return `(${[...before, `${column} > ${values[place]}`].join(' AND ')})`
  })
  return `AND (${conditions.join(' OR ')})`
}

/** The present hour in SQL, by the database's clock: one clock for all isolates. */
export const HOUR_SQL = 'FLOOR(UNIX_TIMESTAMP() / 3600)'

/** The most pending slots of a counter that are added up. With more, it is read as of the last roll-up. */
export const MAX_PENDING = 50_000
/** The same for requests without a token. */
export const MAX_PUBLIC_PENDING = 2_000

/** The most empty slots of a counter that are passed over one by one. */
const MAX_PASSED_OVER = 64

/**
 * SQL of one counter's pending count; above `most` slots, NULL. Reading rows side by side takes a third of the time that the index
 * `pending` takes, but only the index passes over empty slots. At most `most + 2 * MAX_PASSED_OVER + 2` rows are read, and the pending
 * ones once more to count them.
 */
export function pendingOfOneSql(counter: CounterPlace, most: number): { column: string; from: string } {
  const slots = (index: string, pending: number) =>
    `slotted_counters FORCE INDEX (${index}) WHERE pending = ${pending} AND ${counterSql(counter)}`
  const sum = (index: string) =>
    `(SELECT IF(COUNT(*) > ${most}, NULL, COALESCE(SUM(s.count), 0))
       FROM (SELECT count FROM ${slots(index, 1)} LIMIT ${most + 1}) AS s)`
  return {
    column: `IF(COUNT(*) = 0, ${sum('PRIMARY')}, ${sum('pending')})`,
    from: `(SELECT slot FROM ${slots('pending', 0)} LIMIT ${MAX_PASSED_OVER}, 1) AS many`,
  }
}
