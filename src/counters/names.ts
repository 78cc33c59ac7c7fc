import type { Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { toText } from '../database/text.ts'
import { byPrimaryKey, type Counter, counterId } from './counter.ts'
import { Generations } from './generations.ts'

/** Names in one generation; two of them are remembered. */
const MAX_GENERATION = 10_000
/** Names that one statement stores beyond those it is about. */
const MAX_OWED_AT_ONCE = 500
/** Milliseconds after names could not be stored in which that is not tried again: counts wait for it. */
const RETRY_MS = 2_000

/**
 * The counters whose names this isolate knows to be in the database, so that a name costs one statement per isolate and
 * not one per hit. Plain data, bounded, shared by requests. A name that is forgotten is stored once more.
 */
export class StoredNames {
  readonly #names = new Generations<true>(MAX_GENERATION)
  /** Those that could not be stored when they should have been. */
  readonly #owed = new Map<string, Counter>()
  #retryAt = 0

  has(counter: Counter): boolean {
    return this.#names.has(counterId(counter))
  }

  add(counter: Counter): void {
    const id = counterId(counter)
    this.#names.set(id, true)
    this.#owed.delete(id)
  }

  /**
   * Remembers, within bounds, counters whose names could not be stored.
   *
   * @param now milliseconds of `Date.now()`; for a while from then on, names are only owed
   */
  owe(counters: Iterable<Counter>, now: number): void {
    this.#retryAt = now + RETRY_MS
    this.#postpone(counters)
  }

  #postpone(counters: Iterable<Counter>): void {
    for (const counter of counters) {
      if (this.#owed.size < MAX_GENERATION) this.#owed.set(counterId(counter), counter)
    }
  }

  /**
   * The counters whose names are to be stored now: those of some, each once, whose name may not be in the database yet, and
   * some of those that are owed. None while names are only owed.
   *
   * @param now milliseconds of `Date.now()`
   */
  due(counters: Iterable<Counter>, now: number): Counter[] {
    const unknown: Counter[] = []
    for (const counter of counters) if (counter.name !== null && !this.has(counter)) unknown.push(counter)
    const wait = this.#retryAt - now
    // Longer than ever announced: then it was the clock that was set back.
    if (wait > 0 && wait <= RETRY_MS) {
      this.#postpone(unknown)
      return []
    }
    const due = new Map<string, Counter>()
    for (const [id, counter] of this.#owed) {
      if (due.size >= MAX_OWED_AT_ONCE) break
      due.set(id, counter)
    }
    for (const counter of unknown) due.set(counterId(counter), counter)
    return [...due.values()]
  }
}

/**
 * Stores the names of counters. A name without a count does no harm.
 *
 * @throws {DatabaseFailure}
 */
export async function storeNames(db: Executor, counters: readonly Counter[]): Promise<void> {
  if (counters.length === 0) return
  const rows = counters.toSorted(byPrimaryKey)
  // IGNORE: the first name stays; a known one is not rewritten, so counters in use wait for no lock here.
  await db.execute(
    `INSERT IGNORE INTO counter_names (record_type, record_id, name) VALUES ${rows.map(() => '(?, ?, ?)').join(', ')}`,
    rows.flatMap(({ recordType, recordId, name }) => [recordType, recordId, name]),
  )
}

/**
 * The keys that counters stand for, `null` where none is stored.
 *
 * @param counters at most 1,000 or so, of types whose keys are text
 * @throws {DatabaseFailure}
 */
export async function readNames(
  db: Executor,
  counters: readonly Pick<Counter, 'recordType' | 'recordId'>[],
): Promise<(counter: Pick<Counter, 'recordType' | 'recordId'>) => string | null> {
  const names = new Map<string, string>()
  const wanted = new Map(counters.map((counter) => [counterId(counter), counter]))
  if (wanted.size > 0) {
    const { rows } = await db.execute(
      `SELECT record_type, record_id, name FROM counter_names FORCE INDEX (PRIMARY)
       WHERE (record_type, record_id) IN (${[...wanted].map(() => '(?, ?)').join(', ')})`,
      [...wanted.values()].flatMap(({ recordType, recordId }) => [recordType, recordId]),
    )
    for (const { record_type, record_id, name } of rows) {
      names.set(counterId({ recordType: Number(record_type), recordId: toBigInt(record_id) }), toText(name))
    }
  }
  return (counter) => names.get(counterId(counter)) ?? null
}
