import type { Executor } from './database.ts'
import { hasErrorNumber } from './errors.ts'
import { RECORD } from './migrations.ts'
import { readColumn, readShards } from './server-statistics.ts'

/** The tables of migrations/vschema.json whose sharding key must be known before anything is written to them. */
const TABLES = ['slotted_counters', 'counter_totals', 'type_history', 'visitor_salts', RECORD]

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
