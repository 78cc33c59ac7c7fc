import type { Database } from '../../database/database.ts'
import { DatabaseFailure } from '../../database/errors.ts'
import type { Cursor } from '../background-runs.ts'
import { byPrimaryKey } from '../counter-address.ts'
import { Overtaken } from '../ledger/totals.ts'
import { boundsOf } from '../ranges.ts'
import { moveRollUpPage, type RollUpPage, readRollUpPage } from './roll-up-page.ts'

/** Failed pages after which a run gives a range up: the next run is a minute away. */
const MAX_FAILURES = 3

export interface RollUpTally {
  moved: bigint
  /** Counters and slots moved. A counter that was moved in two parts counts twice. */
  counters: number
  slots: number
  pages: number
  overtaken: number
  /** Counters that cannot be moved: their total would leave 64 bits. */
  stuck: number
}

interface Position {
  /** Pages before it. */
  page: number
  cursor: Cursor | null
  /** Whether it has reached the last slot. It then continues from the first one, up to where it began. */
  passedEnd: boolean
  /** Whether counters of this round have more slots than their page. */
  left: boolean
}

/** Larger than any slot: a cursor with it continues with the next counter. */
const PAST_ALL_SLOTS = 2n ** 64n - 1n

/**
 * The roll-up of one range in one run, round by round: a counter gets at most one page in a round, so that a flooded one holds up no other.
 * Pages are read one after the other and moved in lanes. If one could not be moved, reading goes back to its beginning once all lanes are
 * idle. What other lanes moved is no longer pending.
 */
export class RangeProgress {
  readonly start: bigint
  /** Whether everything that was pending when the run began has been moved. */
  complete = false
  failure: unknown = null
  readonly #db: Database
  readonly #range: number
  /** Where the round began. */
  #began: Cursor | null
  readonly #tally: RollUpTally
  readonly #freeLanes: bigint[]
  readonly #moving = new Set<Promise<void>>()
  #position: Position
  #rewindTo: Position | null = null
  #failures = 0
  /** The last error after which a page was read again. */
  #passing: unknown = null
  #moved = false
  #stuck = 0

  /** @param cursor where the previous run stopped @param lanes how many pages may be moved at once */
  constructor(db: Database, range: number, cursor: Cursor | null, lanes: number, tally: RollUpTally) {
    this.#db = db
    this.#range = range
    this.start = boundsOf(range, db.ranges).first
    this.#began = cursor
    this.#position = { page: 0, cursor, passedEnd: cursor === null, left: false }
    this.#freeLanes = Array.from({ length: lanes }, (_, lane) => this.start + BigInt(lane)).reverse()
    this.#tally = tally
  }

  /** Where the next run should begin; `null` for the first slot. */
  get cursor(): Cursor | null {
    return this.complete ? null : this.#position.cursor
  }

  get caughtUp(): boolean {
    return this.complete && this.#stuck === 0
  }

  /** Moves pages until none is left, a budget is spent or the database keeps failing. Never rejects. @param gate admits all pages */
  async run(gate: { enter(): Promise<boolean>; leave(): void }, pageSlots: number, at: Date): Promise<void> {
    while (!this.complete && this.failure === null && (await gate.enter())) {
      // Another page may have failed meanwhile.
      if (this.failure !== null || this.#rewindTo !== null) {
        gate.leave()
        await this.#finishMoves()
        continue
      }
      const before = this.#position
      let roundIsOver = false
      try {
        const page = await readRollUpPage(this.#db, { range: this.#range, after: before.cursor }, pageSlots)
        roundIsOver = this.#advance(page)
        const moving = this.#move(page, before, at).finally(() => {
          this.#moving.delete(moving)
          gate.leave()
        })
        this.#moving.add(moving)
      } catch (error) {
        gate.leave()
        this.#fail(error)
      }
      if (this.#freeLanes.length === 0) await Promise.race(this.#moving)
      // The next round reads versions that the moves of this one change.
      if (roundIsOver || this.#rewindTo !== null) await this.#finishMoves()
    }
    await this.#finishMoves()
    // A small budget may be spent before the database has failed often enough.
    if (!this.complete && !this.#moved) this.failure ??= this.#passing
  }

  /** Goes on behind a page. Returns whether it was the last one of its round. */
  #advance({ counters, exhausted, last, cut }: RollUpPage): boolean {
    const before = this.#position
    const left = before.left || (cut && counters.length > 0)
    const cursor = cut ? { ...last!, slot: PAST_ALL_SLOTS } : (last ?? before.cursor)
    const reachedBegin = this.#began !== null && cursor !== null && byPrimaryKey(cursor, this.#began) >= 0
    const roundIsOver = before.passedEnd && (exhausted || reachedBegin)
    this.complete = roundIsOver && !left
    const beginsAgain = roundIsOver && left
    if (beginsAgain) this.#began = null
    const passedEnd = before.passedEnd || exhausted
    const fromStart = exhausted || beginsAgain
    this.#position = { page: before.page + 1, cursor: fromStart ? null : cursor, passedEnd, left: left && !beginsAgain }
    return roundIsOver
  }

  async #move({ counters, stuck }: RollUpPage, before: Position, at: Date): Promise<void> {
    const tally = this.#tally
    const rangeLane = this.#freeLanes.pop()!
    try {
      if (counters.length > 0) {
        await moveRollUpPage(this.#db, counters, { at, rangeLane })
        this.#moved = true
        tally.pages++
        tally.counters += counters.length
        for (const { slots, amount } of counters) {
          tally.slots += slots.length
          tally.moved += amount
        }
      }
      this.#stuck += stuck
      tally.stuck += stuck
    } catch (error) {
      if (this.#rewindTo === null || before.page < this.#rewindTo.page) this.#rewindTo = before
      if (error instanceof Overtaken) tally.overtaken++
      else this.#fail(error)
    } finally {
      this.#freeLanes.push(rangeLane)
    }
  }

  /** Waits until no page is being moved. Goes back to the first one that was not moved. */
  async #finishMoves(): Promise<void> {
    await Promise.all(this.#moving)
    if (this.#rewindTo === null) return
    this.#position = this.#rewindTo
    this.#rewindTo = null
    this.complete = false
  }

  #fail(error: unknown): void {
    const passes = error instanceof DatabaseFailure && error.retry && ++this.#failures < MAX_FAILURES
    if (passes) this.#passing = error
    else this.failure = error
  }
}
