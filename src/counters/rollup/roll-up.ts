import { countStatements, type Database, type Executor } from '../../database/database.ts'
import { withRetries } from '../../database/retry-and-breaker.ts'
import { toBigInt } from '../../database/values.ts'
import { acquireLease, releaseLease, type StoppedBy } from '../background-runs.ts'
import { earliest } from '../calendar.ts'
import { HOUR_SQL } from '../counters-sql.ts'
import { random63 } from '../ids.ts'
import { MAX_LANES, rangeStarts } from '../ranges.ts'
import { RangeProgress, type RollUpTally } from './range-progress.ts'

/** Slots are counted up to this number, so that counting costs no more than a roll-up page or two. */
export const MAX_COUNTED = 10_000
/** The most statements of a page: read, BEGIN, totals, 3 for the history, slots, COMMIT, ROLLBACK. */
const PAGE_STATEMENTS = 9
/** Of each range: taking its lease, reading its state, releasing it. */
const RANGE_STATEMENTS = 3
/** After the last page of all ranges: counting the slots that are left. */
const LAST_STATEMENTS = 1
/** Milliseconds of a round trip for each lane of a range. A page is about nine round trips, one after the other. */
const LANE_MS = 8
/** How many times as small pages are after an interrupted run: that may have taken too much processor time. */
const CAUTIOUS_PART = 4

export interface RollUpOptions {
  /** Slots of a page, which is moved in one transaction. Larger pages slow writers down: see bench/notes.md. */
  pageSlots: number
  /** Each is one subrequest of the Worker. */
  maxStatements: number
  /** No further page starts after this. */
  maxSeconds: number
  at: Date
  /** Whether to do nothing while another run holds the lease. Default: true. Tests let runs overlap. */
  lease?: boolean
}

/**
 * Moves pending counts into totals and history, page by page. The next run continues where this one stops. Runs may overlap, repeat, or end
 * anywhere: each page is a zero-sum transaction. Ranges are rolled up side by side; pages of a range are, too, if the database is far away:
 * near it, they would occupy several of its processors.
 * @returns `outcome` is `busy` if other runs hold the leases of all ranges. `left`: slots still pending, up to `MAX_COUNTED`; `null` if
 *   they were not counted. `behindSeconds`: since the last run that left nothing behind, by scheduled times; `null` if there was none
 * @throws {DatabaseFailure} if the database keeps failing; pages that were moved stay moved
 */
export async function rollUp(database: Database, options: RollUpOptions) {
  const { at, maxSeconds, lease = true } = options
  const db = countStatements(database)
  // Failed pages are read again. All other statements can be retried.
  const retried = withRetries(db)
  const began = Date.now()
  const tally: RollUpTally = { moved: 0n, counters: 0, slots: 0, pages: 0, overtaken: 0, stuck: 0 }
  const holder = random63()
  const outcomes = await Promise.allSettled(
    rangeStarts(db.ranges).map(async (start, range) => ({
      range,
      ...(await acquireLease(retried, start, holder, maxSeconds + 10)),
    })),
  )
  const leases = outcomes.filter((outcome) => outcome.status === 'fulfilled').map(({ value }) => value)
  const held = leases.filter(({ state }) => !lease || state.holder === holder)

  const roundTripMs = Math.min(...leases.map((lease) => lease.roundTripMs))
  const lanes = Math.max(1, Math.min(Math.floor(roundTripMs / LANE_MS), MAX_LANES))
  // A random one first, so that the budget does not always end before the same range.
  const first = Math.floor(Math.random() * held.length)
  const progress = [...held.slice(first), ...held.slice(0, first)].map(
    ({ range, state }) => new RangeProgress(db, range, state.cursor, lanes, tally),
  )
  const wasInterrupted = held.some(({ state }) => state.stoppedBy === 'interruption')
  const pageSlots = wasInterrupted ? Math.ceil(options.pageSlots / CAUTIOUS_PART) : options.pageSlots
  const gate = pageGate(db, progress.length, options, began)
  await Promise.all(progress.map((range) => range.run(gate, pageSlots, at)))

  const released = progress.map(({ start, cursor, caughtUp, complete, failure }) => {
    const stoppedBy = failure !== null ? 'failure' : complete ? null : gate.spent
    return releaseLease(retried, start, holder, { at, cursor, caughtUp, stoppedBy })
  })
  // Best effort: the work is done, and the lease expires anyway.
  await Promise.allSettled(released)
  const notTaken = outcomes.find((outcome) => outcome.status === 'rejected')
  const failure: unknown = notTaken?.reason ?? progress.find((range) => range.failure !== null)?.failure
  if (failure !== undefined) throw failure

  const caughtUp = progress.length === database.ranges && progress.every((range) => range.caughtUp)
  const busy = progress.length === 0
  const left = caughtUp ? 0 : busy ? null : ((await readBacklog(retried).catch(() => null))?.pending ?? null)
  const isComplete = progress.every(({ complete }) => complete)
  const outcome = busy ? ('busy' as const) : isComplete ? ('complete' as const) : ('partial' as const)
  const caughtUpAt = caughtUp ? at : earliest(leases.map(({ state }) => state.caughtUpAt))
  const behindSeconds = caughtUpAt && Math.max(0, Math.round((at.getTime() - caughtUpAt.getTime()) / 1_000))
  return { outcome, ...tally, statements: db.sent, milliseconds: Date.now() - began, left, behindSeconds }
}

