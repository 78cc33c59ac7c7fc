import { existsSync } from 'node:fs'
import { MIXED_TYPES, recordIdOf } from '../../src/counters/integer-key.ts'
import type { DatabaseConnection } from '../database-connection.ts'

/** Counters that one transaction moves. PlanetScale ends a transaction after 20 s. */
const MOVED_AT_ONCE = 100

/** The columns of a counter's tables beyond record type and id. */
const TABLES = {
  slotted_counters: 'slot, count, batch, written_hour',
  counter_totals: 'count, version, rolled_up_at',
  counter_history: 'period_start, count',
  counter_periods: 'period, period_start, count',
  counter_adjustments: 'adjustment_id, kind, adjusted_at, count',
} as const

/** The record types of the types with integer keys in a configuration, in any of its environments. */
export async function configuredIntegerTypes(config: string): Promise<number[]> {
  if (!existsSync(config)) return []
  // Only this repository's own Worker has counters from before, and it has wrangler.
  const wrangler = await import('wrangler').catch(() => null)
  if (wrangler === null) return []
  const types = wrangler.unstable_readConfig({ config }, { hideWarnings: true }).vars.COUNTERS ?? {}
  return Object.values(types as Record<string, { record_type: number; key?: string }>)
    .filter(({ key }) => key === 'integer')
    .map(({ record_type }) => record_type)
}

/**
 * Moves counters with integer keys from before their numbers were mixed to where they are now: every counter in one transaction
 * with all of its rows, so that no count is lost or doubled. Counters that are there already stay. So it may stop anywhere and be
 * run again, also while Workers of either version count.
 *
 * @param recordTypes as configured
 * @returns the number of counters moved
 */
export async function moveIntegerTypes(
  connection: DatabaseConnection,
  recordTypes: readonly number[],
  say: (line: string) => void,
): Promise<number> {
  let moved = 0
  for (const recordType of recordTypes) {
    for (let ids = await nextIds(connection, recordType); ids.length > 0; ids = await nextIds(connection, recordType)) {
      await moveCounters(connection, recordType, ids)
      moved += ids.length
      say(`  moved ${moved} counters with integer keys`)
    }
    await moveTypeHistory(connection, recordType)
  }
  return moved
}

async function nextIds(connection: DatabaseConnection, recordType: number): Promise<bigint[]> {
  const parts = Object.keys(TABLES).map(
    (table) =>
      `(SELECT DISTINCT CAST(record_id AS CHAR) AS id FROM ${table} WHERE record_type = ${recordType} LIMIT ${MOVED_AT_ONCE})`,
  )
  const rows = await connection.execute(parts.join(' UNION '))
  return rows.map(({ id }) => BigInt(String(id))).slice(0, MOVED_AT_ONCE)
}

async function moveCounters(connection: DatabaseConnection, from: number, ids: readonly bigint[]): Promise<void> {
  const list = ids.join(',')
  const mixed = `CASE record_id ${ids.map((id) => `WHEN ${id} THEN ${recordIdOf(id)}`).join(' ')} END`
  await connection.transaction(async (execute) => {
    for (const [table, columns] of Object.entries(TABLES)) {
      const where = `WHERE record_type = ${from} AND record_id IN (${list})`
      await execute(
        `INSERT INTO ${table} (record_type, record_id, ${columns})
         SELECT ${from + MIXED_TYPES}, ${mixed}, ${columns} FROM ${table} AS old ${where}
         ON DUPLICATE KEY UPDATE ${mergeSql(table)}`,
      )
      await execute(`DELETE FROM ${table} ${where}`)
    }
  })
}

async function moveTypeHistory(connection: DatabaseConnection, from: number): Promise<void> {
  const where = `WHERE record_type = ${from}`
  if ((await connection.execute(`SELECT 1 FROM type_history ${where} LIMIT 1`)).length === 0) return
  await connection.transaction(async (execute) => {
    await execute(
      `INSERT INTO type_history (record_type, period, period_start, range_lane, count)
       SELECT ${from + MIXED_TYPES}, period, period_start, range_lane, count FROM type_history AS old ${where}
       ON DUPLICATE KEY UPDATE ${mergeSql('type_history')}`,
    )
    await execute(`DELETE FROM type_history ${where}`)
  })
}

/** How rows that exist at both places become one. A total gets a new version, so that no roll-up relies on an older one. */
function mergeSql(table: string): string {
  const add = (column: string) => `${table}.${column} = ${table}.${column} + VALUES(${column})`
  return table === 'counter_totals' ? `${add('count')}, ${add('version')} + 1` : add('count')
}
