import { migrate } from '../../local/migrations.ts'
import type { BenchServer } from './server.ts'

/** Tables of what the product is compared with; the second as it was published. */
const BASELINE_TABLES = [
  `CREATE TABLE one_row_counters (
     record_type INT NOT NULL,
     record_id BIGINT UNSIGNED NOT NULL,
     count BIGINT NOT NULL,
     PRIMARY KEY (record_type, record_id)
   )`,
  `CREATE TABLE published_slotted_counters (
     id INT NOT NULL AUTO_INCREMENT,
     record_type INT NOT NULL,
     record_id INT NOT NULL,
     slot INT NOT NULL DEFAULT 0,
     count INT DEFAULT NULL,
     PRIMARY KEY (id),
     UNIQUE KEY records_and_slots (record_type, record_id, slot)
   )`,
  `CREATE TABLE cumulative_counters (
     record_type INT NOT NULL,
     record_id BIGINT UNSIGNED NOT NULL,
     writer BIGINT UNSIGNED NOT NULL,
     count BIGINT NOT NULL,
     PRIMARY KEY (record_type, record_id, writer)
   )`,
  `CREATE TABLE events (
     id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
     record_type INT NOT NULL,
     record_id BIGINT UNSIGNED NOT NULL,
     PRIMARY KEY (id)
   )`,
]

/** A table whose sum says how much was counted. */
export type CountTable =
  | 'slotted_counters'
  | 'one_row_counters'
  | 'published_slotted_counters'
  | 'cumulative_counters'
  | 'counter_totals'

/** The product's tables and those of what it is compared with. */
export async function makeTables(server: BenchServer, database: string): Promise<void> {
  await migrate({ databaseUrl: `${server.url}/${database}`, say: () => {} })
  for (const table of BASELINE_TABLES) await server.query(table.replace('TABLE ', `TABLE \`${database}\`.`))
}
