import { bucketsSql } from '../../database/buckets.ts'
import type { Database, Executor } from '../../database/database.ts'
import { byPrimaryKey, type CounterAddress, type CounterPlace, counterId } from '../counter-address.ts'
import { counterListsSql, counterValues, HOUR_SQL, placeOf, readByCounter, sameCounterSql } from '../counters-sql.ts'
import { newVersion } from '../ids.ts'
import { rowsByRange } from '../ranges.ts'

/** Names of a run. Their deletion locks the gaps where their slots would be, so it must be short. */
const MAX_PRUNED = 100

/** Longer than an isolate believes in a name, and than a batch is repeated. `+ 0`: the gaps of an index must not be locked. */
const LONG_GONE = `gone_hour + 0 < ${HOUR_SQL} - 1`

/** SQL: 1 if anything of a counter is pending, else 0. MariaDB reads whole tables for EXISTS, MySQL all pending slots if not forced. */
const pendingSql = (counter: string) =>
  `COALESCE((SELECT MAX(s.pending) FROM slotted_counters AS s FORCE INDEX (pending)
    WHERE s.pending = 1 AND ${sameCounterSql('s', counter)}), 0)`

/** SQL: whether the counter of `counters AS n` is in lists. A marked one is if it counts: the next roll-up removes the mark. */
export const LISTED_SQL = `(n.gone_hour IS NULL OR ${pendingSql('n')} = 1)`

/** The names in the database by `counterId`: whether they are marked, because their counter was deleted or renamed. */
export type FoundNames = ReadonlyMap<string, boolean>

/** Finds the names of distinct counters, in one statement. */
export async function findNames(db: Executor, counters: readonly CounterPlace[]): Promise<FoundNames> {
  const rows = await readByCounter(db, 'gone_hour IS NOT NULL AS gone', counters)
  return new Map([...rows].map(([id, { gone }]) => [id, Number(gone) === 1]))
}

/** Whether a counter has a name that is not marked. */
export function isUnmarked(found: FoundNames, counter: CounterPlace): boolean {
  return found.get(counterId(counter)) === false
}

/** Stores names that are not among `found`, and removes marks. All counters are in one range. */
export async function storeNames(db: Executor, counters: readonly CounterAddress[], found: FoundNames): Promise<void> {
  const rows = counters.filter((counter) => !isUnmarked(found, counter)).sort(byPrimaryKey)
  const gone = rows.filter((counter) => found.has(counterId(counter)))
  for (const list of counterListsSql(gone)) await db.execute(`UPDATE counters SET gone_hour = NULL WHERE ${list}`)
  if (rows.length === 0) return
  // Marked ones too: a pruning run may just have deleted them. IGNORE keeps the first name.
  await db.execute(
    `INSERT IGNORE INTO counters (record_type, record_id, bucket, name, count, version)
     VALUES ${rows.map((counter) => `(${counterValues(counter)}, ?, 0, ${newVersion()})`).join(', ')}`,
    rows.map(({ name }) => name),
  )
}

/** Ensures that distinct counters have names: up to three statements for each range. A name without a count is harmless. */
export async function ensureNames(db: Database, counters: readonly CounterAddress[]): Promise<void> {
  const parts = [...rowsByRange(counters, db.ranges).values()]
  await Promise.all(parts.map(async (part) => storeNames(db, part, await findNames(db, part))))
}

/** Deletes the names that were marked more than an hour ago, and unmarks those that count, because an isolate believed in them. */
export async function pruneNames(db: Database): Promise<void> {
  const { rows } = await db.execute(
    `SELECT record_type, record_id FROM counters FORCE INDEX (gone) WHERE gone_hour < ${HOUR_SQL} - 1 LIMIT ${MAX_PRUNED}`,
  )
  for (const part of rowsByRange(rows.map(placeOf), db.ranges).values()) {
    // Buckets route the statements to the shard: vtgate does not look into OR.
    const buckets = bucketsSql(part.map(({ recordId }) => recordId))
    const where = `WHERE ${buckets} AND (${counterListsSql(part).join(' OR ')}) AND ${LONG_GONE}`
    await db.execute(`DELETE FROM counters ${where} AND count + 0 = 0 AND ${pendingSql('counters')} = 0`)
    await db.execute(`UPDATE counters SET gone_hour = NULL ${where}`)
  }
}
