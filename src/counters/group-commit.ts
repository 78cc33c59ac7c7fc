import { DatabaseFailure } from '../database/errors.ts'
import { log } from '../log.ts'
import { addUp, type Increment } from './batch.ts'
import { type Flush, type FlushContext, flush, spill } from './flush.ts'
import { Group, type Outcome, type Ticket } from './group.ts'
import { Overloaded } from './overloaded.ts'

/** Most rows in one statement: a request of 1,000 increments is never split. */
const MAX_ROWS = 1_000
/** Most requests and rows that may wait in one isolate, which has 128 MB for everything. */
const MAX_WAITING = 8_192
const MAX_WAITING_ROWS = 20_000
/** Milliseconds after which increments that no flush has taken are no longer kept waiting. */
const MAX_AGE_MS = 6_000
/** The same where there is a queue to put them into. */
const MAX_AGE_WITH_QUEUE_MS = 1_000
/** Flushes in flight at once, each with a slot of its own in every counter. */
const MAX_LANES = 6
/** Milliseconds between two flushes while many requests wait: larger batches cost less than the wait. */
const PACE_MS = 6
/** The same while flushes end in the queue, which is paid for by the message. */
const QUEUE_PACE_MS = 100
/** Requests in a flush from which on many are said to wait. */
const MANY = 16
/**
 * What one request does for others before it hands over. A request may send 50 subrequests on the free plan (a flush takes
 * two, if nothing fails), and work for 30 s after its answer.
 */
const MAX_FLUSHES = 8
const MAX_LEAD_MS = 12_000
/** The longest silence that anybody announces, in milliseconds: beyond it, it was the clock that was set back. */
const MAX_SILENCE_MS = 15_000
/** Milliseconds after which a batch is not sent again: long before the rows that recognise it may be pruned. */
const MAX_RESEND_MS = 10 * 60_000
/** Milliseconds without a sign of life after which a leader is taken for dead, beyond the deadline of what it sent. */
const SILENCE_MS = 500

/** Milliseconds by which a request's own timer is later than what should have woken it. */
const WAKE_SLACK_MS = 20

/** A request that sends what it and others are waiting for. */
interface Lane {
  group: Group | null
  /** When it began its latest flush. */
  beganAt: number
  /** Until when it has given a sign of life. */
  aliveUntil: number
  /** Whether it takes no further group, so that another may lead. */
  leaving: boolean
}

/** How a request is counted. */
export interface CountOptions {
  /** Slot and batch of increments that are counted once however often they come. */
  key?: bigint | undefined
  /** Keeps work going after the request was answered, or its client hung up. */
  waitUntil: (work: Promise<unknown>) => void
  /**
   * Whether the request has its answer to `counted` ready, and does nothing afterwards but return it: neither I/O, a timer
   * included, nor making a response. Then it is woken sooner. Default: it has not.
   */
  answerReady?: boolean
}

/**
 * Merges the increments of an isolate's requests into few statements (group commit). What arrives while a flush is in
 * flight goes with the next one, and a request is answered once the flush that carries it was committed; an idle isolate
 * sends at once.
 *
 * On Workers a request may not use another one's I/O, promises and timers included. So the state here is plain data, every
 * request waits on timers of its own, and the first that finds a lane free leads: it flushes, within its own `waitUntil`,
 * until nothing waits or its turn is over. A leader that falls silent is replaced; the same batch, sent again, does no harm.
 */
export class GroupCommit {
  readonly #context: FlushContext
  #open: Group | null = null
  /** Groups that are full, or were left by a leader that fell silent; oldest first. */
  #ready: Group[] = []
  readonly #lanes = new Set<Lane>()
  #waiting = 0
  #waitingRows = 0
  /** How long a flush takes, in milliseconds: a moving average. */
  #flushMs = 4
  #lastFlushAt = 0
  #lastSize = 0
  #lastQueued = false

  constructor(context: FlushContext) {
    this.#context = context
  }

