import type { Executor } from './database.ts'
import { hasErrorNumber } from './errors.ts'
import { RECORD } from './migrations.ts'

/** The tables of migrations/vschema.json whose sharding key must be known before anything is written to them. */
const TABLES = ['slotted_counters', 'counter_totals', 'type_history', 'visitor_salts', RECORD]

/**
 * What must be done before the tables of a keyspace with several shards can be made; `null` if nothing must.
 * @param ranges `SHARDING.ranges`; `null` if it is not known
 */
export async function missingSharding(db: Executor, ranges: number | null): Promise<string | null> {
  const shards = await shardsOf(db)
  if (shards < 2) return null
  if (ranges !== null && shards > ranges) {
    return `The keyspace has ${shards} shards, but SHARDING.ranges is ${ranges}. Set it in wrangler.toml to a power of two that is at least the number of shards, and deploy.`
  }
  const known = await namesOf(db, 'SHOW VSCHEMA TABLES')
  if (TABLES.every((table) => known.includes(table))) return null
  return (
    `The keyspace has ${shards} shards, but its VSchema does not say how the tables are sharded. Apply migrations/vschema.json first\n` +
    '(`pscale keyspace vschema update DATABASE BRANCH KEYSPACE --vschema migrations/vschema.json`, or\n' +
    '`vtctldclient ApplyVSchema --vschema-file migrations/vschema.json KEYSPACE`), then do the same again.\n' +
    'Set SHARDING.ranges in wrangler.toml to at least the number of shards. See docs/sharding.md.'
  )
}

async function shardsOf(db: Executor): Promise<number> {
  try {
    const [database] = await namesOf(db, 'SELECT DATABASE() AS name')
    return (await namesOf(db, 'SHOW VITESS_SHARDS')).filter((shard) => shard.startsWith(`${database}/`)).length
  } catch (error) {
    // MySQL and MariaDB do not know the statement (1064).
    if (hasErrorNumber(error, 1064)) return 0
    throw error
  }
}

async function namesOf(db: Executor, sql: string): Promise<string[]> {
  return (await db.execute(sql)).rows.map((row) => String(Object.values(row)[0]))
}
