import type { Database } from '../../database/database.ts'
import { DatabaseFailure } from '../../database/errors.ts'
import { byPrimaryKey } from '../keys/counter-address.ts'
import { boundsOf } from '../ranges.ts'
import type { Cursor } from './lease.ts'
import { amountOf, type CounterSnapshot, isMovable, moveRollUpPage, type RollUpPage, readRollUpPage } from './page.ts'

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
  cursor: Cursor | null
  /** Whether it has reached the last slot. It then continues from the first one, up to where it began. */
  passedEnd: boolean
}

interface ReadPage extends RollUpPage {
  before: Position
}

/**
 * The roll-up of one range in one run. Pages are read one after the other, and moved in lanes, several at once. If a page could
 * not be moved, the reading goes back to its beginning once all lanes are idle. What other lanes have moved since is no longer
 * pending.
 */
export class RangeProgress {
  readonly start: bigint
  /** Whether everything that was pending when the run began has been moved. */
  complete = false
  failure: unknown = null
  pagesRead = 0
  readonly #bounds: { first: bigint; last: bigint } | null
  readonly #began: Cursor | null
  readonly #tally: RollUpTally
  readonly #freeLanes: bigint[]
  readonly #lanes: number
  #position: Position
  #rewindTo: Position | null = null
  #reading = false
  #ready: ReadPage | null = null
  /** Whether the last page ends within a counter. The next page must wait: moving this one changes its version. */
  #cut = false
  #failures = 0
  #stuck = 0

  /** @param cursor where the previous run stopped @param lanes how many pages may be moved at once */
  constructor(range: number, ranges: number, cursor: Cursor | null, lanes: number, tally: RollUpTally) {
    const bounds = boundsOf(range, ranges)
    this.start = bounds.first
    this.#bounds = ranges === 1 ? null : bounds
    this.#began = cursor
    this.#position = { cursor, passedEnd: cursor === null }
    this.#lanes = lanes
    this.#freeLanes = Array.from({ length: lanes }, (_, lane) => BigInt(lane)).reverse()
    this.#tally = tally
  }

  /** Where the next run should begin; `null` for the first slot. */
  get cursor(): Cursor | null {
    return this.complete ? null : this.#position.cursor
  }

  get caughtUp(): boolean {
    return this.complete && this.#stuck === 0
  }

  /** Pages that are being read or moved, or wait to be moved. */
  get pagesUnderWay(): number {
    return this.#moving + (this.#reading || this.#ready !== null ? 1 : 0)
  }

  get #moving(): number {
    return this.#lanes - this.#freeLanes.length
  }

  get mayMove(): boolean {
    return this.#ready !== null && this.#freeLanes.length > 0
  }

  get mayRead(): boolean {
    if (this.complete || this.failure !== null || this.#rewindTo !== null) return false
    if (this.#reading || this.#ready !== null || this.#freeLanes.length === 0) return false
    return !this.#cut || this.#moving === 0
  }

  async read(db: Database, limit: number): Promise<void> {
    this.#reading = true
    this.pagesRead++
    const before = this.#position
    try {
      const page = await readRollUpPage(db, { bounds: this.#bounds, after: before.cursor }, limit)
      this.#advance(page, before)
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#reading = false
      this.#applyRewind()
    }
  }

  #advance(page: RollUpPage, before: Position): void {
    // The reading goes back to an earlier page, so this one will be read again.
    if (this.#rewindTo !== null) return
    const { exhausted, last, cut } = page
    const cursor = last ?? before.cursor
    const began = this.#began
    const reachedBegin = began !== null && cursor !== null && byPrimaryKey(cursor, began) >= 0
    this.complete = before.passedEnd && (exhausted || reachedBegin)
    this.#position = exhausted ? { cursor: null, passedEnd: true } : { cursor, passedEnd: before.passedEnd }
    this.#cut = cut
    if (page.counters.some(isMovable)) this.#ready = { ...page, before }
    else this.#countStuck(page.counters)
  }

  async move(db: Database, at: Date): Promise<void> {
    const page = this.#ready!
    const lane = this.#freeLanes.pop()!
    this.#ready = null
    const movable = page.counters.filter(isMovable)
    try {
      if (await moveRollUpPage(db, movable, { at, rangeLane: this.start + lane })) {
        this.#countMoved(movable)
        this.#countStuck(page.counters)
      } else {
        this.#tally.overtaken++
        this.#rewind(page.before)
      }
    } catch (error) {
      this.#rewind(page.before)
      this.#fail(error)
    } finally {
      this.#freeLanes.push(lane)
      this.#applyRewind()
    }
  }

  /** Makes the reading go back to a page, or to an earlier one that was not moved either. */
  #rewind(to: Position): void {
    const earlier = (a: Position, b: Position) => {
      if (a.passedEnd !== b.passedEnd) return !a.passedEnd
      if (a.cursor === null || b.cursor === null) return a.cursor === null
      return byPrimaryKey(a.cursor, b.cursor) < 0
    }
    if (this.#rewindTo === null || earlier(to, this.#rewindTo)) this.#rewindTo = to
  }

  #applyRewind(): void {
    if (this.#rewindTo === null || this.#reading || this.#moving > 0) return
    this.#position = this.#rewindTo
    this.#rewindTo = null
    this.#ready = null
    this.complete = false
  }

  #fail(error: unknown): void {
    const passes = error instanceof DatabaseFailure && error.retry && ++this.#failures < MAX_FAILURES
    if (!passes) this.failure = error
  }

  #countMoved(counters: readonly CounterSnapshot[]): void {
    this.#tally.pages++
    for (const counter of counters) {
      this.#tally.counters++
      this.#tally.slots += counter.slots.length
      this.#tally.moved += amountOf(counter)
    }
  }

  #countStuck(counters: readonly CounterSnapshot[]): void {
    const stuck = counters.filter((counter) => !isMovable(counter)).length
    this.#stuck += stuck
    this.#tally.stuck += stuck
  }
}
