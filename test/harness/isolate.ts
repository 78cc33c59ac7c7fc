import { Keys, type KeysOptions } from '../../src/counters/keys/keys.ts'
import type { FlushContext } from '../../src/counters/write/flush-group.ts'
import { CommitByRange } from '../../src/counters/write/group-commit.ts'
import { type Increment, withKey } from '../../src/counters/write/increment-group.ts'
import type { Database, Executor } from '../../src/database/database.ts'

/** Slots may be pruned as soon as they are empty. */
export const NOT_KEPT = -1

/** The part of an isolate that counts. A test may use many of them as many isolates. */
export class TestIsolate {
  readonly counting: CommitByRange
  readonly #keys: Keys
  readonly #leading: Promise<unknown>[] = []

  /** @param db tries each statement once */
  constructor(db: Executor, overrides: Partial<FlushContext> = {}, also: KeysOptions['also'] = new Map()) {
    const deadlineMs = 30_000
    const options = { deadlineMs, classicSlots: new Map(), idempotencyHours: 24, queue: null, ...overrides }
    const dbs = Array.from({ length: 'ranges' in db ? (db as Database).ranges : 1 }, () => db)
    this.counting = new CommitByRange(dbs, options)
    this.#keys = new Keys(dbs, { rules: new Map(), also, hasQueue: options.queue !== null, deadlineMs })
  }

  /** Counts as one request with a token does. */
  async count(increments: readonly Increment[], key?: bigint): Promise<'counted' | 'queued'> {
    const counters = increments.map(({ counter }) => counter)
    const waitUntil = (work: Promise<unknown>) => void this.#leading.push(work)
    await this.#keys.ensure(counters, waitUntil)
    return this.counting.count(withKey(increments, key), { waitUntil, named: this.#keys.areNamed(counters) })
  }

  /** Counts as one visit does: the first counter is visited, and the others are of its type's `also`. Each has its own key. */
  async visit(increments: readonly [Increment, ...Increment[]]): Promise<'counted' | 'queued'> {
    const [{ counter }] = increments
    const waitUntil = (work: Promise<unknown>) => void this.#leading.push(work)
    await this.#keys.admits(counter, { waitUntil })
    return this.counting.count(increments, { waitUntil, named: this.#keys.knows(counter) })
  }

  /** Waits for the work that its requests do after their answers. */
  async settle(): Promise<void> {
    while (this.#leading.length > 0) await Promise.all(this.#leading.splice(0))
  }
}
