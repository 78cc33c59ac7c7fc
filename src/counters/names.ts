import { BoundedMap } from '../bounded-map.ts'
import type { Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { toText } from '../database/text.ts'
import { byPrimaryKey, type CounterAddress, counterId } from './counter-address.ts'
import { rowsByRange } from './ranges.ts'

/** Names in one generation of the map; it holds two generations. */
const MAX_GENERATION = 10_000
/** Postponed names that one statement stores in addition to new ones. */
const MAX_POSTPONED_AT_ONCE = 500
/** Milliseconds for which a name is believed to be in the database. It may have been deleted with its counter since. */
const BELIEVED_MS = 600_000
/** Milliseconds before names are stored again after a failure. Counting waits for each attempt. */
const RETRY_MS = 2_000

/**
 * The counters whose names are known to be in the database, so that a name costs one statement per isolate instead of one
 * per hit. Plain data, bounded, shared by an isolate's requests. A name that drops out of the map is stored again.
 */
export class StoredNames {
  /** When each name was stored, in milliseconds of `Date.now()`. */
  readonly #names = new BoundedMap<number>(MAX_GENERATION)
  /** Counters whose names could not be stored yet. */
  readonly #postponed = new Map<string, CounterAddress>()
  #retryAt = 0

  /** @param now milliseconds of `Date.now()` */
  has(counter: CounterAddress, now: number): boolean {
    const age = now - (this.#names.get(counterId(counter)) ?? Number.NEGATIVE_INFINITY)
    // A negative age means that the clock was set back.
    return age >= 0 && age < BELIEVED_MS
  }

  /** @param now milliseconds of `Date.now()` */
  add(counter: CounterAddress, now: number): void {
    const id = counterId(counter)
    this.#names.set(id, now)
    this.#postponed.delete(id)
  }

  /** Forgets a name that was deleted with its counter. */
  forget(counter: CounterAddress): void {
    this.#names.set(counterId(counter), Number.NEGATIVE_INFINITY)
  }

  /**
   * Remembers, within bounds, counters whose names could not be stored. No names are stored for a while.
   *
   * @param now milliseconds of `Date.now()`
   */
  retryLater(counters: Iterable<CounterAddress>, now: number): void {
    this.#retryAt = now + RETRY_MS
    this.#postpone(counters)
  }

  #postpone(counters: Iterable<CounterAddress>): void {
    for (const counter of counters) {
      if (this.#postponed.size < MAX_GENERATION) this.#postponed.set(counterId(counter), counter)
    }
  }

  /**
   * The counters whose names should be stored now, each once: those of the given counters whose names may not be in the
   * database yet, and some that were postponed. None shortly after a failure.
   *
   * @param now milliseconds of `Date.now()`
   */
  toStore(counters: Iterable<CounterAddress>, now: number): CounterAddress[] {
    const unknown: CounterAddress[] = []
    for (const counter of counters) if (!this.has(counter, now)) unknown.push(counter)
    const wait = this.#retryAt - now
    // A longer wait than `RETRY_MS` means that the clock was set back. Then do not wait.
    if (wait > 0 && wait <= RETRY_MS) {
      this.#postpone(unknown)
      return []
    }
    const chosen = new Map<string, CounterAddress>()
    for (const [id, counter] of this.#postponed) {
      if (chosen.size >= MAX_POSTPONED_AT_ONCE) break
      chosen.set(id, counter)
    }
    for (const counter of unknown) chosen.set(counterId(counter), counter)
    return [...chosen.values()]
  }
}

/**
 * Stores the names of counters, with one statement for each range. A name without a count does no harm.
 *
 * @param ranges as in `Database`
 */
export async function storeNames(db: Executor, counters: readonly CounterAddress[], ranges: number): Promise<void> {
  await Promise.all(
    [...rowsByRange(counters, ranges).values()].map((part) => {
      const rows = part.toSorted(byPrimaryKey)
      // IGNORE keeps the first name. A stored name is not written again, so counters in use do not wait for a lock here.
      return db.execute(
        `INSERT IGNORE INTO counter_names (record_type, record_id, name) VALUES ${rows.map(() => '(?, ?, ?)').join(', ')}`,
        rows.flatMap(({ recordType, recordId, name }) => [recordType, recordId, name]),
      )
    }),
  )
}

/**
 * Reads the names of counters.
 *
 * @param counters at most about 1,000
 * @returns a function that looks up the name of a counter; `null` if none is stored
 */
export async function readNames(
  db: Executor,
  counters: readonly Pick<CounterAddress, 'recordType' | 'recordId'>[],
): Promise<(counter: Pick<CounterAddress, 'recordType' | 'recordId'>) => string | null> {
  const names = new Map<string, string>()
  const requested = new Map(counters.map((counter) => [counterId(counter), counter]))
  if (requested.size > 0) {
    const { rows } = await db.execute(
      `SELECT record_type, record_id, name FROM counter_names FORCE INDEX (PRIMARY)
       WHERE (record_type, record_id) IN (${[...requested].map(() => '(?, ?)').join(', ')})`,
      [...requested.values()].flatMap(({ recordType, recordId }) => [recordType, recordId]),
    )
    for (const { record_type, record_id, name } of rows) {
      names.set(counterId({ recordType: Number(record_type), recordId: toBigInt(record_id) }), toText(name))
    }
  }
  return (counter) => names.get(counterId(counter)) ?? null
}
