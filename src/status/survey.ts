import { type Backlog, readBacklog, readOldestHour } from '../counters/backlog.ts'
import { type RollUpState, readRollUpState } from '../counters/rollup-state.ts'
import type { Executor } from '../database/database.ts'
import { DatabaseFailure } from '../database/errors.ts'
import {
  type LockWaits,
  readLockWaits,
  readServerIdentity,
  readTableSizes,
  type ServerIdentity,
  type TableSize,
} from '../database/server-state.ts'

/** What is looked at. */
export const SURVEY_PARTS = ['rollUp', 'slots', 'history', 'server', 'tables', 'locks'] as const

/** Something that could not be found out, and why. */
export interface Missing {
  part: (typeof SURVEY_PARTS)[number]
  error: unknown
}

/** What a look at the database has found; `null`: listed under `missing`. */
export interface Survey {
  /** `undefined`: no roll-up has ever begun. */
  rollUp: RollUpState | undefined | null
  /** Milliseconds that the first statement took, one look-up by primary key. */
  latencyMs: number | null
  slots: Backlog | null
  /** `undefined`: the history is empty. */
  oldestHour: Date | undefined | null
  server: ServerIdentity | null
  tables: TableSize[] | null
  locks: LockWaits | null
  missing: Missing[]
}

/**
 * Looks at everything that tells how the database does: six statements. What it refuses to say, or does not know, is left out
 * and listed; if it does not answer the first one, it is not asked the others.
 *
 * @param db asked first, for what the product depends on
 * @param aside asked for the rest, so that what is slow there is not taken for a database in trouble
 */
export async function survey(
  db: Executor,
  aside: Executor,
  { idempotencyHours }: { idempotencyHours: number },
): Promise<Survey> {
  const missing: Missing[] = []
  const attempt = async <T>(part: Missing['part'], work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work()
    } catch (error) {
      missing.push({ part, error })
      return null
    }
  }
  const began = performance.now()
  const rollUp = await attempt('rollUp', async () => (await readRollUpState(db)) ?? undefined)
  const [lost] = missing
  const latencyMs = lost === undefined ? performance.now() - began : null
  if (lost !== undefined && isGone(lost.error)) {
    for (const part of ['slots', 'history', 'server', 'tables', 'locks'] as const) missing.push({ ...lost, part })
    return { rollUp, latencyMs, slots: null, oldestHour: null, server: null, tables: null, locks: null, missing }
  }
  const [slots, oldestHour, server, tables, locks] = await Promise.all([
    attempt('slots', () => readBacklog(aside, idempotencyHours)),
    attempt('history', async () => (await readOldestHour(aside)) ?? undefined),
    attempt('server', () => readServerIdentity(aside)),
    attempt('tables', () => readTableSizes(aside)),
    attempt('locks', () => readLockWaits(aside)),
  ])
  return { rollUp, latencyMs, slots, oldestHour, server, tables, locks, missing }
}

function isGone(error: unknown): boolean {
  return error instanceof DatabaseFailure && (error.kind === 'unavailable' || error.kind === 'credentials')
}
