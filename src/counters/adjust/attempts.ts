import type { Database } from '../../database/database.ts'
import { classify, type DatabaseFailure } from '../../database/errors.ts'
import { countStatements } from '../../database/statement-budget.ts'
import { Overtaken } from '../ledger/totals.ts'

/**
 * Statements that all attempts may send. The free plan allows 50 subrequests; 8 are left for the key and repeated ROLLBACKs.
 */
const MAX_STATEMENTS = 42
const MAX_ATTEMPTS = 7
/** The longest pause before the second attempt, in milliseconds. It doubles with each further attempt. */
const BACKOFF_MS = 30
const MAX_BACKOFF_MS = 1_000
/** Milliseconds after which no further attempt begins. */
const GIVE_UP_AFTER_MS = 8_000

/** Thrown inside a transaction that has nothing to change to roll it back: an earlier attempt or request took effect. */
export class AlreadyApplied extends Error {}

/**
 * Awaits work that comes before anything is changed. If it fails, nothing was adjusted, even if its own outcome is unknown.
 *
 * @throws {DatabaseFailure} whose `applied` is `no`
 */
export async function beforeTransaction<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw classify(error).withApplied('no')
  }
}

/**
 * Repeats an attempt until it succeeds or a limit is reached. An attempt that was overtaken, or that met a failure that may
 * pass, is followed by another one. That one reads everything again, and so finds out whether an earlier one took effect after
 * all.
 *
 * @param statements the most statements of one attempt, with the ROLLBACK after a failed COMMIT. No further attempt begins that
 *   could exceed the limit of the request.
 * @returns `done` if an attempt took effect, `repeated` if an earlier request had
 * @throws {Overtaken} if every attempt was overtaken; nothing was changed
 * @throws {DatabaseFailure} with an unknown outcome if the outcome of any attempt is unknown
 */
export async function retryUntilDone(
  database: Database,
  statements: number,
  attempt: (db: Database) => Promise<void>,
): Promise<'done' | 'repeated'> {
  const db = countStatements(database)
  const began = Date.now()
  let unknown: DatabaseFailure | null = null
  for (let made = 1; ; made++) {
    try {
      await attempt(db)
      return 'done'
    } catch (error) {
      if (error instanceof AlreadyApplied) return unknown === null ? 'repeated' : 'done'
      const failure = error instanceof Overtaken ? null : classify(error)
      if (failure?.applied === 'unknown') unknown = failure
      const pause = Math.random() * Math.min(BACKOFF_MS * 2 ** (made - 1), MAX_BACKOFF_MS)
      const isLast =
        made === MAX_ATTEMPTS || db.sent + statements > MAX_STATEMENTS || Date.now() + pause - began > GIVE_UP_AFTER_MS
      // Even if the last attempt was overtaken: an earlier attempt of the same request may have come through after all.
      if (isLast || failure?.retry === false) throw unknown ? (failure ?? unknown).withApplied('unknown') : error
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}
