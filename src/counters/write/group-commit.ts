import type { Executor } from '../../database/database.ts'
import { classify, DatabaseFailure } from '../../database/errors.ts'
import { log } from '../../log.ts'
import { rangeOf } from '../ranges.ts'
import { Overloaded, pause, SharedWork } from '../shared-work-state.ts'
import { enqueue, type FlushContext, flush, QUEUE_DEADLINE_MS, ShortestDuration, SlotPool } from './flush-group.ts'
import {
  type CommitOutcome,
  type CountOptions,
  type Increment,
  IncrementGroup,
  type Ticket,
  waitForNews,
} from './increment-group.ts'

/** After this, increments that no flush has picked up stop waiting. */
const MAX_AGE_MS = 6_000
/** The same if there is a queue to put them into. */
const MAX_AGE_WITH_QUEUE_MS = 1_000
/** Flushes in flight at once. Each has its own slot in every counter. */
const MAX_LEADERS = 6
/** How long a group waits for more requests while many arrive: larger batches save more than the wait costs. */
const PACE_MS = 6
/** The same while flushes end in the queue, which charges by the message. */
const QUEUE_PACE_MS = 100
/** Milliseconds without a flush after which an isolate is idle. */
const IDLE_MS = 1_000
/** Requests in a flush from which on many requests wait. */
const MANY = 16
/** Requests in a flush from which on a larger one saves little: a statement costs an isolate as much as a dozen hits. */
const ENOUGH = 60
/** The most groups into which waiting requests are divided. */
const MAX_SHARES = 3
/** What one request does for others. It may send 50 subrequests on the free plan, and work for 30 s after its response. */
const MAX_FLUSHES = 8
const MAX_LEAD_MS = 12_000
const MAX_PATIENCE_MS = 500
/** A batch is not sent again after this, long before the rows that recognize it may be pruned. */
const MAX_RESEND_MS = 10 * 60_000

/** A request that sends what it and others are waiting for. */
interface Leader {
  group: IncrementGroup | null
  /** Of its latest flush. */
  beganAt: number
  silentUntil: number
  /** It takes no further group, so another request may lead. */
  leaving: boolean
  over: boolean
}

/**
 * Merges the increments of an isolate's requests into few statements (group commit). Those that arrive during a flush are part of the next
 * one. A request is answered once its flush is committed. The first request that finds a place leads: it flushes within its own
 * `waitUntil` until nothing waits or its turn is over. If it falls silent, another takes over (`SharedWork`) and may send the batch again.
 */
export class GroupCommit {
  readonly #context: FlushContext
  readonly work: SharedWork
  readonly #shortest = new ShortestDuration()
  #open: IncrementGroup | null = null
  /** Groups that are full, or whose leader fell silent; oldest first. */
  #ready: IncrementGroup[] = []
  /** One for each flush in flight, or about to be. */
  readonly leaders = new Set<Leader>()
  #lastFlushAt = 0
  #lastSize = 0
  #lastQueued = false

  constructor(context: FlushContext) {
    this.#context = context
    this.work = new SharedWork(Math.max(context.deadlineMs, QUEUE_DEADLINE_MS))
  }

