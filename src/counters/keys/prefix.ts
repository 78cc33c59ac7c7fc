import type { Executor } from '../../database/database.ts'
import type { CounterAddress } from './counter-address.ts'

/** The most keys with a prefix whose counters are added up. */
export const MAX_NAMES = 10_000
/** The most rows that are added up for a prefix. */
const MAX_ROWS = 500_000
/** The same for somebody without a token. */
export const MAX_PUBLIC_ROWS = 45_000

const encoder = new TextEncoder()

/** The keys of a type that begin with `name`. */
type KeysWithPrefix = Pick<CounterAddress, 'recordType' | 'name'>

/** Thrown if a sum would take too long. Nothing was read. */
export class TooManyKeys extends Error {
  /** @param most the most keys that would have been added up */
  constructor(most: number) {
    super(`More than ${most} keys begin with this prefix${most < MAX_NAMES ? ', too many for what was asked' : ''}.`)
    this.name = 'TooManyKeys'
  }
}

/** How many rows each key of a prefix may have, and how many all of them together. */
export interface PrefixLimit {
  rows: number
  maxRows?: number | undefined
}

/** Rows that are read of each key of a prefix, beside those that are added up. */
export const ROWS_OF_KEY = 5

/**
 * Checks that the counters whose keys begin with a prefix are few enough to be added up. Reads at most `MAX_NAMES` entries of an
 * index.
 *
 * @throws {TooManyKeys}
 */
export async function checkPrefix(
  db: Executor,
  { recordType, name: prefix }: KeysWithPrefix,
  { rows, maxRows = MAX_ROWS }: PrefixLimit,
): Promise<void> {
  const most = Math.min(MAX_NAMES, Math.max(1, Math.floor(maxRows / rows)))
  const { rows: found } = await db.execute(
    `SELECT 1 FROM counter_names FORCE INDEX (name)
     WHERE record_type = ${recordType} AND ${beginsWithSql('name', prefix)} LIMIT ${most}, 1`,
  )
  if (found.length > 0) throw new TooManyKeys(most)
}

/**
 * SQL that reads a table of counters for all keys that begin with a prefix, from the names: `… FROM counter_names AS n … JOIN
 * table AS alias`. On shards, a counter and its name are on the same one.
 *
 * @param table with its alias and index, such as `counter_totals AS t FORCE INDEX (PRIMARY)`
 */
export function fromNamesSql({ recordType, name: prefix }: KeysWithPrefix, table: string, alias: string): string {
  return `FROM counter_names AS n FORCE INDEX (name)
    STRAIGHT_JOIN ${table} ON ${alias}.record_type = n.record_type AND ${alias}.record_id = n.record_id
    WHERE n.record_type = ${recordType} AND ${beginsWithSql('n.name', prefix)}`
}

/**
 * SQL that holds for names that begin with a prefix. Compared as bytes, so that collations do not matter. UTF-8 has no byte 0xFF, so
 * it sorts after every name with the prefix.
 */
export function beginsWithSql(column: string, prefix: string): string {
  return `${column} >= ${bytesSql(prefix)} AND ${column} < x'${hex(prefix)}FF'`
}

/** The bytes of a text as SQL. */
export function bytesSql(text: string): string {
  return `x'${hex(text)}'`
}

function hex(text: string): string {
  return [...encoder.encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
