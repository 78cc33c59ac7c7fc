import { BoundedMap } from '../../bounded-map.ts'
import type { Executor } from '../../database/database.ts'
import { DatabaseFailure } from '../../database/errors.ts'
import { retrying } from '../../database/retry-and-breaker.ts'
import { MINUTE_MS } from '../calendar.ts'
import { type CounterAddress, counterId } from '../counter-address.ts'
import { SharedReads } from '../shared-reads.ts'
import { isAhead, type WaitUntil } from '../shared-work-state.ts'
import { type FoundNames, findNames, isUnmarked, storeNames } from './names.ts'
import { mayBeNew, NewKeyBudgets, type NewKeyRule } from './new-key-budgets.ts'

/** Counters that one statement asks for. */
const MAX_ASKED = 1_000
/** Counters in one generation of a map; it holds two. */
const MAX_GENERATION = 10_000
/** How long a name is believed to be stored. `pruneNames` deletes none earlier than an hour after its counter. */
const KNOWN_MS = 10 * MINUTE_MS
/** How long a key stays refused without a look-up. Short: a request with a token may create its counter. */
const REFUSED_MS = 1_000

export interface KeysOptions {
  /** Rules for public requests, by record type. */
  rules: ReadonlyMap<number, NewKeyRule>
  /** The types in which visits of a type count too, by its record type. */
  also: ReadonlyMap<number, readonly { recordType: number; visitorsOf: 'page' | 'prefix' | 'site' }[]>
  /** Whether a queue accepts what the database does not. Its consumer ensures names. */
  hasQueue: boolean
  /** The time-out of one attempt at a statement. */
  deadlineMs: number
}

/** Names counters before they count, and decides which new keys public requests may create. An isolate believes a name for ten minutes. */
export class Keys {
  readonly #options: KeysOptions
  readonly #budgets: NewKeyBudgets
  // Each answers whether counters may count.
  readonly #trusted: SharedReads<boolean>
  readonly #public: SharedReads<boolean>
  readonly #existing: SharedReads<boolean>
  /** Until when names are believed to be stored, and keys are refused: milliseconds of `Date.now()`. */
  readonly #known = new BoundedMap<number>(MAX_GENERATION)
  readonly #refused = new BoundedMap<number>(MAX_GENERATION)
  /** Keys admitted unchecked in a minute, by record type. */
  readonly #unchecked = new Map<number, { minute: number; keys: Set<string> }>()

