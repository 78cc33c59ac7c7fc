import type { Executor } from './database.ts'
import { DatabaseFailure, hasErrorNumber } from './errors.ts'
import { readColumn, readShards } from './server-statistics.ts'
import { toDate, toText } from './values.ts'

/** A file of `migrations/`. Its statements make tables, columns and indexes (`madeBy`), and may be repeated. */
export interface Migration {
  name: string
  statements: readonly string[]
}

/** The table that records what has been applied. */
export const RECORD = 'slotted_counter_migrations'

/** The table of the first migration. */
const FIRST = 'slotted_counters'

/** Makes the table that records the others. It is not recorded itself. */
const RECORDING: Migration = {
  name: RECORD,
  statements: [
    `CREATE TABLE IF NOT EXISTS ${RECORD} (
  name VARCHAR(191) NOT NULL,
  applied_at DATETIME NOT NULL COMMENT 'UTC',
  PRIMARY KEY (name)
)`,
  ],
}

/** A repeated ALTER TABLE: the column (1060) or the index (1061) exists. MySQL has no IF NOT EXISTS for these. */
const ALREADY_DONE = [1060, 1061]

/** How vtgate refuses DDL on a branch with safe migrations (Vitess go/vt/vtgate/engine/ddl.go), even IF NOT EXISTS. */
const NO_DIRECT_DDL = /direct DDL is disabled/

export interface Progress {
  /** What exists of our tables, as `madeBy` names it. */
  there: Set<string>
  applied: Set<string>
  pending: Migration[]
  /** What this version needs and the database lacks. */
  missing: string[]
}

/** A statement failed: the `cause`. The statements before it were applied. */
export class MigrationStopped extends Error {
  /** `RECORD` for the table that records migrations. */
  readonly migration: string
  readonly statement: string
  /** The number of the statement in its migration, from 1. */
  readonly number: number
  readonly of: number

  constructor({ name, statements }: Migration, index: number, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'MigrationStopped'
    this.migration = name
    this.statement = statements[index]!.split('\n')[0]!
    this.number = index + 1
    this.of = statements.length
  }

  /** Whether the branch has safe migrations on, so that tables need a deploy request. */
  get needsDeployRequest(): boolean {
    return NO_DIRECT_DDL.test(this.message)
  }
}

/** The connection reaches our tables, but the server reports on the tables of another keyspace. */
export class OtherKeyspace extends Error {
  override name = 'OtherKeyspace'
  override message =
    'The tables are in another keyspace than the one that this connection opens, so what they lack cannot be told. Run ' +
    'npm run migrate through a connection that names their keyspace: see docs/sharding.md.'
}

/** Reads the state of a database, in two to four statements. @throws {OtherKeyspace} */
export async function readProgress(db: Executor, migrations: readonly Migration[]): Promise<Progress> {
  const there = await readTables(db, migrations)
  const recorded = there.has(`table ${RECORD}`) ? (await db.execute(`SELECT name FROM ${RECORD}`)).rows : []
  const applied = new Set(recorded.map(({ name }) => toText(name)))
  return {
    there,
    applied,
    pending: migrations.filter(({ name }) => !applied.has(name)),
    missing: missingFrom(there, migrations),
  }
}

/** What a database lacks of this version's tables, in two or three statements. @throws {OtherKeyspace} */
export async function readMissing(db: Executor, migrations: readonly Migration[]): Promise<string[]> {
  return missingFrom(await readTables(db, migrations), migrations)
}

/**
 * Applies the pending migrations in order. Safe to repeat, to interrupt anywhere, and to run several times at once. Migrations
 * without statements are only recorded.
 * @returns the names of the migrations that were applied
 * @throws {MigrationStopped} at the first statement that fails
 * @throws {OtherKeyspace}
 */
export async function applyMigrations(
  db: Executor,
  migrations: readonly Migration[],
  onApplied?: (name: string) => void,
): Promise<string[]> {
  const { there, pending } = await readProgress(db, migrations)
  if (pending.length > 0) await runStatements(db, RECORDING, there)
  for (const migration of pending) {
    await runStatements(db, migration, there)
    await record(db, migration)
    onApplied?.(migration.name)
  }
  return pending.map(({ name }) => name)
}

