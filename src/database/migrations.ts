import { MIGRATIONS, TABLES } from '../generated.ts'
import { bucketOf } from './buckets.ts'
import type { Executor } from './database.ts'
import { DatabaseFailure, hasErrorNumber } from './errors.ts'
import { toDate, toText } from './values.ts'

/** A file of `migrations/`. The number in its name is the version of the tables after it. Its statements may be repeated. */
export interface Migration {
  name: string
  statements: readonly string[]
}

/** A repeated ALTER TABLE: the column (1060) or the index (1061) exists. MySQL has no IF NOT EXISTS for these. */
const ALREADY_DONE = [1060, 1061]

/** How vtgate refuses DDL on a branch with safe migrations (Vitess go/vt/vtgate/engine/ddl.go), even IF NOT EXISTS. */
const NO_DIRECT_DDL = /direct DDL is disabled/

/** Reads the version. Fails unless every table exists and has the column it is sharded by. HEX: vtgate wants one type. */
const READ_TABLES = [
  "SELECT CONCAT_WS(' ', version, made_at) AS recorded FROM schema_version",
  ...TABLES.map((table) => `SELECT HEX(bucket) FROM ${table} WHERE 1 = 0`),
].join(' UNION ALL ')

/** The tables cannot be made. The message says why. With a `cause`, a statement failed; those before it were applied. */
export class MigrationStopped extends Error {
  /** Whether the branch has safe migrations on, so that tables need a deploy request. */
  get needsDeployRequest(): boolean {
    return NO_DIRECT_DDL.test(String(this.cause))
  }
}

/** Reads which migrations are pending, and when the tables were made. @throws {DatabaseFailure} of kind `schema`: a table is missing */
export async function readTables(db: Executor, migrations: readonly Migration[] = MIGRATIONS) {
  const [row] = (await db.execute(READ_TABLES)).rows
  const [version = '0', madeAt = null] = row === undefined ? [] : toText(row.recorded).split(/ (.*)/)
  return { pending: migrations.filter((migration) => versionOf(migration) > Number(version)), madeAt: toDate(madeAt) }
}

/** What is to be applied: everything if a table is missing. `complete`: none is. */
export async function readPending(db: Executor, migrations: readonly Migration[] = MIGRATIONS) {
  try {
    return { complete: true, pending: (await readTables(db, migrations)).pending }
  } catch (error) {
    if (!isSchemaFailure(error)) throw error
    return { complete: false, pending: migrations }
  }
}

/**
 * Makes the tables, or brings them up to this version. Safe to repeat, to interrupt anywhere, and to run several times at once.
 * @returns the names of the migrations that were applied @throws {MigrationStopped}
 */
export async function makeTables(db: Executor, migrations: readonly Migration[] = MIGRATIONS): Promise<string[]> {
  if (!(await readServerIdentity(db)).strict) throw new MigrationStopped(NOT_STRICT)
  const { complete, pending } = await readPending(db, migrations)
  if (pending.length === 0) return []
  if (await areElsewhere(db)) throw new MigrationStopped(OTHER_KEYSPACE)
  for (const { name, statements } of pending) {
    for (const [index, statement] of statements.entries()) {
      // Even if the table exists: one shard may have it and another not.
      await db.execute(statement).catch((cause: unknown) => {
        if (ALREADY_DONE.some((number) => hasErrorNumber(cause, number))) return
        // A deploy request made it. Nothing tells whether one added a column.
        if (complete && statement.startsWith('CREATE TABLE ') && NO_DIRECT_DDL.test(String(cause))) return
        const where = `migrations/${name} stopped at statement ${index + 1} of ${statements.length}`
        throw new MigrationStopped(`${where} (${statement.split('\n')[0]} …)`, { cause })
      })
    }
  }
  // Now, because PlanetScale accepts a VSchema only if its tables exist.
  if (await lackVSchema(db)) throw new MigrationStopped(NO_VSCHEMA)
  await recordVersion(db, migrations)
  return pending.map(({ name }) => name)
}