export type RollUpSummary = Awaited<ReturnType<typeof rollUp>>

/** Admits pages of several ranges, a few at once, until a budget is spent. Ranges that wait get their turns in order. */
function pageGate(
  db: { readonly sent: number },
  ranges: number,
  { maxStatements, maxSeconds }: RollUpOptions,
  began: number,
) {
  let spent: StoppedBy | null = null
  let underWay = 0
  let left = Promise.withResolvers<void>()
  const hasStatements = () => db.sent + (underWay + 1) * PAGE_STATEMENTS + ranges + LAST_STATEMENTS <= maxStatements
  return {
    /** The budget that was spent first, if any. */
    get spent() {
      return spent
    },
    /** Waits until a page may be read. Returns whether it may: otherwise a budget is spent. */
    async enter() {
      // Pages under way may take fewer statements than are reserved for them.
      while (underWay === MAX_LANES || (underWay > 0 && !hasStatements())) await left.promise
      const seconds = (Date.now() - began) / 1_000
      if (!hasStatements()) spent ??= 'statements'
      else if (seconds >= maxSeconds) spent ??= 'seconds'
      if (spent === null) underWay++
      return spent === null
    },
    /** To be called when a page has been moved, or will not be. */
    leave() {
      underWay--
      left.resolve()
      left = Promise.withResolvers()
    },
  }
}

/** The statements of a run that moves one page of the last range, after an empty page of each other range. */
export function leastRollUpStatements(ranges: number): number {
  return ranges * RANGE_STATEMENTS + (ranges - 1) + PAGE_STATEMENTS + LAST_STATEMENTS
}

/** The most slots that one run can move, if all of its pages are full. */
export function mostSlotsPerRun(budgets: Pick<RollUpOptions, 'pageSlots' | 'maxStatements'>, ranges: number): number {
  const forPages = budgets.maxStatements - ranges * RANGE_STATEMENTS - LAST_STATEMENTS
  return Math.max(0, Math.floor(forPages / PAGE_STATEMENTS)) * budgets.pageSlots
}

/**
 * Counts the pending slots up to `MAX_COUNTED`, and says since how many hours the first slot could have been deleted: below 0 if
 * that time has not come, 0 if there are no slots. The hour 0 marks slots that were pruned while rolled up: they are not old.
 */
export async function readBacklog(db: Executor): Promise<{ pending: number; overdueHours: number }> {
  const slots = `slotted_counters FORCE INDEX (pending) WHERE pending = 1 LIMIT ${MAX_COUNTED}`
  const { rows } = await db.execute(
    `SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM ${slots}) AS p) AS pending,
       (SELECT MIN(kept_until) FROM slotted_counters WHERE kept_until > 0) AS oldest, ${HOUR_SQL} AS hour`,
  )
  const { pending, oldest, hour } = rows[0] ?? {}
  // Subtracted here: MariaDB refuses a difference below 0.
  const overdueHours = oldest === null ? 0 : Number(toBigInt(hour) - toBigInt(oldest))
  return { pending: Number(toBigInt(pending)), overdueHours }
}