  /** @param dbs one for each range; they make one attempt at each statement */
  constructor(dbs: readonly Executor[], options: KeysOptions) {
    this.#options = options
    this.#budgets = new NewKeyBudgets(dbs.map((db) => retrying(db)))
    const share = (read: (db: Executor, counters: readonly CounterAddress[]) => Promise<boolean[]>) =>
      new SharedReads(dbs, { deadlineMs: options.deadlineMs, maxCounters: MAX_ASKED, read })
    this.#trusted = share(async (db, counters) => {
      await this.#store(db, counters, await findNames(db, counters))
      return counters.map(() => true)
    })
    this.#public = share((db, counters) => this.#admit(db, counters, true))
    this.#existing = share((db, counters) => this.#admit(db, counters, false))
  }

  /** Whether a public request may count without a look-up: the names of the counter and its companions are stored. */
  knows(counter: CounterAddress): boolean {
    return this.#hasName(counter) && this.areNamed(this.#companionsOf(counter))
  }

  /**
   * Ensures names for a request with a token. If the database is unavailable, that is left to the queue's consumer (`areNamed`).
   * @throws {DatabaseFailure | Overloaded} nothing was counted
   */
  async ensure(counters: readonly CounterAddress[], waitUntil: WaitUntil): Promise<void> {
    const unknown = counters.filter((counter) => !this.#hasName(counter))
    if (unknown.length === 0) return
    try {
      await this.#trusted.read(unknown, waitUntil)
    } catch (error) {
      if (!(error instanceof DatabaseFailure)) throw error
      if (!this.#options.hasQueue) throw error.withApplied('no')
    }
  }

  /** Whether a public request may count: then its counter and companions have names. Throws as `ensure`. `mayBeNew`: it may create them. */
  async admits(
    counter: CounterAddress,
    { mayBeNew = true, waitUntil }: { mayBeNew?: boolean; waitUntil: WaitUntil },
  ): Promise<boolean> {
    if (this.knows(counter)) return true
    if (isAhead(this.#refused.get(counterId(counter)) ?? 0, Date.now(), REFUSED_MS)) return false
    try {
      const { newKeys, newKeysPerMinute } = this.#ruleOf(counter)
      // Without a budget, there is nothing to use up.
      const mayCreate = mayBeNew || (newKeys === 'any' && newKeysPerMinute === null)
      const [admitted] = await (mayCreate ? this.#public : this.#existing).read([counter], waitUntil)
      return admitted!
    } catch (error) {
      if (!(error instanceof DatabaseFailure)) throw error
      if (this.#options.hasQueue && this.#letsInUnchecked(counter)) return true
      throw error.withApplied('no')
    }
  }

  /** Whether a public counter exists, or its rule and budget allow it. Always asks the database, and stores and remembers nothing. */
  async mayCount(db: Executor, counter: CounterAddress): Promise<boolean> {
    if (isUnmarked(await findNames(db, [counter]), counter)) return true
    const rule = this.#ruleOf(counter)
    return mayBeNew(rule, counter.name) && rule.newKeysPerMinute !== 0
  }

  /** Whether counters are known to have names. Those that were left to the queue are not. */
  areNamed(counters: readonly CounterAddress[]): boolean {
    return counters.every((counter) => this.#hasName(counter))
  }

  #hasName(counter: CounterAddress): boolean {
    return isAhead(this.#known.get(counterId(counter)) ?? 0, Date.now(), KNOWN_MS)
  }

  /** The counters in which visits of another one count too, under the same key, and so the same record id. */
  #companionsOf({ recordType, recordId, name }: CounterAddress): readonly CounterAddress[] {
    const also = this.#options.also.get(recordType) ?? []
    return also.flatMap(({ recordType, visitorsOf }) => (visitorsOf === 'page' ? { recordType, recordId, name } : []))
  }

  /** Whether each counter may count. `mayCreate`: whether new ones may be created. */
  async #admit(db: Executor, counters: readonly CounterAddress[], mayCreate: boolean): Promise<boolean[]> {
    const withCompanions = (counters: readonly CounterAddress[]) =>
      counters.flatMap((counter) => [counter, ...this.#companionsOf(counter)])
    const found = await findNames(db, withCompanions(counters))
    // Another query may have admitted some already.
    const added = counters.filter((counter) => !isUnmarked(found, counter) && !this.#hasName(counter))
    const refused = new Set(added)
    for (const ofType of Map.groupBy(mayCreate ? added : [], ({ recordType }) => recordType).values()) {
      for (const counter of await this.#choose(ofType)) refused.delete(counter)
    }
    const admitted = counters.filter((counter) => !refused.has(counter))
    await this.#store(db, withCompanions(admitted), found)
    // Without `mayCreate`, another network may still create them.
    for (const counter of mayCreate ? refused : []) this.#refused.set(counterId(counter), Date.now() + REFUSED_MS)
    return counters.map((counter) => !refused.has(counter))
  }

  /** Those of some counters of a type that may be created. */
  async #choose(counters: readonly CounterAddress[]): Promise<readonly CounterAddress[]> {
    const rule = this.#ruleOf(counters[0]!)
    const eligible = counters.filter(({ name }) => mayBeNew(rule, name))
    if (rule.newKeysPerMinute === null) return eligible
    const taken = await this.#budgets.take(counters[0]!.recordType, eligible.length, rule.newKeysPerMinute)
    return eligible.slice(0, taken)
  }

  #ruleOf({ recordType }: CounterAddress): NewKeyRule {
    return this.#options.rules.get(recordType) ?? { newKeys: 'any', newKeysPerMinute: null }
  }

  /** Stores names that are not stored yet, and remembers all of them. */
  async #store(db: Executor, counters: readonly CounterAddress[], found: FoundNames): Promise<void> {
    // Before storing: a name that is stored while its counter is deleted stays for an hour.
    const now = Date.now()
    await storeNames(db, counters, found)
    for (const counter of counters) this.#known.set(counterId(counter), now + KNOWN_MS)
  }

  /** During an outage, as many new keys as a minute allows are queued unchecked: a new isolate would otherwise lose all hits. */
  #letsInUnchecked(counter: CounterAddress): boolean {
    const limit = this.#ruleOf(counter).newKeysPerMinute
    if (limit === null) return true
    const minute = Math.floor(Date.now() / MINUTE_MS)
    const earlier = this.#unchecked.get(counter.recordType)
    const { keys } = earlier?.minute === minute ? earlier : { keys: new Set<string>() }
    this.#unchecked.set(counter.recordType, { minute, keys })
    const id = counterId(counter)
    if (keys.size < Math.min(limit, MAX_GENERATION)) keys.add(id)
    return keys.has(id)
  }
}