/** Records that the tables are of this version. @throws {MigrationStopped} if a table is missing */
export async function recordVersion(db: Executor, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  // vttablet may know a new table only some time after the statement that made it has ended.
  for (let left = 10; !(await readPending(db, migrations)).complete; left--) {
    if (left === 0) throw new MigrationStopped(INCOMPLETE)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await db.execute(
    `INSERT INTO schema_version (id, bucket, version, made_at) VALUES (1, ${bucketOf(0n)}, ?, UTC_TIMESTAMP())
     ON DUPLICATE KEY UPDATE version = GREATEST(version, VALUES(version))`,
    [Math.max(...migrations.map(versionOf))],
  )
}

const versionOf = ({ name }: Migration) => Number.parseInt(name, 10)
const isSchemaFailure = (error: unknown) => error instanceof DatabaseFailure && error.kind === 'schema'

const INCOMPLETE = 'Tables are missing, or other programs have tables of the same names. Nothing was recorded.'
const OTHER_KEYSPACE =
  'The tables are not in the keyspace that this connection opens. Run npm run migrate (npx slotted-counter migrate) through a connection that names their keyspace: see docs/sharding.md.'

/** Whether the tables are in another keyspace: Vitess looks in all keyspaces for a name that only one of them has. */
async function areElsewhere(db: Executor): Promise<boolean> {
  const reached = await readColumn(db, "SELECT 'yes' FROM slotted_counters WHERE 1 = 0").catch((error) => {
    if (!isSchemaFailure(error)) throw error
  })
  const here = `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'slotted_counters'`
  return reached !== undefined && (await readColumn(db, here)).length === 0
}

const NO_VSCHEMA =
  'The tables exist on all shards. Now apply migrations/vschema.json, which says how they are sharded, set SHARDING.ranges, and run this again: see docs/sharding.md.'

/** Whether the tables are on several shards, and Vitess does not know how. */
async function lackVSchema(db: Executor): Promise<boolean> {
  const shards = await readShards(db).catch((error: unknown) => {
    // MySQL and MariaDB do not know the statement (1064).
    if (hasErrorNumber(error, 1064)) return 0
    throw error
  })
  if (shards < 2) return false
  const known = await readColumn(db, 'SHOW VSCHEMA TABLES')
  return !TABLES.every((table) => known.includes(table))
}

/** What to do about a server that stores what does not fit. */
export const NOT_STRICT =
  'The sql_mode of the database server lacks STRICT_TRANS_TABLES, so it changes numbers that do not fit instead of refusing them. Add it for all connections.'

/** Reads the server's SQL mode and, on Vitess, the number of shards. */
export async function readServerIdentity(db: Executor) {
  const { rows } = await db.execute(`SHOW VARIABLES WHERE Variable_name IN ('version', 'sql_mode')`)
  const values = new Map(rows.map((row) => Object.values(row).map(String) as [string, string]))
  return {
    /** Whether it refuses values that do not fit a column. Otherwise it would store something else without an error. */
    strict: /STRICT_(TRANS|ALL)_TABLES/.test(values.get('sql_mode') ?? 'STRICT_TRANS_TABLES'),
    /** The shards of the keyspace; `null` without Vitess, and if they are not reported. */
    shards: /vitess/i.test(values.get('version') ?? '') ? (await readShards(db).catch(() => 0)) || null : null,
  }
}

/** Reads the number of shards of the keyspace. Source: Vitess, "SHOW VITESS_SHARDS". A shard is listed as `keyspace/range`. */
async function readShards(db: Executor): Promise<number> {
  const [keyspace] = await readColumn(db, 'SELECT DATABASE() AS keyspace')
  return (await readColumn(db, 'SHOW VITESS_SHARDS')).filter((shard) => shard.startsWith(`${keyspace}/`)).length
}

/** Reads rows of one column. */
async function readColumn(db: Executor, sql: string): Promise<string[]> {
  return (await db.execute(sql)).rows.map((row) => String(Object.values(row)[0]))
}
