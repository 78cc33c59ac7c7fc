import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/numbers.ts'
import type { CounterAddress } from './counter-address.ts'

/** The most keys with a prefix whose counters are added up. */
export const MAX_NAMES = 10_000
/** The most rows of the history that are added up for a prefix. */
const MAX_ROWS = 500_000

const encoder = new TextEncoder()

/** The keys of a type that begin with `name`. */
type KeysWithPrefix = Pick<CounterAddress, 'recordType' | 'name'>

/** Thrown if a sum would take too long. Nothing was read. */
export class TooManyKeys extends Error {
  /** @param units hours, days or months of which each key may have a row; 1 for totals */
  constructor(names: number, units: number) {
    super(
      names > MAX_NAMES
        ? `More than ${MAX_NAMES} keys begin with this prefix.`
        : `${names} keys begin with this prefix, which are too many for ${units} hours, days or months.`,
    )
    this.name = 'TooManyKeys'
  }
}

/**
 * Checks that the counters whose keys begin with a prefix are few enough to be added up. Reads at most `MAX_NAMES` entries of an
 * index.
 *
 * @param units hours, days or months of which each counter may have a row; 1 for totals
 * @throws {TooManyKeys}
 */
export async function checkPrefix(
  db: Executor,
  { recordType, name: prefix }: KeysWithPrefix,
  units = 1,
): Promise<void> {
  const { rows } = await db.execute(
    `SELECT COUNT(*) AS names FROM (SELECT 1 FROM counter_names FORCE INDEX (name)
       WHERE record_type = ${recordType} AND ${beginsWithSql('name', prefix)} LIMIT ${MAX_NAMES + 1}) AS n`,
  )
  const names = Number(toBigInt(rows[0]?.names))
  if (names > MAX_NAMES || names * units > MAX_ROWS) throw new TooManyKeys(names, units)
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
