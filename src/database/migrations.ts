import type { Executor } from './database.ts'
import { DatabaseFailure, hasErrorNumber } from './errors.ts'
import { madeBy } from './made-by.ts'
import bundled from './migrations.json' with { type: 'json' }
import { toText } from './text.ts'

/** A file of `migrations/`. Its statements may be repeated, as long as no later migration has been applied. */
export interface Migration {
  /** The name of the file. */
  name: string
  statements: readonly string[]
}

/** This version's migrations, in order. Written from `migrations/*.sql` by `npm run migrations`. */
export const MIGRATIONS: readonly Migration[] = bundled

/** The table in which is recorded what has been applied. */
export const RECORD = 'slotted_counter_migrations'
/** Where versions before the record had its name kept it. It may be another program's. */
const OLD_RECORD = 'schema_migrations'

/** The table of the first migration. */
const FIRST = 'slotted_counters'

/** Written like the statements of migrations. */
const CREATE_RECORD = `CREATE TABLE IF NOT EXISTS ${RECORD} (
  name VARCHAR(191) NOT NULL,
  applied_at DATETIME NOT NULL COMMENT 'UTC',
  PRIMARY KEY (name)
)`

/**
 * Errors of an ALTER TABLE that has been done already, by an earlier attempt or an earlier migration: the column exists (1060),
 * or the index does (1061). MySQL has no IF NOT EXISTS for these.
 */
const ALREADY_DONE = [1060, 1061]

/** How vtgate refuses DDL on a branch with safe migrations (Vitess go/vt/vtgate/engine/ddl.go), also IF NOT EXISTS. */
const NO_DIRECT_DDL = /direct DDL is disabled/

/** How far a database is. */
export interface Progress {
  /** What it has of our tables, as `madeBy` names it. */
  there: Set<string>
  /** The migrations that are recorded as applied, in the record or in the old one. */
  applied: Set<string>
  pending: Migration[]
  /** What it lacks of the tables that this version needs. */
  missing: string[]
}

/** A statement failed, which is the `cause`. The statements before it were applied. */
export class MigrationStopped extends Error {
  /** The name of the migration; `null` for the record of migrations. */
  readonly migration: string | null
  readonly statement: string
  /** The number of the statement in its migration, from 1. */
  readonly number: number
  /** How many statements the migration has. */
  readonly of: number

  constructor(migration: Migration | null, index: number, statement: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'MigrationStopped'
    this.migration = migration?.name ?? null
    this.statement = statement.split('\n')[0]!
    this.number = index + 1
    this.of = migration?.statements.length ?? 1
  }

  /** Whether the branch has safe migrations on, so that tables come to it with a deploy request only. */
  get needsDeployRequest(): boolean {
    return NO_DIRECT_DDL.test(this.message)
  }
}

/** The connection reaches our tables, but what the server tells of its tables is about another keyspace. */
export class OtherKeyspace extends Error {
  constructor() {
    super(
      'The tables are in another keyspace than the one that this connection opens, so what they lack cannot be told. Run ' +
        'npm run migrate through a connection that names their keyspace: see docs/sharding.md.',
    )
    this.name = 'OtherKeyspace'
  }
}

/**
 * Reads how far a database is, in two to five statements. Changes nothing.
 *
 * @throws {OtherKeyspace}
 */
export async function readProgress(db: Executor, migrations = MIGRATIONS): Promise<Progress> {
  const there = await readTables(db, migrations)
  const applied = await readRecord(db, there)
  const unknown = migrations.filter(({ name }) => !applied.has(name))
  for (const name of await readOldRecord(db, there, unknown)) applied.add(name)
  return {
    there,
    applied,
    pending: migrations.filter(({ name }) => !applied.has(name)),
    missing: missingFrom(there, migrations),
  }
}

/**
 * What a database lacks of the tables that this version needs, in two or three statements. Changes nothing.
 *
 * @throws {OtherKeyspace}
 */
export async function readMissing(db: Executor, migrations = MIGRATIONS): Promise<string[]> {
  return missingFrom(await readTables(db, migrations), migrations)
}

/** What to tell of a migration that `onUnfilled` names. */
export function unfilled(name: string): string {
  return `${name} was only recorded: its tables came in another way. If the database counted before that, run its INSERT statements yourself (docs/upgrading.md).`
}

/** How to apply migrations. */
export interface ApplyOptions {
  /** Default: this version's. */
  migrations?: readonly Migration[]
  /** Asked before each migration, with the number of statements that it may send. Default: go on. */
  mayGoOn?: (statements: number) => boolean
  /** Called after each migration. */
  onApplied?: (name: string) => void
  /** Called for a migration that was recorded although it may not have filled its tables, because they came in another way. */
  onUnfilled?: (name: string) => void
}

