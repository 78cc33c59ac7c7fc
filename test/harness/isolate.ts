import { Keys, type KeysOptions } from '../../src/counters/keys/keys.ts'
import { NewKeyBudgets } from '../../src/counters/keys/new-key-budgets.ts'
import { MAX_READ } from '../../src/counters/read/read-counters.ts'
import { ReadsByRange, SharedReads } from '../../src/counters/read/shared-reads.ts'
import type { Increment } from '../../src/counters/write/apply-batch.ts'
import { CommitByRange } from '../../src/counters/write/commit-by-range.ts'
import { type FlushContext, SlotPool } from '../../src/counters/write/flush-group.ts'
import { GroupCommit } from '../../src/counters/write/group-commit.ts'
import { keptHours } from '../../src/counters/write/kept-hours.ts'
import type { Database, Executor } from '../../src/database/database.ts'

/** Slots may be pruned as soon as they are empty. */
export const NOT_KEPT = { writer: -1, keyed: -1 }

const DEADLINE_MS = 30_000

/** The part of an isolate that counts. A test may use many of them as many isolates. */
export class TestIsolate {
  readonly counting: CommitByRange
  readonly #keys: Keys
  readonly #leading: Promise<unknown>[] = []

  /** @param db tries each statement once */
  constructor(db: Executor, overrides: Partial<FlushContext> = {}, also: KeysOptions['also'] = new Map()) {
    const context = () => ({
      db,
      deadlineMs: DEADLINE_MS,
      classicSlots: new Map(),
      slots: new SlotPool(),
      keptHours: keptHours(24),
      queue: null,
      ...overrides,
    })
    const ranges = 'ranges' in db ? (db as Database).ranges : 1
    const inEachRange = <T>(make: () => T) => Array.from({ length: ranges }, make)
    this.counting = new CommitByRange(inEachRange(() => new GroupCommit(context())))
    this.#keys = new Keys({
      rules: new Map(),
      also,
      budgets: new NewKeyBudgets([]),
      hasQueue: context().queue !== null,
      share: (read) =>
        new ReadsByRange(
          inEachRange(() => new SharedReads(db, { deadlineMs: DEADLINE_MS, maxCounters: MAX_READ, read })),
        ),
    })
  }

  /** Counts as one request with a token does. */
  async count(increments: readonly Increment[], key?: bigint): Promise<'counted' | 'queued'> {
    const counters = increments.map(({ counter }) => counter)
    const waitUntil = (work: Promise<unknown>) => void this.#leading.push(work)
    await this.#keys.ensure(counters, waitUntil)
    return this.counting.count(increments, { key, waitUntil, named: this.#keys.areNamed(counters) })
  }

  /** Counts as one visit does: the first counter is visited, and the others are of its type's `also`. Each has its own key. */
  async visit(increments: readonly [Increment, ...Increment[]]): Promise<'counted' | 'queued'> {
    const [{ counter }] = increments
    const waitUntil = (work: Promise<unknown>) => void this.#leading.push(work)
    await this.#keys.admits(counter, { waitUntil })
    return this.counting.count(increments, { key: undefined, waitUntil, named: this.#keys.knows(counter) })
  }

  /** Waits for the work that its requests do after their answers. */
  async settle(): Promise<void> {
    while (this.#leading.length > 0) await Promise.all(this.#leading.splice(0))
  }
}
