import type { DatabaseFailure } from '../database/errors.ts'
import { type Batch, type BatchRow, type Increment, makeBatch } from './batch.ts'
import { byPrimaryKey, type Counter, counterId } from './counter.ts'
import { random64 } from './random.ts'

/** What became of increments. */
export type Outcome =
  /** They are in the database. */
  | { status: 'counted' }
  /** They are in the queue, and will be in the database. */
  | { status: 'queued' }
  /** The database did not take them; whether it is certain that it did not, the failure says. */
  | { status: 'failed'; failure: DatabaseFailure }
  /** They were not sent anywhere, because too much is waiting. */
  | { status: 'overloaded' }

/** One request's increments, waiting in a group. */
export interface Ticket {
  increments: readonly Increment[]
  /** Slot and batch id of increments that carry an idempotency key: its hash. */
  key: bigint | undefined
  /** The group they wait in; another one if that had to be split. */
  group: Group
  /** Called when it has been counted, by whoever learns of that. */
  wake: (() => void) | null
}

/**
 * Increments of several requests that are written by one statement. It collects until it is sealed; from then on its batch
 * stays the same, however often it is sent. Plain data: it belongs to no request.
 */
export class Group {
  /** Since when it waits to be sent, in milliseconds of `Date.now()`. */
  waitsSince: number
  /** When its outcome is likely to be known. */
  expectedAt: number
  outcome: Outcome | null = null
  /** Where its merged increments go once it is sealed. */
  slot = 0n
  /** Whether it was ever sent by two leaders: then nobody knows when the last of its attempts arrives. */
  contested = false
  readonly tickets: Ticket[] = []
  readonly #sums = new Map<string, Increment>()
  readonly #keyed = new Map<string, BatchRow>()
  #batch: Batch | null = null

  constructor(waitsSince: number, expectedAt: number) {
    this.waitsSince = waitsSince
    this.expectedAt = expectedAt
  }

  /** Rows it will have, at most. */
  get size(): number {
    return this.#sums.size + this.#keyed.size
  }

  get sealed(): boolean {
    return this.#batch !== null
  }

  /** Takes in a request's increments. */
  add(increments: readonly Increment[], key: bigint | undefined): Ticket {
    const ticket: Ticket = { increments, key, group: this, wake: null }
    this.#take(ticket)
    return ticket
  }

  #take(ticket: Ticket): void {
    this.tickets.push(ticket)
    if (ticket.key !== undefined) {
      // A slot of its own, which nothing else writes to: the key recognises itself there however much is counted
      // meanwhile. The same key twice in one group is a repeat too.
      const { key } = ticket
      for (const row of makeBatch(key, ticket.increments, () => key)) {
        const address = `${counterId(row)}/${row.slot}`
        if (!this.#keyed.has(address)) this.#keyed.set(address, row)
      }
      return
    }
    for (const { counter, by } of ticket.increments) {
      const id = counterId(counter)
      const sum = this.#sums.get(id)
      if (sum === undefined) this.#sums.set(id, { counter, by })
      else sum.by += by
    }
  }

  /** The counters it adds to. */
  *counters(): Iterable<Counter> {
    for (const { counter } of this.#sums.values()) yield counter
    for (const { key, increments } of this.tickets) {
      if (key !== undefined) for (const { counter } of increments) yield counter
    }
  }

  /**
   * Its batch, made the first time.
   *
   * @param lease draws the slot, which from now on belongs to this batch
   * @param classicSlots for types with `slots = N`: N, by record type; their increments go to a random slot below N
   */
  seal(lease: () => bigint, classicSlots: ReadonlyMap<number, number>): Batch {
    if (this.#batch !== null) return this.#batch
    this.slot = lease()
    const merged = makeBatch(random64(), [...this.#sums.values()], ({ recordType }) => {
      const among = classicSlots.get(recordType)
      return among === undefined ? this.slot : BigInt(Math.floor(Math.random() * among))
    })
    this.#batch = this.#keyed.size === 0 ? merged : [...merged, ...this.#keyed.values()].sort(byPrimaryKey)
    return this.#batch
  }

  /**
   * Halves it by requests, for when the database refused the whole because of one of them. Only if it is certain that
   * nothing of it was applied: the halves are batches of their own.
   */
  split(now: number): [Group, Group] {
    const middle = Math.ceil(this.tickets.length / 2)
    const half = (tickets: Ticket[]): Group => {
      const group = new Group(now, this.expectedAt)
      for (const ticket of tickets) {
        ticket.group = group
        group.#take(ticket)
      }
      return group
    }
    return [half(this.tickets.slice(0, middle)), half(this.tickets.slice(middle))]
  }
}