/**
 * Applies the pending migrations in order. Safe to repeat, to interrupt anywhere, and to run several times at once.
 *
 * What came in another way, such as a deploy request, is only recorded. Nothing fills its tables then: they may count already.
 *
 * @returns the names of the migrations that were applied or recorded
 * @throws {MigrationStopped} at the first statement that fails
 * @throws {OtherKeyspace}
 */
export async function applyMigrations(
  db: Executor,
  { migrations = MIGRATIONS, mayGoOn = () => true, onApplied = () => {}, onUnfilled = () => {} }: ApplyOptions = {},
): Promise<string[]> {
  const progress = await readProgress(db, migrations)
  const { there, applied, pending } = progress
  try {
    await keepRecord(db, progress)
  } catch (error) {
    // The old record will do until there is something to record.
    if (pending.length === 0 && error instanceof MigrationStopped && error.needsDeployRequest) return []
    throw error
  }
  const names: string[] = []
  for (const migration of pending) {
    const { name, statements } = migration
    // Two for the record, and two for a statement that fills a table.
    if (!mayGoOn(2 + 2 * statements.length)) break
    // Another run may have gone on meanwhile. What fills tables must not come after what counts into them.
    const known = changesRows(migration) ? await readRecord(db, there) : applied
    if (!known.has(name)) {
      if (!hasCome(migration, there, migrations)) await runStatements(db, migration, there)
      else if (await hasRowsToFillFrom(db, migration)) onUnfilled(name)
      await record(db, [name])
      names.push(name)
      onApplied(name)
    }
  }
  return names
}

/**
 * Records the pending migrations as applied without running them. Check first that nothing is missing.
 *
 * @returns the names of the migrations that were recorded
 * @throws {MigrationStopped} if the table of the record cannot be made
 */
export async function recordAll(db: Executor, progress: Progress): Promise<string[]> {
  await keepRecord(db, progress)
  const names = progress.pending.map(({ name }) => name)
  await record(db, names)
  return names
}

/** The statements that make what is missing, for a branch that takes tables from deploy requests only. */
export function statementsToDeploy({ there, pending }: Pick<Progress, 'there' | 'pending'>): string[] {
  const made = new Set(there)
  return [CREATE_RECORD, ...pending.flatMap(({ statements }) => statements)].filter((statement) => {
    const { does, contains } = madeBy(statement)
    const wanted = does.some((thing) => !made.has(thing))
    for (const thing of [...does, ...contains]) made.add(thing)
    return wanted
  })
}

/** Creates the record if it is missing, and takes over what is in the old one. */
async function keepRecord(db: Executor, { there, applied }: Progress): Promise<void> {
  await runStatement(db, null, 0, CREATE_RECORD, there)
  const known = await readRecord(db, there)
  await record(
    db,
    [...applied].filter((name) => !known.has(name)),
  )
}

async function runStatements(db: Executor, migration: Migration, there: Set<string>): Promise<void> {
  for (const [index, statement] of migration.statements.entries()) {
    // Another run may have finished meanwhile.
    if (fills(statement) && (await readRecord(db, there)).has(migration.name)) return
    await runStatement(db, migration, index, statement, there)
  }
}

/** Runs a statement, unless there is nothing for it to do. */
async function runStatement(
  db: Executor,
  migration: Migration | null,
  index: number,
  statement: string,
  there: Set<string>,
): Promise<void> {
  const { does, contains } = madeBy(statement)
  const isDone = does.length > 0 && does.every((thing) => there.has(thing))
  if (migration === null && isDone) return
  try {
    // Even if what it makes is there: one shard may have it and another not.
    if (does.length > 0 || (await hasRows(db, statement))) await db.execute(statement)
  } catch (error) {
    const already = ALREADY_DONE.some((number) => hasErrorNumber(error, number))
    if (!already && !(isDone && NO_DIRECT_DDL.test(String(error)))) {
      throw new MigrationStopped(migration, index, statement, error)
    }
  }
  for (const thing of [...does, ...contains]) there.add(thing)
}

/**
 * Whether the table has rows from which a statement fills another. On a new database it has none, and the statement is not sent: a
 * lost attempt that arrives late would fill tables into which has been counted since.
 */
async function hasRows(db: Executor, statement: string): Promise<boolean> {
  const [, source] = /\bFROM (\w+)/.exec(statement) ?? []
  return source === undefined || (await db.execute(`SELECT 1 FROM ${source} LIMIT 1`)).rows.length > 0
}

