import { bucketsSql } from '../../database/buckets.ts'
import type { Database, Executor } from '../../database/database.ts'
import { byPrimaryKey, type CounterAddress, type CounterPlace, counterId } from '../counter-address.ts'
import { counterListsSql, counterValues, HOUR_SQL, placeOf, readByCounter, sameCounterSql } from '../counters-sql.ts'
import { newVersion } from '../ids.ts'
import { rowsByRange } from '../ranges.ts'

const MAX_PRUNED = 1_000

/** Longer than an isolate believes in a name, and than a batch is repeated. `+ 0`: the index's gaps must not be locked. */
const LONG_GONE = `gone_hour + 0 < ${HOUR_SQL} - 1`

/** SQL: whether something of the counter of `counters AS n` is pending. Not EXISTS: MariaDB would read whole tables. */
const PENDING_SQL = `COALESCE((SELECT MAX(s.pending) FROM slotted_counters AS s
  WHERE ${sameCounterSql('s', 'n')} AND s.pending = 1), 0)`

/** SQL: whether the counter of `counters AS n` is in lists. A marked one is if it counts: the next roll-up removes the mark. */
export const LISTED_SQL = `(n.gone_hour IS NULL OR ${PENDING_SQL} = 1)`

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

/** Deletes the names that were marked more than an hour ago. If one counts after all, because an isolate believed in it, it is unmarked. */
export async function pruneNames(db: Database): Promise<void> {
  const { rows } = await db.execute(
    `SELECT record_type, record_id, count <> 0 OR ${PENDING_SQL} AS counts
     FROM counters AS n FORCE INDEX (gone) WHERE gone_hour < ${HOUR_SQL} - 1 LIMIT ${MAX_PRUNED}`,
  )
  const marked = rows.map((row) => ({ ...placeOf(row), counts: Number(row.counts) === 1 }))
  const change = async (statement: string, ifCounts: boolean) => {
    const names = marked.filter(({ counts }) => counts === ifCounts)
    for (const part of rowsByRange(names, db.ranges).values()) {
      // Buckets route the statement to the shard: vtgate does not look into OR.
      const buckets = bucketsSql(part.map(({ recordId }) => recordId))
      await db.execute(`${statement} WHERE ${buckets} AND (${counterListsSql(part).join(' OR ')}) AND ${LONG_GONE}`)
    }
  }
  await change('DELETE FROM counters', false)
  await change('UPDATE counters SET gone_hour = NULL', true)
}
