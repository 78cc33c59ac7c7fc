import type { Context } from 'hono'
import { openDatabase } from '../database/database.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { OtherKeyspace, readMissing } from '../database/migrations.ts'
import { MIGRATIONS } from '../generated.ts'
import { type Isolate, isolateOf } from '../isolate.ts'
import type { AppEnv } from './context.ts'

/** Milliseconds for which a page waits for the database. */
const DEADLINE_MS = 1_000

/** Milliseconds for which pages do not ask again if the database did not tell. */
const PAUSE_MS = 10_000

/** When to look again. Never once nothing is missing. */
const lookAgainAt = new WeakMap<Isolate, number>()

/**
 * The tables, columns and indexes that the database lacks, for pages. None if the database does not tell: that is for the status
 * to say. Once none is missing, the isolate does not look again. Statements name their indexes, and fail without them.
 */
export async function missingTables(c: Context<AppEnv>): Promise<string[]> {
  const isolate = isolateOf(c.env)
  if (Date.now() < (lookAgainAt.get(isolate) ?? 0)) return []
  try {
    const db = openDatabase({ url: isolate.config.databaseUrl, deadlineMs: DEADLINE_MS })
    const missing = await readMissing(db, MIGRATIONS)
    if (missing.length === 0) lookAgainAt.set(isolate, Number.POSITIVE_INFINITY)
    return missing
  } catch (error) {
    if (!(error instanceof DatabaseFailure || error instanceof OtherKeyspace)) throw error
    lookAgainAt.set(isolate, Date.now() + PAUSE_MS)
    return []
  }
}
