import type { Context } from 'hono'
import { openDatabase } from '../database/database.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { OtherKeyspace, readMissing } from '../database/migrations.ts'
import { type Isolate, isolateOf } from '../isolate.ts'
import type { AppEnv } from './context.ts'

/** Milliseconds for which a page waits for the database. */
const DEADLINE_MS = 1_000

const ready = new WeakSet<Isolate>()

/**
 * What the database lacks of the tables that this version needs, for pages. Nothing if the database does not tell: that is for
 * the status to say. Once nothing is missing, the isolate does not look again.
 */
export async function missingTables(c: Context<AppEnv>): Promise<string[]> {
  const isolate = isolateOf(c.env)
  if (ready.has(isolate)) return []
  try {
    const missing = await readMissing(openDatabase({ url: isolate.config.databaseUrl, deadlineMs: DEADLINE_MS }))
    if (missing.length === 0) ready.add(isolate)
    return missing
  } catch (error) {
    if (error instanceof DatabaseFailure || error instanceof OtherKeyspace) return []
    throw error
  }
}
