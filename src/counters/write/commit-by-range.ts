import type { Executor } from '../../database/database.ts'
import { classify } from '../../database/errors.ts'
import { byRange } from '../ranges.ts'
import { Overloaded } from '../shared-work-state.ts'
import { type FlushContext, SlotPool } from './flush-group.ts'
import { GroupCommit } from './group-commit.ts'
import type { CountOptions, Increment } from './increment-group.ts'

/** Counts in several ranges: one `GroupCommit` for each, so a flush stays in one range. A failing shard delays only its own. */
export class CommitByRange {
  readonly #commits: readonly GroupCommit[]

  /** @param dbs one for each range; they make one attempt at each statement */
  constructor(dbs: readonly Executor[], options: Omit<FlushContext, 'db' | 'slots'>) {
    this.#commits = dbs.map((db) => new GroupCommit({ ...options, db, slots: new SlotPool() }))
  }

  /** Requests that wait, once for each range, and flushes in flight. */
  get load() {
    return this.#commits.reduce(
      (sum, { load }) => ({ waiting: sum.waiting + load.waiting, flushes: sum.flushes + load.flushes }),
      { waiting: 0, flushes: 0 },
    )
  }

  /**
   * Adds increments to their counters. Settles when every range has answered. See `GroupCommit.count`.
   * @throws {DatabaseFailure} if any range failed; `applied` is `no` only if certainly nothing was counted in any range
   * @throws {Overloaded} if too many requests wait; nothing was counted
   */
  async count(increments: readonly Increment[], options: CountOptions): Promise<'counted' | 'queued'> {
    const parts = [...byRange(increments, this.#commits.length, ({ counter }) => counter.recordId)]
    const [first] = parts
    if (parts.length === 1) return this.#commits[first![0]]!.count(increments, options)
    // Nothing is ready before the last part is counted.
    const outcomes = await Promise.allSettled(
      parts.map(([range, part]) => this.#commits[range]!.count(part, { ...options, answerReady: false })),
    )
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
    if (reasons.length === 0) {
      const queued = outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value === 'queued')
      return queued ? 'queued' : 'counted'
    }
    const failures = reasons.filter((reason) => !(reason instanceof Overloaded)).map(classify)
    const nothing = reasons.length === outcomes.length && failures.every(({ applied }) => applied === 'no')
    if (nothing) throw failures[0] ?? new Overloaded()
    const failure = failures[0] ?? classify(new Error('too many requests wait for some of the ranges'))
    throw failure.withApplied('unknown')
  }
}
