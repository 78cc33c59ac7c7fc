import { readRuns } from '../counters/background-runs.ts'
import { readOldestHour } from '../counters/ledger/periods.ts'
import { readRollUpState } from '../counters/rollup/lease.ts'
import { readBacklog } from '../counters/rollup/roll-up.ts'
import type { Database, Executor } from '../database/database.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { readMadeAt } from '../database/migrations.ts'
import { readLockWaits, readServerIdentity, readTableSizes } from '../database/server-statistics.ts'
import { MIGRATIONS } from '../generated.ts'

export const SURVEY_PARTS = ['rollUp', 'slots', 'history', 'runs', 'server', 'tables', 'locks'] as const

export interface Missing {
  part: (typeof SURVEY_PARTS)[number]
  error: unknown
}

/** The state of the database. Parts that are `null` are listed in `missing`. */
export type Survey = Awaited<ReturnType<typeof survey>>

/**
 * Reads the state of the database in seven statements, one more until a roll-up has caught up, and two more on Vitess. Stops
 * after the first if the database is unavailable.
 * @param aside for the other statements, so that slow statistics do not count as failures
 */
export async function survey(db: Database, aside: Executor) {
  const missing: Missing[] = []
  let unavailable: unknown = null
  const attempt = async <T>(part: Missing['part'], work: () => Promise<T>): Promise<T | null> => {
    try {
      if (unavailable !== null) throw unavailable
      return await work()
    } catch (error) {
      missing.push({ part, error })
      return null
    }
  }
  const began = performance.now()
  // `undefined`: no roll-up has ever started. Below, an empty history.
  const rollUp = await attempt('rollUp', async () => (await readRollUpState(db)) ?? undefined)
  const [failed] = missing
  /** Milliseconds of the first statement, a look-up by primary key. */
  const latencyMs = failed === undefined ? performance.now() - began : null
  if (failed !== undefined && isUnavailable(failed.error)) unavailable = failed.error
  // Only a grace depends on it: without a record there is none.
  const readAge = async () =>
    rollUp === null || rollUp?.caughtUpAt ? null : readMadeAt(aside, MIGRATIONS).catch(() => null)
  const [slots, oldestHour, runs, server, tables, locks, madeAt] = await Promise.all([
    attempt('slots', () => readBacklog(aside)),
    attempt('history', async () => (await readOldestHour(aside)) ?? undefined),
    attempt('runs', () => readRuns(aside)),
    attempt('server', () => readServerIdentity(aside)),
    attempt('tables', () => readTableSizes(aside)),
    attempt('locks', () => readLockWaits(aside)),
    readAge(),
  ])
  return { rollUp, latencyMs, slots, oldestHour, runs, server, tables, locks, madeAt, missing }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DatabaseFailure && (error.kind === 'unavailable' || error.kind === 'credentials')
}
