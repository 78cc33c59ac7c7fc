import type { Executor } from './database.ts'

/** The SQL modes that refuse values that do not fit. */
const STRICT = /STRICT_(TRANS|ALL)_TABLES/

/** What to do about a server without them. */
export const NOT_STRICT =
  'The sql_mode of the database server lacks STRICT_TRANS_TABLES, so it changes numbers that do not fit instead of refusing them. Add it for all connections.'

/** Reads the server's SQL mode and, on Vitess, the number of shards. */
export async function readServerIdentity(db: Executor) {
  const { rows } = await db.execute(`SHOW VARIABLES WHERE Variable_name IN ('version', 'sql_mode')`)
  const values = new Map(rows.map((row) => Object.values(row).map(String) as [string, string]))
  return {
    /** Whether it refuses values that do not fit a column. Otherwise it would store something else without an error. */
    strict: STRICT.test(values.get('sql_mode') ?? 'STRICT_TRANS_TABLES'),
    /** The shards of the keyspace; `null` without Vitess, and if they are not reported. */
    shards: /vitess/i.test(values.get('version') ?? '') ? (await readShards(db).catch(() => 0)) || null : null,
  }
}

/** Reads the number of shards of the keyspace. Source: Vitess, "SHOW VITESS_SHARDS". A shard is listed as `keyspace/range`. */
export async function readShards(db: Executor): Promise<number> {
  const [keyspace] = await readColumn(db, 'SELECT DATABASE() AS keyspace')
  return (await readColumn(db, 'SHOW VITESS_SHARDS')).filter((shard) => shard.startsWith(`${keyspace}/`)).length
}

/** Reads rows of one column. */
export async function readColumn(db: Executor, sql: string): Promise<string[]> {
  return (await db.execute(sql)).rows.map((row) => String(Object.values(row)[0]))
}
