import type { Increment } from '../../src/counters/batch.ts'
import type { FlushContext } from '../../src/counters/flush.ts'
import { GroupCommit } from '../../src/counters/group-commit.ts'
import { StoredNames } from '../../src/counters/names.ts'
import { SlotPool } from '../../src/counters/slots.ts'
import type { Executor } from '../../src/database/database.ts'

/** What one isolate of the Worker counts with. Many of them in one test stand for many isolates. */
export class TestIsolate {
  readonly counting: GroupCommit
  readonly #leading: Promise<unknown>[] = []

  /** @param db how it reaches the database; one attempt at each statement */
  constructor(db: Executor, overrides: Partial<FlushContext> = {}) {
    this.counting = new GroupCommit({
      db,
      deadlineMs: 30_000,
      classicSlots: new Map(),
      slots: new SlotPool(),
      names: new StoredNames(),
      queue: null,
      ...overrides,
    })
  }

  /** Counts as one request does. */
  count(increments: readonly Increment[], key?: bigint): Promise<'counted' | 'queued'> {
    return this.counting.count(increments, { key, waitUntil: (work) => this.#leading.push(work) })
  }

  /** Waits for what its requests left to be done after their answers. */
  async settle(): Promise<void> {
    while (this.#leading.length > 0) await Promise.all(this.#leading.splice(0))
  }
}
