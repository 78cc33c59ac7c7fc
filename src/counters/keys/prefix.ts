import type { Executor } from '../../database/database.ts'
import { hexOf } from '../../database/values.ts'
import type { CounterAddress } from '../counter-address.ts'
import { counterListsSql, sameCounterSql } from '../counters-sql.ts'

/** The most keys with a prefix whose counters are added up. */
export const MAX_NAMES = 10_000
/** The most rows that are added up for a prefix. */
const MAX_ROWS = 500_000
/** The same for requests without a token. */
export const MAX_PUBLIC_ROWS = 45_000

const encoder = new TextEncoder()

/** Keys that begin with `name`; if that is empty, all keys of the type. */
export type KeysWithPrefix = Pick<CounterAddress, 'recordType' | 'name'>

/** The same, or counters of one type that a search has found. */
export type SummedKeys = KeysWithPrefix | { recordType: number; found: readonly CounterAddress[] }

/** A sum or a ranking would add up too many rows. Nothing was read. The message says what to ask for instead. */
export class TooManyKeys extends Error {
  override name = 'TooManyKeys'
}

/** Rows read of each key beside those that are added up. */
export const ROWS_OF_KEY = 5

/** Checks that there are few enough keys. Of a prefix, that reads at most `MAX_NAMES` index entries. @throws {TooManyKeys} */
export async function checkKeys(
  db: Executor,
  of: SummedKeys,
  { rows, maxRows = MAX_ROWS }: { rows: number; maxRows?: number | undefined },
): Promise<void> {
  const most = Math.min(MAX_NAMES, Math.max(1, Math.floor(maxRows / rows)))
  const areFew = 'found' in of ? of.found.length <= most : await hasFewKeys(db, of, most)
  if (areFew) return
  const reason = most < MAX_NAMES ? ', too many for this request' : ''
  const advice = 'Use a longer prefix, a shorter period, or a separate type for these keys.'
  throw new TooManyKeys(`More than ${most} keys begin with this prefix${reason}. ${advice}`)
}

async function hasFewKeys(db: Executor, { recordType, name: prefix }: KeysWithPrefix, most: number): Promise<boolean> {
  const keys = `counters FORCE INDEX (name) WHERE record_type = ${recordType} AND ${beginsWithSql('name', prefix)}`
  return (await db.execute(`SELECT 1 FROM ${keys} LIMIT ${most}, 1`)).rows.length === 0
}

/** How the table `counters AS n` is read: by which index, and an SQL condition. */
export interface NamedSql {
  index: 'name' | 'PRIMARY'
  where: string
}

/** How the counters of keys are read: one part after another. */
export function namedSql(of: SummedKeys): NamedSql[] {
  if ('found' in of) return counterListsSql(of.found, 'n.').map((where) => ({ index: 'PRIMARY', where }))
  return [{ index: 'name', where: `n.record_type = ${of.recordType} AND ${beginsWithSql('n.name', of.name)}` }]
}

/** SQL that reads a table, given with alias and index, by the counters that have its rows; both are on one shard. */
export function fromNamesSql({ index, where }: NamedSql, table: string, alias: string): string {
  return `FROM counters AS n FORCE INDEX (${index})
    STRAIGHT_JOIN ${table} ON ${sameCounterSql(alias, 'n')}
    WHERE ${where}`
}

/** SQL condition: names with a prefix, compared as bytes, whatever the collation. UTF-8 has no byte 0xFF, so it sorts last. */
export function beginsWithSql(column: string, prefix: string): string {
  return `${column} >= ${bytesSql(prefix)} AND ${column} < x'${hexOf(encoder.encode(prefix))}FF'`
}

/** The bytes of a text as SQL. */
export function bytesSql(text: string): string {
  return `x'${hexOf(encoder.encode(text))}'`
}
