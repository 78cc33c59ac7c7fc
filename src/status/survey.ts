import { readRuns } from '../counters/background-runs.ts'
import { readOldestHour } from '../counters/ledger/periods.ts'
import { readRollUpState } from '../counters/rollup/lease.ts'
import { readBacklog } from '../counters/rollup/roll-up.ts'
import { readVerification } from '../counters/verify/daily-round.ts'
import type { Executor } from '../database/database.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { readTables } from '../database/migrations.ts'
import { readServerIdentity } from '../database/server-statistics.ts'
import type { Isolate } from '../isolate.ts'
import { namedMismatches } from '../service/named-mismatches.ts'

export const SURVEY_PARTS = ['rollUp', 'tables', 'slots', 'history', 'runs', 'verification', 'server'] as const

export interface Missing {
  part: (typeof SURVEY_PARTS)[number]
  error: unknown
}

/** The state of the database. Parts that are `null` are listed in `missing`. */
export type Survey = Awaited<ReturnType<typeof survey>>

/**
 * Reads the state of the database in seven statements, one more if verification found something, and two more on Vitess. Stops
 * after the first if the database is unavailable.
 * @param aside for the other statements, so that slow ones do not count as failures
 */
export async function survey({ db, config }: Pick<Isolate, 'db' | 'config'>, aside: Executor) {
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
  // `undefined`: no roll-up has ever started. Below, an empty history.
  const rollUp = await attempt('rollUp', async () => (await readRollUpState(db)) ?? undefined)
  const [failed] = missing
  if (failed !== undefined && isUnavailable(failed.error)) unavailable = failed.error
  const [tables, slots, oldestHour, runs, verification, server] = await Promise.all([
    attempt('tables', () => readTables(aside)),
    attempt('slots', () => readBacklog(aside)),
    attempt('history', async () => (await readOldestHour(aside)) ?? undefined),
    attempt('runs', () => readRuns(aside)),
    attempt('verification', async () => {
      const { agreedAt, found } = await readVerification(aside)
      return { agreedAt, found: await namedMismatches(aside, config, found) }
    }),
    attempt('server', () => readServerIdentity(aside)),
  ])
  return { rollUp, tables, slots, oldestHour, runs, verification, server, missing }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DatabaseFailure && (error.kind === 'unavailable' || error.kind === 'credentials')
}
