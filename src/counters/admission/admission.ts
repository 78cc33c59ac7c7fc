import { BoundedMap } from '../../bounded-map.ts'
import type { Executor } from '../../database/database.ts'
import { DatabaseFailure } from '../../database/errors.ts'
import { type CounterAddress, counterId } from '../counter-address.ts'
import { findMissing } from './existing-counters.ts'
import type { NewKeyBudgets } from './new-key-budget.ts'
import { admitsEverything, mayBeNew, type NewKeyRule } from './new-key-rule.ts'

/** Counters in one generation of a map; it holds two generations. */
const MAX_GENERATION = 10_000
/** Milliseconds for which a counter is believed to exist. It may be deleted in the meantime. */
const KNOWN_MS = 10 * 60_000
/** Milliseconds for which a key stays refused without asking. Short: its counter may be made by a request with a token. */
const REFUSED_MS = 1_000
const MINUTE_MS = 60_000

/** Answers questions of several requests with few queries, as `ReadsByRange` does. */
export interface SharedQuestions {
  read(
    counters: readonly CounterAddress[],
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<{ values: readonly boolean[] }>
}

/** What admission depends on. */
export interface AdmissionOptions {
  /** The rules, by record type. */
  rules: ReadonlyMap<number, NewKeyRule>
  budgets: NewKeyBudgets
  /** Whether a queue accepts what the database does not. */
  hasQueue: boolean
  /** Shares the statements that `ask` sends: whether each of the counters is admitted. */
  share: (ask: (db: Executor, counters: readonly CounterAddress[]) => Promise<boolean[]>) => SharedQuestions
}

/**
 * Decides which keys of public requests count: those of counters that exist, and new ones as far as the rule of the type and its
 * budget go. What is refused is not written anywhere.
 *
 * An isolate remembers which counters exist, so a key costs it one statement in ten minutes, shared with other keys. Plain data,
 * bounded, shared by an isolate's requests.
 */
export class Admission {
  readonly #rules: ReadonlyMap<number, NewKeyRule>
  readonly #budgets: NewKeyBudgets
  readonly #hasQueue: boolean
  readonly #questions: SharedQuestions
  readonly #existence: SharedQuestions
  /** Until when counters are believed to exist, and keys are refused; in milliseconds of `Date.now()`. */
  readonly #known = new BoundedMap<number>(MAX_GENERATION)
  readonly #refused = new BoundedMap<number>(MAX_GENERATION)
  /** Keys of a type that were let in unchecked in a minute. */
  readonly #unchecked = new Map<number, { minute: number; keys: Set<string> }>()

  constructor({ rules, budgets, hasQueue, share }: AdmissionOptions) {
    this.#rules = new Map([...rules].filter(([, rule]) => !admitsEverything(rule)))
    this.#budgets = budgets
    this.#hasQueue = hasQueue
    this.#questions = share((db, counters) => this.#ask(db, counters))
    this.#existence = share((db, counters) => this.#askExistence(db, counters))
  }

  /** Whether a counter is admitted without a question: it is known to exist, or its type has no rule. */
  knows(counter: CounterAddress): boolean {
    return !this.#rules.has(counter.recordType) || isBefore(this.#known.get(counterId(counter)), KNOWN_MS)
  }

  /**
   * Whether the counter of a public request may be counted.
   *
   * @param mayBeNew whether the sender may still bring counters into being
   * @param waitUntil keeps a question going for the other requests when the client of its sender hangs up
   * @throws {DatabaseFailure} if the database does not answer; nothing was counted
   * @throws {Overloaded} if too many requests wait
   */
  async admits(
    counter: CounterAddress,
    { mayBeNew = true, waitUntil }: { mayBeNew?: boolean; waitUntil: (work: Promise<unknown>) => void },
  ): Promise<boolean> {
    if (this.knows(counter)) return true
    if (isBefore(this.#refused.get(counterId(counter)), REFUSED_MS)) return false
    try {
      const { values } = await (mayBeNew ? this.#questions : this.#existence).read([counter], waitUntil)
      return values[0]!
    } catch (error) {
      if (!(error instanceof DatabaseFailure)) throw error
      if (this.#hasQueue && this.#letsInUnchecked(counter)) return true
      throw error.withApplied('no')
    }
  }

  /** @param counters different ones, all in one range */
  async #ask(db: Executor, counters: readonly CounterAddress[]): Promise<boolean[]> {
    const missing = new Set(await findMissing(db, counters))
    // Another question may have let them in already.
    const isNew = (counter: CounterAddress) => missing.has(counter) && !this.knows(counter)
    const refused = new Set<CounterAddress>()
    for (const [recordType, rule] of this.#rules) {
      const candidates = counters.filter((counter) => counter.recordType === recordType && isNew(counter))
      const eligible = candidates.filter((counter) => mayBeNew(rule, counter.name))
      const { newKeysPerMinute: perMinute } = rule
      const granted =
        perMinute === null ? eligible.length : await this.#budgets.take(recordType, eligible.length, perMinute)
      const admitted = new Set(eligible.slice(0, granted))
      for (const counter of candidates) if (!admitted.has(counter)) refused.add(counter)
    }
    const now = Date.now()
    for (const counter of counters) {
      if (refused.has(counter)) this.#refused.set(counterId(counter), now + REFUSED_MS)
      else this.#known.set(counterId(counter), now + KNOWN_MS)
    }
    return counters.map((counter) => !refused.has(counter))
  }

  async #askExistence(db: Executor, counters: readonly CounterAddress[]): Promise<boolean[]> {
    const missing = new Set(await findMissing(db, counters))
    const now = Date.now()
    for (const counter of counters) if (!missing.has(counter)) this.#known.set(counterId(counter), now + KNOWN_MS)
    return counters.map((counter) => !missing.has(counter))
  }

  /**
   * Whether a key may go to the queue although the database cannot say whether it exists: as many of a type in a minute as may
   * come into being. Otherwise an isolate that starts during an outage would lose all hits.
   */
  #letsInUnchecked(counter: CounterAddress): boolean {
    const limit = this.#rules.get(counter.recordType)?.newKeysPerMinute ?? null
    if (limit === null) return true
    const minute = Math.floor(Date.now() / MINUTE_MS)
    let entry = this.#unchecked.get(counter.recordType)
    if (entry?.minute !== minute) {
      entry = { minute, keys: new Set() }
      this.#unchecked.set(counter.recordType, entry)
    }
    const id = counterId(counter)
    if (!entry.keys.has(id) && entry.keys.size >= Math.min(limit, MAX_GENERATION)) return false
    entry.keys.add(id)
    return true
  }
}

/** Whether a time that was set at most so far ahead is still to come. A later one means that the clock was set back. */
function isBefore(until: number | undefined, ahead: number): boolean {
  if (until === undefined) return false
  const left = until - Date.now()
  return left > 0 && left <= ahead
}
