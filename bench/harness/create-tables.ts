import { migrate } from '../../cli/migrate/migrations.ts'
import type { BenchServer } from './measured-database.ts'

/** Tables of the alternatives. The second is the slotted counter pattern as published. */
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
]

/** Puts the counts of slots into the index of pending ones, so that it covers exact reads. */
export async function coverReads({ server, database }: { server: BenchServer; database: string }): Promise<void> {
  await server.query(
    `ALTER TABLE \`${database}\`.slotted_counters
     DROP KEY pending, ADD KEY pending (pending, record_type, record_id, bucket, slot, count)`,
  )
}

/** A table whose sum of counts is the number of hits counted. */
export type CountTable = 'slotted_counters' | 'one_row_counters' | 'published_slotted_counters' | 'counters'

/** Creates the product's tables and those of the alternatives. */
export async function createTables(server: BenchServer, database: string): Promise<void> {
  await migrate({ databaseUrl: `${server.url}/${database}` })
  for (const table of BASELINE_TABLES) await server.query(table.replace('TABLE ', `TABLE \`${database}\`.`))
}
