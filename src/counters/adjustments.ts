import { countStatements } from '../database/counted.ts'
import type { Database, Executor } from '../database/database.ts'
import { classify, type DatabaseFailure } from '../database/errors.ts'
import { Overtaken } from './totals.ts'

/** What adjusts a total, with the number that stands for it in the database. */
export const ADJUSTMENTS = { set: 1, import: 2 } as const
export type AdjustmentKind = keyof typeof ADJUSTMENTS
export const ADJUSTMENT_KINDS = Object.keys(ADJUSTMENTS) as AdjustmentKind[]

/** Most statements that may be sent: of the 50 subrequests of the free plan, five are for names and for ROLLBACKs sent twice. */
const MAX_STATEMENTS = 45
const MAX_ATTEMPTS = 7
/** Milliseconds before the second attempt, at most; doubled for each further one. */
const BACKOFF_MS = 30
const MAX_BACKOFF_MS = 1_000
/** Milliseconds after which no further attempt begins. */
const GIVE_UP_AFTER_MS = 8_000

/** What was added to one counter's total other than by counting. */
export interface Adjustment {
  recordType: number
  recordId: bigint
  count: bigint
}

/**
 * Records adjustments, in the transaction that changes the totals: then whoever reads a row of them knows that all of that
 * transaction happened.
 *
 * @param adjustments in primary key order, each counter once
 * @param id a random number, or the hash of an idempotency key
 * @param at when, by the caller's clock
 * @throws {DatabaseFailure}
 */
export async function recordAdjustments(
  transaction: Executor,
  kind: AdjustmentKind,
  adjustments: readonly Adjustment[],
  { id, at }: { id: bigint; at: Date },
): Promise<void> {
  await transaction.execute(
    `INSERT INTO counter_adjustments (record_type, record_id, adjustment_id, kind, adjusted_at, count)
     VALUES ${adjustments.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')}`,
    adjustments.flatMap(({ recordType, recordId, count }) => [recordType, recordId, id, ADJUSTMENTS[kind], at, count]),
  )
}

/**
 * Waits for something that is done before the transaction: if it fails, nothing was adjusted, whatever became of it.
 *
 * @throws {DatabaseFailure} certain not to have been applied
 */
export async function preparing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw classify(error).withApplied('no')
  }
}

/**
 * Makes attempts until one succeeds: one that was overtaken, or met a failure that may pass, is followed by another, which
 * reads everything anew and so finds out whether the one before took effect after all.
 *
 * @param statements most that one attempt sends, ROLLBACK after a failed COMMIT included; no further one begins that might
 *   exceed what a request may send
 * @param attempt told whether one before it may have taken effect
 * @throws {Overtaken} if others were faster every time; nothing was changed then
 * @throws {DatabaseFailure} whose outcome is unknown if that of any attempt was
 */
export async function untilDone<T>(
  database: Database,
  statements: number,
  attempt: (db: Database, unsure: boolean) => Promise<T>,
): Promise<T> {
  const db = countStatements(database)
  const began = Date.now()
  let unknown: DatabaseFailure | null = null
  for (let made = 1; ; made++) {
    try {
      return await attempt(db, unknown !== null)
    } catch (error) {
      const failure = error instanceof Overtaken ? null : classify(error)
      if (failure?.applied === 'unknown') unknown = failure
      const pause = Math.random() * Math.min(BACKOFF_MS * 2 ** (made - 1), MAX_BACKOFF_MS)
      const isLast =
        made === MAX_ATTEMPTS || db.sent + statements > MAX_STATEMENTS || Date.now() + pause - began > GIVE_UP_AFTER_MS
      // Also if it was overtaken at last: perhaps by an earlier attempt of its own that came through after all.
      if (isLast || failure?.retry === false) throw unknown ? (failure ?? unknown).withApplied('unknown') : error
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}
