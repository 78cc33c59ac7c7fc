import type { RollUpSettings } from '../config.ts'
import { countStatements } from '../database/counted.ts'
import type { Database } from '../database/database.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { toBigInt } from '../database/numbers.ts'
import { withRetries } from '../database/retry.ts'
import { MAX_COUNTED } from './backlog.ts'
import { byPrimaryKey } from './counter.ts'
import { random64 } from './random.ts'
import { amountOf, fits, moveRollUpPage, readRollUpPage, type SeenCounter } from './rollup-page.ts'
import { acquireLease, releaseLease } from './rollup-state.ts'

/**
 * Most statements one page takes: read, missing totals, BEGIN, totals, three for the history, slots, COMMIT, and ROLLBACK if
 * that fails.
 */
const PAGE_STATEMENTS = 10
/** Statements after the last page: giving the lease back, and a look at what is left. */
const LAST_STATEMENTS = 2
/** Failed transactions after which a run gives up: the database is in trouble and the next run is a minute away. */
const MAX_FAILURES = 3
/** Statements before the first page: taking the lease. */
const FIRST_STATEMENTS = 2
/** Most slots in a page while there is no hurry. Larger ones are faster, but writers feel them: bench/README.md has figures. */
export const UNHURRIED_SLOTS = 1_000
/** Statements below which a run is always in a hurry: a small page takes as many as a large one. The free plan allows 50. */
const UNHURRIED_STATEMENTS = 100

/** What one run did. */
export interface RollUpSummary {
  /** `busy`: another run holds the lease and nothing was done. */
  outcome: 'complete' | 'partial' | 'busy'
  /** Sum of the counts moved into totals. */
  moved: bigint
  /** Counters and slots moved; a counter that was moved in two parts counts twice. */
  counters: number
  slots: number
  pages: number
  /** Pages that another run moved first. */
  overtaken: number
  /** Counters that cannot be moved, because their total would leave the range of 64-bit integers. */
  stuck: number
  statements: number
  milliseconds: number
  /** Slots left pending, counted up to `MAX_COUNTED`; `null`: not looked at. */
  left: number | null
  /** Seconds since a run last left nothing behind, by their scheduled times; `null`: none ever did. */
  behindSeconds: number | null
}

/** How to run. */
export interface RollUpOptions extends RollUpSettings {
  /** The time of the run: its scheduled time if it has one. */
  at: Date
  /** Whether to leave the work to another run that holds the lease (default), or to run beside it, as the tests do. */
  lease?: boolean
}

/**
 * Moves pending counts into the totals and the history, page by page, within the bounds given; the next run goes on where
 * this one stops. Runs may overlap, repeat, or end at any point: every page is a zero-sum transaction of its own.
 *
 * Pages are small, for the writers beside it, unless there is a hurry: there are few statements, half of them or of the time are used
 * up, or the run before did not get to the end. One page after the other, and none is read while another is moved: that would be
 * faster by little, and occupy two processors of the database at once.
 *
 * @throws {DatabaseFailure} when the database keeps failing; what was moved until then stays moved
 */
export async function rollUp(database: Database, options: RollUpOptions): Promise<RollUpSummary> {
  const { at, pageSlots, maxStatements, maxSeconds, lease = true } = options
  const db = countStatements(database)
  // Pages are read again by the loop below; the statements around them may simply be repeated.
  const frame = withRetries(db)
  const began = Date.now()
  const done = { moved: 0n, counters: 0, slots: 0, pages: 0, overtaken: 0, stuck: 0 }

  const holder = random64()
  const state = await acquireLease(frame, holder, maxSeconds + 10)
  const summary = (outcome: RollUpSummary['outcome'], left: number | null, caughtUpAt = state.caughtUpAt) => {
    const behindSeconds = caughtUpAt && Math.max(0, Math.round((at.getTime() - caughtUpAt.getTime()) / 1_000))
    return { outcome, ...done, statements: db.sent, milliseconds: Date.now() - began, left, behindSeconds }
  }
  if (lease && state.holder !== holder) return summary('busy', null)

  const start = state.cursor
  let cursor = start
  // Once past the last slot, go on from the first up to where this run began.
  let wrapped = start === null
  let complete = false
  let failures = 0
  const spent = () => Math.max(db.sent / maxStatements, (Date.now() - began) / (maxSeconds * 1_000))
  const mayTake = (statements: number) =>
    db.sent + statements + LAST_STATEMENTS <= maxStatements && Date.now() - began < maxSeconds * 1_000
  const slotsOfNext = () => {
    const hurry = start !== null || maxStatements < UNHURRIED_STATEMENTS || spent() > 0.5
    return hurry ? pageSlots : Math.min(pageSlots, UNHURRIED_SLOTS)
  }
  while (!complete && mayTake(PAGE_STATEMENTS)) {
    try {
      const page = await readRollUpPage(db, cursor, slotsOfNext())
      const movable = page.counters.filter(fits)
      if (movable.length > 0 && !(await moveRollUpPage(db, movable, at))) {
        done.overtaken++
        continue
      }
      done.stuck += page.counters.length - movable.length
      tally(done, movable)
      cursor = page.last ?? cursor
      complete = wrapped && (page.exhausted || (start !== null && cursor !== null && byPrimaryKey(cursor, start) >= 0))
      if (page.exhausted) {
        wrapped = true
        cursor = null
      }
    } catch (error) {
      if (error instanceof DatabaseFailure && error.retry && ++failures < MAX_FAILURES) continue
      await releaseLease(frame, holder, { at, cursor, caughtUp: false }).catch(() => {})
      throw error
    }
  }
  const caughtUp = complete && done.stuck === 0
  // Best effort, like the look at what is left: the work is done, and the lease ends by itself.
  await releaseLease(frame, holder, { at, cursor: complete ? null : cursor, caughtUp }).catch(() => {})
  const left = caughtUp ? 0 : await countPending(frame).catch(() => null)
  return summary(complete ? 'complete' : 'partial', left, caughtUp ? at : state.caughtUpAt)
}

/** Most slots that one run can move, in a hurry. */
export function mostSlotsPerRun({ pageSlots, maxStatements }: RollUpSettings): number {
  return Math.floor((maxStatements - FIRST_STATEMENTS - LAST_STATEMENTS) / PAGE_STATEMENTS) * pageSlots
}

function tally(done: { moved: bigint; counters: number; slots: number; pages: number }, moved: readonly SeenCounter[]) {
  if (moved.length > 0) done.pages++
  for (const counter of moved) {
    done.counters++
    done.slots += counter.slots.length
    done.moved += amountOf(counter)
  }
}

/**
 * Counts the slots that hold something, up to `MAX_COUNTED`.
 *
 * @throws {DatabaseFailure}
 */
export async function countPending(db: Pick<Database, 'execute'>): Promise<number> {
  const { rows } = await db.execute(
    `SELECT COUNT(*) AS pending FROM (SELECT 1 FROM slotted_counters FORCE INDEX (pending) WHERE pending = 1 LIMIT ?) AS s`,
    [MAX_COUNTED],
  )
  return Number(toBigInt(rows[0]?.pending))
}