/** Whether there are rows from which a migration would fill its tables. */
async function hasRowsToFillFrom(db: Executor, { statements }: Migration): Promise<boolean> {
  for (const statement of statements) if (fills(statement) && (await hasRows(db, statement))) return true
  return false
}

/**
 * Whether a migration that fills tables has come in another way: what it makes is there, and something of a later migration too. An
 * attempt that was cut off does not get that far. Migrations that only make something may always be repeated.
 */
function hasCome(migration: Migration, there: Set<string>, migrations: readonly Migration[]): boolean {
  if (!changesRows(migration)) return false
  const makes = migration.statements.flatMap((statement) => madeBy(statement).does)
  if (makes.length === 0 || !makes.every((thing) => there.has(thing))) return false
  const position = migrations.indexOf(migration)
  const before = new Set(
    migrations.slice(0, position + 1).flatMap(({ statements }) =>
      statements.flatMap((statement) => {
        const { does, contains } = madeBy(statement)
        return [...does, ...contains]
      }),
    ),
  )
  return migrations
    .slice(position + 1)
    .some(({ statements }) =>
      statements.some((statement) => madeBy(statement).does.some((thing) => !before.has(thing) && there.has(thing))),
    )
}

function changesRows({ statements }: Migration): boolean {
  return statements.some(fills)
}

/** Whether a statement changes rows instead of making something. */
function fills(statement: string): boolean {
  return madeBy(statement).does.length === 0
}

function missingFrom(there: Set<string>, migrations: readonly Migration[]): string[] {
  const missing = new Set<string>()
  for (const { statements } of migrations) {
    for (const statement of statements) {
      const { does, contains } = madeBy(statement)
      const lacking = does.filter((thing) => !there.has(thing))
      // A table that is missing lacks everything.
      const more = lacking.length > 0 ? [] : contains.filter((thing) => !there.has(thing))
      for (const thing of [...lacking, ...more]) {
        const table = /^(?:decimal )?(?:column|index) (\w+)/.exec(thing)?.[1]
        if (!missing.has(`table ${table}`)) missing.add(thing)
      }
    }
  }
  return [...missing]
}

/** What a database has of the tables of migrations and of their records. */
async function readTables(db: Executor, migrations: readonly Migration[]): Promise<Set<string>> {
  const names = new Set([RECORD, OLD_RECORD])
  for (const { statements } of migrations) {
    for (const statement of statements) {
      for (const thing of madeBy(statement).does) names.add(/(?:table|column|index) (\w+)/.exec(thing)![1]!)
    }
  }
  const ours = `TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (${[...names].map((name) => `'${name}'`).join(', ')})`
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
  const there = new Set<string>()
  const { rows } = await db.execute(
    `SELECT TABLE_NAME AS table_name, COLUMN_NAME AS column_name, DATA_TYPE AS data_type FROM information_schema.COLUMNS WHERE ${where}`,
  )
  for (const { table_name, column_name, data_type } of rows) {
    const column = `column ${toText(table_name)}.${toText(column_name)}`
    there.add(`table ${toText(table_name)}`).add(column)
    if (toText(data_type).toLowerCase() === 'decimal') there.add(`decimal ${column}`)
  }
  return there
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

async function readRecord(db: Executor, there: Set<string>): Promise<Set<string>> {
  if (!there.has(`table ${RECORD}`)) return new Set()
  const { rows } = await db.execute(`SELECT name FROM ${RECORD}`)
  return new Set(rows.map(({ name }) => toText(name)))
}

/** The names of ours in the old record, if what they make is really there. */
async function readOldRecord(db: Executor, there: Set<string>, unknown: readonly Migration[]): Promise<string[]> {
  if (unknown.length === 0 || !there.has(`column ${OLD_RECORD}.name`)) return []
  const names = unknown.map(({ name }) => `'${name}'`).join(', ')
  let recorded: Set<string>
  try {
    const { rows } = await db.execute(`SELECT name FROM ${OLD_RECORD} WHERE name IN (${names})`)
    recorded = new Set(rows.map(({ name }) => String(name)))
  } catch (error) {
    if (error instanceof DatabaseFailure && error.retry) throw error
    // Another program's, which we may not read, or which no VSchema names.
    return []
  }
  return unknown
    .filter(({ name }) => recorded.has(name))
    .filter(({ statements }) =>
      statements.every((statement) => madeBy(statement).does.every((thing) => there.has(thing))),
    )
    .map(({ name }) => name)
}

async function record(db: Executor, names: readonly string[]): Promise<void> {
  // One by one: the rows of a sharded keyspace are on several shards.
  for (const name of names) {
    await db.execute(`INSERT IGNORE INTO ${RECORD} (name, applied_at) VALUES (?, UTC_TIMESTAMP())`, [name])
  }
}