  /** Requests that wait, and statements on their way. */
  get load(): { waiting: number; flushes: number } {
    return { waiting: this.#waiting, flushes: this.#lanes.size }
  }

  /**
   * Adds increments to their counters: either every one is counted or none is. Settles when it is known which.
   *
   * @throws {DatabaseFailure} if the database did not take them and no queue did; `applied` says whether it is certain that
   *   nothing was counted
   * @throws {Overloaded} if too much is waiting; nothing was counted
   */
  async count(
    increments: readonly Increment[],
    { key, waitUntil, answerReady = false }: CountOptions,
  ): Promise<'counted' | 'queued'> {
    const now = Date.now()
    this.#replaceSilent(now)
    if (this.#waiting >= MAX_WAITING || this.#waitingRows >= MAX_WAITING_ROWS) throw new Overloaded()
    const ticket = this.#join(addUp(increments), key, now)
    // One turn at a time: a request may send only so much.
    let leads = false
    // From here on it may end at any await without a word, when its client hangs up: nothing may depend on what follows.
    for (;;) {
      const lane = leads ? null : this.#freeLane(Date.now())
      if (lane !== null) {
        leads = true
        const turn = this.#lead(lane)
        const over = turn.over.then(() => {
          leads = false
        })
        waitUntil(over)
        await turn.first
      } else {
        await waitForNews(ticket, this.#patience(ticket.group, Date.now()), answerReady)
      }
      const { outcome } = ticket.group
      if (outcome !== null) return result(outcome)
    }
  }

  #join(increments: readonly Increment[], key: bigint | undefined, now: number): Ticket {
    if (this.#open !== null && this.#open.size + increments.length > MAX_ROWS) {
      this.#ready.push(this.#open)
      this.#open = null
    }
    // What was left over while nobody led has waited for no fault of the database's.
    if (this.#open !== null && this.#lanes.size === 0) this.#open.waitsSince = now
    this.#open ??= new Group(now, this.#expectation(now))
    this.#waiting++
    const before = this.#open.size
    const ticket = this.#open.add(increments, key)
    this.#waitingRows += this.#open.size - before
    return ticket
  }

  /** When a group that is opened now is likely to be committed. */
  #expectation(now: number): number {
    let startAt = now
    if (this.#leaders() >= this.#lanesWanted()) {
      let oldest = Number.POSITIVE_INFINITY
      for (const { beganAt } of this.#lanes) oldest = Math.min(oldest, beganAt)
      startAt = Math.max(startAt, oldest + this.#flushMs)
    }
    startAt = Math.max(startAt, this.#lastFlushAt + this.#pace())
    return startAt + this.#flushMs
  }

  /** How long to wait before looking again: until it should be over, then longer the longer it is overdue. */
  #patience(group: Group, now: number): number {
    const left = group.expectedAt - now
    return Math.min(left > 0 ? Math.ceil(left) + 1 : Math.max(1, -left / 4), 500)
  }

  /** Milliseconds from one flush to the next. */
  #pace(): number {
    if (this.#lastQueued) return QUEUE_PACE_MS
    return this.#lastSize >= MANY ? PACE_MS : 0
  }

  /** As many flushes in flight as it takes for one to begin with every `PACE_MS`. */
  #lanesWanted(): number {
    return Math.min(Math.max(1, Math.ceil(this.#flushMs / PACE_MS)), MAX_LANES)
  }

  /** Frees the lanes of leaders that fell silent, and puts what they were sending in front of what waits. */
  #replaceSilent(now: number): void {
    for (const lane of this.#lanes) {
      if (lane.aliveUntil >= now && lane.aliveUntil - now < MAX_SILENCE_MS) continue
      this.#lanes.delete(lane)
      const { group } = lane
      lane.group = null
      if (group !== null && group.outcome === null) {
        group.contested = true
        this.#ready.unshift(group)
      }
    }
  }

  /** A lane to lead, if something waits and there is one. */
  #freeLane(now: number): Lane | null {
    this.#replaceSilent(now)
    if (this.#open === null && this.#ready.length === 0) return null
    if (this.#leaders() >= this.#lanesWanted() && !(this.#isStale(now) && this.#allBusy())) return null
    const lane: Lane = { group: null, beganAt: now, aliveUntil: now + PACE_MS + SILENCE_MS, leaving: false }
    this.#lanes.add(lane)
    return lane
  }

  /** Requests that will flush what waits. */
  #leaders(): number {
    let leaders = 0
    for (const { leaving } of this.#lanes) if (!leaving) leaders++
    return leaders
  }

  /** Whether no leader is about to take what waits. */
  #allBusy(): boolean {
    for (const { group } of this.#lanes) if (group === null) return false
    return true
  }

  /** Whether what waits has waited so long that it is not worth waiting for a lane. */
  #isStale(now: number): boolean {
    const oldest = this.#ready[0] ?? this.#open
    const maxAge = this.#context.queue === null ? MAX_AGE_MS : MAX_AGE_WITH_QUEUE_MS
    return oldest !== null && oldest !== undefined && !oldest.sealed && now - oldest.waitsSince > maxAge
  }

  /**
   * Leads: flushes what waits, again and again. `first` settles with the first flush, which is the one that the leading
   * request waits for itself; `over` when its turn is over. Neither rejects.
   */
  #lead(lane: Lane): { first: Promise<void>; over: Promise<void> } {
    const began = Date.now()
    const first = this.#flushNext(lane)
    const over = (async () => {
      await first
      for (let flushes = 2; this.#open !== null || this.#ready.length > 0; flushes++) {
        // It was taken for dead, or its turn is over. Others lead; unless there is nobody.
        const replaced = !this.#lanes.has(lane)
        if ((replaced || lane.leaving) && (this.#leaders() > 0 || flushes > 2 * MAX_FLUSHES)) break
        if (replaced) this.#lanes.add(lane)
        lane.leaving = flushes >= MAX_FLUSHES || Date.now() - began > MAX_LEAD_MS
        await this.#flushNext(lane)
      }
      this.#lanes.delete(lane)
    })()
    return { first, over }
  }

  /** Flushes the next group. */
  async #flushNext(lane: Lane): Promise<void> {
    let now = Date.now()
    const pace = this.#pace()
    const early = this.#lastFlushAt + pace - now
    if (early > 0 && early <= pace) {
      lane.aliveUntil = now + pace + SILENCE_MS
      await pause(early)
      now = Date.now()
    }
    // Taken, and sealed, before anything is waited for: what comes now is the next group's.
    const stale = this.#isStale(now)
    const group = this.#take(now)
    if (group === null) return
    group.expectedAt = now + this.#flushMs
    // Perhaps it was taken for dead in its pause; with a group in hand it must be seen if it dies.
    this.#lanes.add(lane)
    this.#beat(lane, now)
    lane.group = group
    lane.beganAt = now
    this.#lastFlushAt = now
    this.#lastSize = group.tickets.length
    try {
      const beat = (until: number) => this.#beat(lane, until)
      if (stale) this.#settle(group, await spill(this.#context, group, beat))
      else this.#conclude(lane, group, await flush(this.#context, group, beat))
    } catch (error) {
      // Ours to have prevented; whoever waits must not wait forever.
      this.#settle(group, { status: 'failed', failure: DatabaseFailure.unexpected(error) })
    } finally {
      lane.group = null
    }
  }

  /** The group that is next, if there is one. */
  #take(now: number): Group | null {
    for (let group = this.#ready.shift(); group !== undefined; group = this.#ready.shift()) {
      // The leader that it was taken from was alive after all.
      if (group.outcome !== null) continue
      if (!group.sealed || now - group.waitsSince <= MAX_RESEND_MS) return group
      const failure = DatabaseFailure.unexpected('nobody was left to send it again')
      log('error', 'batch_abandoned', { requests: group.tickets.length, rows: group.size })
      this.#settle(group, { status: 'failed', failure })
    }
    const group = this.#open
    this.#open = null
    return group
  }

  #conclude(lane: Lane, group: Group, result: Flush): void {
    const now = Date.now()
    if (result.status === 'counted') {
      const tookMs = Math.min(Math.max(now - lane.beganAt, 0), 5_000)
      this.#flushMs += (tookMs - this.#flushMs) / 8
    }
    // A leader that was replaced knows no better than the one that replaced it, unless it succeeded.
    if (lane.group !== group && result.status !== 'counted') return
    if (result.status !== 'split') {
      this.#settle(group, result)
      return
    }
    const halves = group.split(now)
    this.#waitingRows += halves[0].size + halves[1].size - group.size
    this.#ready.unshift(...halves)
  }

  #settle(group: Group, outcome: Outcome): void {
    if (group.outcome !== null) return
    group.outcome = outcome
    this.#lastQueued = outcome.status === 'queued'
    this.#waiting -= group.tickets.length
    this.#waitingRows -= group.size
    if (outcome.status === 'counted') for (const { wake } of group.tickets) wake?.()
  }

  #beat(lane: Lane, until: number): void {
    lane.aliveUntil = until + SILENCE_MS
  }
}

function result(outcome: Outcome): 'counted' | 'queued' {
  if (outcome.status === 'failed') throw outcome.failure
  if (outcome.status === 'overloaded') throw new Overloaded()
  return outcome.status
}

/**
 * Waits for a while, or until a ticket is counted.
 *
 * What every request relies on is a timer of its own. A request that has its answer ready is woken sooner, by a promise of
 * its own that the leader resolves: one wake-up at the right time instead of several looks, which makes a busy isolate half
 * as fast again. It is no more than that, because of what workerd does with promises that another request resolves (seen
 * with 1.20260918, 16 connections and more): what follows may run in that other request's context, where I/O is refused,
 * responses with a body included, and a timer is never waited for. Returning what was made before has never failed.
 */
async function waitForNews(ticket: Ticket, milliseconds: number, answerReady: boolean): Promise<void> {
  if (!answerReady) return pause(milliseconds)
  await new Promise<void>((resolve) => {
    ticket.wake = resolve
    // Not cleared: in another request's context that might hit one of its timers. It ends with the request.
    setTimeout(resolve, milliseconds + WAKE_SLACK_MS)
  })
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
