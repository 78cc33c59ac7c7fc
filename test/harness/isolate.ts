import { counterId } from '../../src/counters/keys/counter-address.ts'
import { ensureNames } from '../../src/counters/keys/names.ts'
import type { Increment } from '../../src/counters/write/apply-batch.ts'
import { CommitByRange } from '../../src/counters/write/commit-by-range.ts'
import type { FlushContext } from '../../src/counters/write/flush-group.ts'
import { GroupCommit } from '../../src/counters/write/group-commit.ts'
import { SlotPool } from '../../src/counters/write/slot-pool.ts'
import type { Database, Executor } from '../../src/database/database.ts'
import { retrying } from '../../src/database/retry.ts'

/** The part of an isolate that counts. A test may use many of them as many isolates. */
export class TestIsolate {
  readonly counting: CommitByRange
  readonly #leading: Promise<unknown>[] = []
  readonly #db: Executor
  readonly #ranges: number
  readonly #named = new Set<string>()

  /** @param db tries each statement once */
  constructor(db: Executor, overrides: Partial<FlushContext> = {}) {
    const context = () => ({
      db,
      deadlineMs: 30_000,
      classicSlots: new Map(),
      slots: new SlotPool(),
      queue: null,
      ...overrides,
    })
    this.#db = db
    this.#ranges = 'ranges' in db ? (db as Database).ranges : 1
    this.counting = new CommitByRange(Array.from({ length: this.#ranges }, () => new GroupCommit(context())))
  }

  /** Counts as one request does: in counters that have names. */
  async count(increments: readonly Increment[], key?: bigint): Promise<'counted' | 'queued'> {
    const unnamed = new Map(
      increments.map(({ counter }) => [counterId(counter), counter] as const).filter(([id]) => !this.#named.has(id)),
    )
    if (unnamed.size > 0) {
      await ensureNames(retrying(this.#db), [...unnamed.values()], this.#ranges)
      for (const id of unnamed.keys()) this.#named.add(id)
    }
    return this.counting.count(increments, { key, waitUntil: (work) => this.#leading.push(work) })
  }

  /** Waits for the work that its requests do after their answers. */
  async settle(): Promise<void> {
    while (this.#leading.length > 0) await Promise.all(this.#leading.splice(0))
  }
}
