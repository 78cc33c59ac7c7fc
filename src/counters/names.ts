import type { Executor } from '../database/database.ts'
import { byPrimaryKey, type Counter, counterId } from './counter.ts'

/** Names in one generation; two of them are remembered. */
const MAX_GENERATION = 10_000

/**
 * The counters whose names this isolate knows to be in the database, so that a name costs one statement per isolate and
 * not one per hit. Plain data, bounded, shared by requests. A name that is forgotten is stored once more.
 */
export class StoredNames {
  // Two generations instead of one queue: deleting a Set's oldest entry one at a time gets slow (V8 steps over the holes).
  #young = new Set<string>()
  #old = new Set<string>()

  has(counter: Counter): boolean {
    const id = counterId(counter)
    return this.#young.has(id) || this.#old.has(id)
  }

  add(counter: Counter): void {
    if (this.#young.size >= MAX_GENERATION) {
      this.#old = this.#young
      this.#young = new Set()
    }
    this.#young.add(counterId(counter))
  }
}

/**
 * Stores the names of counters that may not have theirs in the database yet. Called before their first increment, so that
 * there is never a count without a name; a name without a count does no harm.
 *
 * @throws {DatabaseFailure}
 */
export async function storeNames(db: Executor, stored: StoredNames, counters: readonly Counter[]): Promise<void> {
  const missing = new Map<string, Counter>()
  for (const counter of counters) {
    if (counter.name !== null && !stored.has(counter)) missing.set(counterId(counter), counter)
  }
  if (missing.size === 0) return
  const rows = [...missing.values()].sort(byPrimaryKey)
  // IGNORE: the first name stays; a known one is not rewritten, so counters in use wait for no lock here.
  await db.execute(
    `INSERT IGNORE INTO counter_names (record_type, record_id, name) VALUES ${rows.map(() => '(?, ?, ?)').join(', ')}`,
    rows.flatMap(({ recordType, recordId, name }) => [recordType, recordId, name]),
  )
  for (const counter of rows) stored.add(counter)
}
