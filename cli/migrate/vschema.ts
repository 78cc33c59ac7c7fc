import type { DatabaseConnection } from '../database-connection.ts'
import { hasErrorNumber } from '../database-connection.ts'

/** The tables of migrations/vschema.json whose sharding key must be known before anything is written to them. */
const TABLES = ['slotted_counters', 'counter_totals', 'type_history', 'visitor_salts', 'schema_migrations']

/**
 * What is missing before a keyspace with several shards can be migrated; `null` if nothing is, or if the database has one shard
 * or none.
 */
export async function missingVSchema(connection: DatabaseConnection): Promise<string | null> {
  const shards = await shardsOf(connection)
  if (shards < 2) return null
  const known = await namesOf(connection, 'SHOW VSCHEMA TABLES')
  if (TABLES.every((table) => known.includes(table))) return null
  return (
    `The keyspace has ${shards} shards, but its VSchema does not say how the tables are sharded. Apply migrations/vschema.json first\n` +
    '(`pscale keyspace vschema update DATABASE BRANCH KEYSPACE --vschema migrations/vschema.json`, or\n' +
    '`vtctldclient ApplyVSchema --vschema-file migrations/vschema.json KEYSPACE`), then run the same command again.\n' +
    'Set SHARDING.ranges in wrangler.toml to at least the number of shards. See docs/sharding.md.'
  )
}

async function shardsOf(connection: DatabaseConnection): Promise<number> {
  try {
    const [database] = await namesOf(connection, 'SELECT DATABASE() AS name')
    return (await namesOf(connection, 'SHOW VITESS_SHARDS')).filter((shard) => shard.startsWith(`${database}/`)).length
  } catch (error) {
    // MySQL and MariaDB do not know the statement (1064).
    if (hasErrorNumber(error, 1064)) return 0
    throw error
  }
}

async function namesOf(connection: DatabaseConnection, sql: string): Promise<string[]> {
  return (await connection.execute(sql)).map((row) => String(Object.values(row)[0]))
}