/** The statements that make what is missing, for a branch that takes tables from deploy requests only. */
export function statementsToDeploy({ there, pending }: Pick<Progress, 'there' | 'pending'>): string[] {
  const statements = [RECORDING, ...pending].flatMap(({ statements }) => statements)
  return statements.filter((statement) => !isDone(statement, there))
}

/** Runs statements even if what they make exists: one shard may have it and another not. */
async function runStatements(db: Executor, migration: Migration, there: ReadonlySet<string>): Promise<void> {
  for (const [index, statement] of migration.statements.entries()) {
    try {
      await db.execute(statement)
    } catch (error) {
      const already = ALREADY_DONE.some((number) => hasErrorNumber(error, number))
      if (!already && !(NO_DIRECT_DDL.test(String(error)) && isDone(statement, there))) {
        throw new MigrationStopped(migration, index, error)
      }
    }
  }
}

function isDone(statement: string, there: ReadonlySet<string>): boolean {
  const made = madeBy(statement)
  const tables = made.filter((thing) => thing.startsWith('table '))
  // A table that is there is not made again, whatever it lacks.
  return (tables.length > 0 ? tables : made).every((thing) => there.has(thing))
}

function missingFrom(there: ReadonlySet<string>, migrations: readonly Migration[]): string[] {
  const missing = new Set(migrations.flatMap(({ statements }) => statements.flatMap(madeBy))).difference(there)
  // A table that is missing lacks everything.
  return [...missing].filter((thing) => thing.startsWith('table ') || !missing.has(`table ${tableOf(thing)}`))
}

/** What `madeBy` puts before the name of a column. */
const COLUMN = /^column \w+\./

/** The table of something that `madeBy` names. */
function tableOf(thing: string): string {
  return /^\w+ (\w+)/.exec(thing)![1]!
}

async function readTables(db: Executor, migrations: readonly Migration[]): Promise<Set<string>> {
  const statements = [RECORDING, ...migrations].flatMap((migration) => migration.statements)
  const tables = new Set([FIRST, ...statements.flatMap(madeBy).map(tableOf)])
  const ours = `TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${[...tables].map((table) => `'${table}'`).join(', ')})`
  let there = await readColumns(db, ours)
  if (!there.has(`table ${FIRST}`) && (await reaches(db, FIRST))) {
    // It may have been made in between.
    there = await readColumns(db, ours)
    if (!there.has(`table ${FIRST}`)) throw new OtherKeyspace()
  }
  const indexes = await db.execute(
    `SELECT DISTINCT TABLE_NAME AS table_name, INDEX_NAME AS index_name FROM information_schema.STATISTICS WHERE ${ours}`,
  )
  for (const { table_name, index_name } of indexes.rows) there.add(`index ${toText(table_name)}.${toText(index_name)}`)
  return there
}

async function readColumns(db: Executor, where: string): Promise<Set<string>> {
  const { rows } = await db.execute(
    `SELECT TABLE_NAME AS table_name, COLUMN_NAME AS column_name FROM information_schema.COLUMNS WHERE ${where}`,
  )
  return new Set(
    rows.flatMap(({ table_name, column_name }) => [
      `table ${toText(table_name)}`,
      `column ${toText(table_name)}.${toText(column_name)}`,
    ]),
  )
}

/** Whether a statement finds a table: Vitess looks in all keyspaces for a name that only one of them has. */
async function reaches(db: Executor, table: string): Promise<boolean> {
  try {
    await db.execute(`SELECT 1 FROM ${table} LIMIT 1`)
    return true
  } catch (error) {
    if (error instanceof DatabaseFailure && error.kind !== 'schema') throw error
    return false
  }
}

/**
 * Reads which migrations are pending, and when the first one was applied, in one statement that names every table and column.
 * @throws {DatabaseFailure} of kind `schema` if one of them is missing
 */