  /**
   * Adds increments to their counters: all or none. @throws {Overloaded} too many requests wait; nothing was counted
   * @throws {DatabaseFailure} if neither database nor queue accepted them; `applied`: `no` if certainly nothing was counted
   */
  async count(
    increments: readonly Increment[],
    { waitUntil, answerReady = false, named = true }: CountOptions,
  ): Promise<'counted' | 'queued'> {
    const now = Date.now()
    this.#replaceSilent(now)
    this.work.admit(increments.length)
    const ticket = this.#join(increments, now)
    if (!named) ticket.group.unnamed = true
    let leader: Leader | null = null
    // The request may end at any await when its client hangs up. Nothing may depend on the code that follows.
    for (let polledAt = now; ; polledAt = Date.now()) {
      // One turn at a time: the subrequests of a request are limited.
      const next: Leader | null = leader === null || leader.over ? this.#newLeader(polledAt) : null
      if (next !== null) {
        leader = next
        // The first flush is the one that this request needs.
        const first = this.#flushNext(leader)
        waitUntil(this.#lead(leader, first))
        await first
      } else {
        // A millisecond later than expected, so that the first poll is usually the last.
        const patience = this.work.patience(ticket.group.expectedAt + 1, polledAt, MAX_PATIENCE_MS)
        await waitForNews(ticket, patience, answerReady)
      }
      const { outcome } = ticket.group
      if (outcome?.status === 'failed') throw outcome.failure
      if (outcome !== null) return outcome.status
    }
  }

  #join(increments: readonly Increment[], now: number): Ticket {
    if (this.#open !== null && !this.#open.fits(increments)) {
      this.#ready.push(this.#open)
      this.#open = null
    }
    // A group that waited because no request was there to lead it has not waited for the database.
    if (this.#open !== null && this.leaders.size === 0) this.#open.waitsSince = now
    this.#open ??= new IncrementGroup(now, this.#expectation(now))
    const before = this.#open.size
    const ticket: Ticket = { increments, group: this.#open, wake: null }
    this.#open.add(ticket)
    this.work.enter(1, this.#open.size - before)
    return ticket
  }

  /** When a group that is opened now will probably be committed. */
  #expectation(now: number): number {
    const hasPlace = this.#remaining() < this.#leadersWanted()
    const oldest = Math.min(...[...this.leaders].map(({ beganAt }) => beganAt))
    const placeAt = hasPlace ? now : oldest + this.work.durationMs
    return Math.max(now, placeAt, this.#lastFlushAt + this.#pace(now)) + this.work.durationMs
  }

  /** How long a group waits for more requests, in milliseconds. An idle isolate flushes at once. */
  #pace(now: number): number {
    if (now - this.#lastFlushAt > IDLE_MS) return 0
    if (this.#lastQueued) return QUEUE_PACE_MS
    return this.#lastSize >= MANY ? PACE_MS : 0
  }

  /**
   * Flushes in flight with which one begins every `PACE_MS` although the database is far away. With more, each is smaller, and all take
   * longer. But a full group cannot grow, so it need not wait. If many requests wait, one more keeps the isolate busy meanwhile.
   */
  #leadersWanted(): number {
    const { milliseconds } = this.#shortest
    const hideDistance = Number.isFinite(milliseconds) ? Math.ceil(milliseconds / PACE_MS) : 1
    const stayBusy = this.work.waiting >= 2 * ENOUGH ? 1 : 0
    const full = this.#ready.length > 0 ? this.#remaining() + this.#ready.length : 0
    return Math.min(Math.max(hideDistance + stayBusy, full), MAX_LEADERS)
  }

  /** Whether the open group has its share of all that wait. There are few shares, because a busy isolate sees answers late. */
  #isLargeEnough(): boolean {
    if (this.#open === null || this.#lastQueued) return false
    const share = this.work.waiting / Math.min(this.#leadersWanted(), MAX_SHARES)
    return this.#open.tickets.length >= Math.max(ENOUGH, share)
  }

  /** Removes a leader that waits for more requests, if there are enough. Returns whether there was one. */
  #endWait(): boolean {
    if (!this.#isLargeEnough()) return false
    const waiting = [...this.leaders].find(({ group, leaving }) => group === null && !leaving)
    return waiting !== undefined && this.leaders.delete(waiting)
  }

  /** Removes leaders that fell silent, and puts their groups at the head of the waiting ones. */
  #replaceSilent(now: number): void {
    for (const leader of this.leaders) {
      if (!this.work.isDead(leader.silentUntil, now)) continue
      this.leaders.delete(leader)
      const { group } = leader
      leader.group = null
      if (group !== null && group.outcome === null) {
        group.contested = true
        this.#ready.unshift(group)
      }
    }
  }

  /** A new leader, if a group waits and there is a place for one. */
  #newLeader(now: number): Leader | null {
    this.#replaceSilent(now)
    if (this.#open === null && this.#ready.length === 0) return null
    // The oldest group has waited too long, and no leader is about to take it.
    const mayExceed = this.#isStale(now) && [...this.leaders].every(({ group }) => group !== null)
    if (this.#remaining() >= this.#leadersWanted() && !mayExceed && !this.#endWait()) return null
    const leader: Leader = { group: null, beganAt: now, silentUntil: now + PACE_MS, leaving: false, over: false }
    this.leaders.add(leader)
    return leader
  }

  /** Leaders that will flush further groups. */
  #remaining(): number {
    return [...this.leaders].filter(({ leaving }) => !leaving).length
  }

  /** Whether the oldest group has waited too long to wait for a leader. */
  #isStale(now: number): boolean {
    const oldest = this.#ready[0] ?? this.#open
    const maxAge = this.#context.queue === null ? MAX_AGE_MS : MAX_AGE_WITH_QUEUE_MS
    return oldest?.batch === null && now - oldest.waitsSince > maxAge
  }

  /** Flushes one waiting group after another until the leader's turn is over. Never rejects. */
  async #lead(leader: Leader, first: Promise<void>): Promise<void> {
    const began = Date.now()
    await first
    for (let flushes = 2; this.#open !== null || this.#ready.length > 0; flushes++) {
      // It counted as dead, or its turn is over. Another request leads, unless there is none.
      const replaced = !this.leaders.has(leader)
      if ((replaced || leader.leaving) && (this.#remaining() > 0 || flushes > 2 * MAX_FLUSHES)) break
      if (replaced) this.leaders.add(leader)
      leader.leaving = flushes >= MAX_FLUSHES || Date.now() - began > MAX_LEAD_MS
      await this.#flushNext(leader)
    }
    this.leaders.delete(leader)
    leader.over = true
  }

  /** Flushes the group that has waited longest. Never rejects. */
  async #flushNext(leader: Leader): Promise<void> {
    let now = Date.now()
    const pace = this.#pace(now)
    const early = Math.max(this.#lastFlushAt, this.#open?.waitsSince ?? 0) + pace - now
    if (early > 0 && early <= pace && this.#ready.length === 0 && !this.#isLargeEnough()) {
      leader.silentUntil = now + pace
      await pause(early)
      now = Date.now()
      // The group became large enough, or this leader counted as dead. Another request leads.
      if (!this.leaders.has(leader) && this.#remaining() > 0) return
    }
    // No await between taking the group and sealing it, so increments that arrive from now on join the next one.
    const stale = this.#isStale(now)
    const group = this.#take(now)
    if (group === null) return
    group.expectedAt = now + this.work.durationMs
    // It may have been removed during its pause. With a group in hand, its death must be noticed.
    this.leaders.add(leader)
    leader.silentUntil = now
    leader.group = group
    leader.beganAt = now
    this.#lastFlushAt = now
    this.#lastSize = group.tickets.length
    try {
      const unnamed = group.unnamed && this.#context.queue !== null
      if (stale || unnamed) {
        this.#settle(group, await enqueue(this.#context, group, leader, unnamed ? 'unnamed' : 'waited'))
      } else await this.#flush(leader, group)
    } catch (error) {
      // A bug. The requests that wait must get an answer nevertheless.
      this.#settle(group, { status: 'failed', failure: DatabaseFailure.unexpected(error) })
    } finally {
      leader.group = null
    }
  }

  #take(now: number): IncrementGroup | null {
    for (let group = this.#ready.shift(); group !== undefined; group = this.#ready.shift()) {
      // Its former leader was alive after all.
      if (group.outcome !== null) continue
      if (group.batch === null || now - group.waitsSince <= MAX_RESEND_MS) return group
      const failure = DatabaseFailure.unexpected('no request was there to send it again')
      log('error', 'batch_abandoned', { requests: group.tickets.length, rows: group.size })
      this.#settle(group, { status: 'failed', failure })
    }
    const group = this.#open
    this.#open = null
    return group
  }

  async #flush(leader: Leader, group: IncrementGroup): Promise<void> {
    const result = await flush(this.#context, group, leader)
    const now = Date.now()
    if (result.status === 'counted') {
      this.work.took(now - leader.beganAt)
      this.#shortest.took(now - leader.beganAt, now)
    }
    // A leader that was replaced knows no more than its successor, unless it succeeded.
    if (leader.group !== group && result.status !== 'counted') return
    if (result.status !== 'split') return this.#settle(group, result)
    const halves = group.split(now)
    this.work.enter(0, halves[0].size + halves[1].size - group.size)
    this.#ready.unshift(...halves)
  }

  #settle(group: IncrementGroup, outcome: CommitOutcome): void {
    if (group.outcome !== null) return
    group.outcome = outcome
    this.#lastQueued = outcome.status === 'queued'
    this.work.enter(-group.tickets.length, -group.size)
    if (outcome.status === 'counted') for (const { wake } of group.tickets) wake?.()
  }
}

/** Counts in several ranges: one `GroupCommit` for each, so a flush stays in one range. A failing shard delays only its own. */
export class CommitByRange {
  readonly commits: readonly GroupCommit[]

  /** @param dbs one for each range; they make one attempt at each statement */
  constructor(dbs: readonly Executor[], options: Omit<FlushContext, 'db' | 'slots'>) {
    this.commits = dbs.map((db) => new GroupCommit({ ...options, db, slots: new SlotPool() }))
  }

  /**
   * As `GroupCommit.count`. Settles when every range has answered. @throws {Overloaded} nothing was counted
   * @throws {DatabaseFailure} if any range failed; `applied` is `no` only if certainly nothing was counted in any range
   */
  async count(increments: readonly Increment[], options: CountOptions): Promise<'counted' | 'queued'> {
    const ranges = Map.groupBy(increments, ({ counter }) => rangeOf(counter.recordId, this.commits.length))
    const parts = [...ranges].map(([range, part]) => ({ commit: this.commits[range]!, part }))
    if (parts.length === 1) return parts[0]!.commit.count(increments, options)
    // Nothing is ready before the last part is counted.
    const outcomes = await Promise.allSettled(
      parts.map(({ commit, part }) => commit.count(part, { ...options, answerReady: false })),
    )
    const rejected = outcomes.filter((outcome) => outcome.status === 'rejected')
    const queued = outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value === 'queued')
    if (rejected.length === 0) return queued ? 'queued' : 'counted'
    const failures = rejected
      .filter(({ reason }) => !(reason instanceof Overloaded))
      .map(({ reason }) => classify(reason))
    const nothing = rejected.length === outcomes.length && failures.every(({ applied }) => applied === 'no')
    if (nothing) throw failures[0] ?? new Overloaded()
    const failure = failures[0] ?? classify(new Error('too many requests wait for some of the ranges'))
    throw failure.withApplied('unknown')
  }
}
