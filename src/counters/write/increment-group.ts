import type { DatabaseFailure } from '../../database/errors.ts'
import { byPrimaryKey, type CounterAddress, counterId } from '../counter-address.ts'
import { random63 } from '../ids.ts'
import type { Batch, BatchRow } from '../ledger/slots.ts'
import { type Overloaded, pause, type WaitUntil } from '../shared-work-state.ts'

export interface Increment {
  counter: CounterAddress
  by: bigint
  /** Slot and batch id of an increment that counts once however often it is sent. */
  key?: bigint | undefined
}

/** The increments of a request with the hash of its idempotency key, if it has one. Those of one counter are then merged. */
export function withKey(increments: readonly Increment[], key: bigint | undefined): readonly Increment[] {
  if (key === undefined) return increments
  const merged = new Map<string, Increment>()
  for (const { counter, by } of increments) {
    const id = counterId(counter)
    merged.set(id, { counter, by: by + (merged.get(id)?.by ?? 0n), key })
  }
  return [...merged.values()]
}

/** A `DatabaseFailure` says whether certainly nothing was counted. `Overloaded`: nothing was sent. */
export type CommitOutcome =
  | { status: 'counted' | 'queued' }
  | { status: 'failed'; failure: DatabaseFailure | Overloaded }

/** Rows in one statement: a request of 1,000 increments is never split. */
const MAX_ROWS = 1_000
/** The same with a linked request: all its rows of one key must fit into one message of the queue (`sendToQueue`). */
const MAX_LINKED_ROWS = 600

export interface Ticket {
  increments: readonly Increment[]
  /** Changes if its group is split. */
  group: IncrementGroup
  /** Wakes the request once its increments are counted. */
  wake: (() => void) | null
}

/** Increments of several requests, for one statement. Once sealed, its batch stays the same. Plain data that belongs to no request. */
export class IncrementGroup {
  /** Since when it has waited to be sent, in milliseconds of `Date.now()`. */
  waitsSince: number
  expectedAt: number
  outcome: CommitOutcome | null = null
  /** Its rows, once it is sealed. */
  batch: Batch | null = null
  /** The slot of its merged increments, once it is sealed. */
  slot = 0n
  /** Whether two leaders have sent it. Then nobody knows when the last attempt arrives. */
  contested = false
  /** Whether some of its counters may have no name. Then it goes to the queue: a counter that counts has a name. */
  unnamed = false
  readonly tickets: Ticket[] = []
  /** What becomes a row each. */
  readonly #sums = new Map<string, Increment>()
  #linked = false

  constructor(waitsSince: number, expectedAt: number) {
    this.waitsSince = waitsSince
    this.expectedAt = expectedAt
  }

  /** The most rows that its batch can have. */
  get size(): number {
    return this.#sums.size
  }

  /** Whether a request's increments fit into its batch. Increments of one counter make one row. */
  fits(increments: readonly Increment[]): boolean {
    const most = this.#linked || isLinked(increments) ? MAX_LINKED_ROWS : MAX_ROWS
    if (this.size + increments.length <= most) return true
    const counters = new Set(increments.map(({ counter }) => counterId(counter)))
    return this.size + counters.size <= most
  }

  /** Adds a request. Nothing else writes to the slot of a key, so a key recognizes itself there. Twice in a group, it is a repeat too. */
  add(ticket: Ticket): void {
    const { increments } = ticket
    ticket.group = this
    this.tickets.push(ticket)
    this.#linked ||= isLinked(increments)
    for (const { counter, by, key } of increments) {
      const id = key === undefined ? counterId(counter) : `${counterId(counter)}/${key}`
      const sum = this.#sums.get(id)
      if (sum === undefined) this.#sums.set(id, { counter, by, key })
      else if (key === undefined) sum.by += by
    }
  }

  counters(): CounterAddress[] {
    return this.tickets.flatMap(({ increments }) => increments.map(({ counter }) => counter))
  }

  /** Seals the group, once; the slot belongs to its batch from now on. @param classicSlots N by record type, for types with `slots = N` */
  seal(slot: bigint, classicSlots: ReadonlyMap<number, number>): Batch {
    this.slot = slot
    const id = random63()
    const rows: BatchRow[] = []
    for (const { counter, by, key } of this.#sums.values()) {
      if (by === 0n) continue
      const { recordType, recordId } = counter
      const among = classicSlots.get(recordType)
      const own = among === undefined ? slot : BigInt(Math.floor(Math.random() * among))
      rows.push({ recordType, recordId, slot: key ?? own, count: by, batch: key ?? id })
    }
    this.batch = rows.sort(byPrimaryKey)
    return this.batch
  }

  /**
   * Seals the group for the queue, which may deliver its batch late, twice and beside a newer one. So each row gets a slot that no
   * other batch has, and that is kept as keyed ones are. Only allowed if certainly nothing was applied.
   */
  sealForQueue(): Batch {
    const batch = this.batch ?? this.seal(0n, new Map())
    this.batch = batch.map((row) => ({ ...row, slot: row.batch })).sort(byPrimaryKey)
    return this.batch
  }

  /** Splits a refused group into halves, by request. Only allowed if certainly nothing was applied: the halves are new batches. */
  split(now: number): [IncrementGroup, IncrementGroup] {
    const middle = Math.ceil(this.tickets.length / 2)
    const half = (tickets: Ticket[]) => {
      const group = new IncrementGroup(now, this.expectedAt)
      for (const ticket of tickets) group.add(ticket)
      return group
    }
    return [half(this.tickets.slice(0, middle)), half(this.tickets.slice(middle))]
  }
}

/** Whether increments have different keys, as those of one visit do. */
function isLinked(increments: readonly Increment[]): boolean {
  return increments.some(({ key }) => key !== increments[0]!.key)
}

/** Milliseconds by which a request's own timer is later than the expected wake-up. */
const WAKE_SLACK_MS = 20

export interface CountOptions {
  waitUntil: WaitUntil
  /** Whether the response to `counted` is ready and only returned afterwards: no I/O, timer or new response. Then it is woken sooner. */
  answerReady?: boolean
  /** Whether the counters have names (`Keys`). If not, the queue's consumer ensures them. Default: true. */
  named?: boolean
}

/**
 * Waits for some time, or until a ticket is counted. Every request relies on its own timer. The leader wakes one whose response is ready
 * sooner: that makes a busy isolate half as fast again. Only such a one, because the code that follows may run in the leader's context
 * (seen with workerd 1.20260918 from 16 connections on), where I/O is refused, responses with a body included, and where timers never fire.
 */
export async function waitForNews(ticket: Ticket, milliseconds: number, answerReady: boolean): Promise<void> {
  if (!answerReady) return pause(milliseconds)
  await new Promise<void>((resolve) => {
    ticket.wake = resolve
    // Not cleared: in another request's context that could hit one of its timers. It ends with the request.
    setTimeout(resolve, milliseconds + WAKE_SLACK_MS)
  })
}