export async function readReadiness(db: Executor, migrations: readonly Migration[]) {
  const columns = migrations
    .flatMap(({ statements }) => statements.flatMap(madeBy))
    .filter((thing) => COLUMN.test(thing))
  const empty = [...Map.groupBy(columns, tableOf)].map(([table, columns]) => {
    // Of the same type as the names, for vtgate.
    return `SELECT HEX(CONCAT_WS(' ', ${columns.map((column) => column.replace(COLUMN, '')).join(', ')})) FROM ${table} WHERE 1 = 0`
  })
  const recorded = `SELECT CONCAT_WS(' ', name, applied_at) AS recorded FROM ${RECORD}`
  const { rows } = await db.execute([recorded, ...empty].join(' UNION ALL '))
  const applied = new Map(rows.map((row) => toText(row.recorded).split(/ (.*)/) as [string, string]))
  return {
    pending: migrations.filter(({ name }) => !applied.has(name)).map(({ name }) => name),
    madeAt: toDate(applied.get(migrations[0]!.name) ?? null),
  }
}

async function record(db: Executor, { name }: Migration): Promise<void> {
  await db.execute(`INSERT IGNORE INTO ${RECORD} (name, applied_at) VALUES (?, UTC_TIMESTAMP())`, [name])
}

/**
 * Reads what a statement makes, as `table t`, `column t.c` and `index t.i`: CREATE TABLE IF NOT EXISTS, or ALTER TABLE that adds
 * columns and keys. Both may be repeated.
 * @throws {Error} for any other statement
 */
export function madeBy(statement: string): string[] {
  const [, verb, table] = /^(CREATE TABLE IF NOT EXISTS|ALTER TABLE) (\w+)/.exec(statement) ?? []
  const named = (kind: string, pattern: RegExp) =>
    [...statement.matchAll(pattern)].map(([, name]) => `${kind} ${table}.${name}`)
  if (verb?.startsWith('CREATE')) {
    // Columns are in lower case, keywords in capitals.
    const columns = named('column', /^\s+([a-z_]+) [A-Z]/gm)
    return [`table ${table}`, ...columns, ...named('index', /^\s+KEY (\w+)/gm)]
  }
  const added = [...named('column', /\bADD COLUMN (\w+)/g), ...named('index', /\bADD KEY (\w+)/g)]
  if (table !== undefined && added.length > 0) return added
  throw new Error(`A migration may only make tables and add columns and keys, not: ${statement.split('\n')[0]}`)
}

/** The tables of migrations/vschema.json whose sharding key must be known before anything is written to them. */
const TABLES = ['slotted_counters', 'counters', 'type_history', 'visitor_salts', RECORD]

/** What to do before tables can be made on several shards, or `null`. `ranges`: SHARDING.ranges, `null` if it is not known. */
export async function missingSharding(db: Executor, ranges: number | null): Promise<string | null> {
  const shards = await readShards(db).catch((error: unknown) => {
    // MySQL and MariaDB do not know the statement (1064).
    if (hasErrorNumber(error, 1064)) return 0
    throw error
  })
  if (shards < 2) return null
  if (ranges !== null && shards > ranges) {
    return `The keyspace has ${shards} shards, but SHARDING.ranges is ${ranges}. Set it in wrangler.toml to a power of two that is at least the number of shards, and deploy.`
  }
  const known = await readColumn(db, 'SHOW VSCHEMA TABLES')
  if (TABLES.every((table) => known.includes(table))) return null
  return (
    `The keyspace has ${shards} shards, but its VSchema does not say how the tables are sharded. Apply migrations/vschema.json first\n` +
    '(`pscale keyspace vschema update DATABASE BRANCH KEYSPACE --vschema migrations/vschema.json`, or\n' +
    '`vtctldclient ApplyVSchema --vschema-file migrations/vschema.json KEYSPACE`), then do the same again.\n' +
    'Set SHARDING.ranges in wrangler.toml to at least the number of shards. See docs/sharding.md.'
  )
}
