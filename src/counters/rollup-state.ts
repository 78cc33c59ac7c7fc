import type { Executor } from '../database/database.ts'
import { toBigInt, toDate } from '../database/numbers.ts'

/** Where in the order of slots a roll-up stands: the last slot it has seen. */
export interface Cursor {
  recordType: number
  recordId: bigint
  slot: bigint
}

/** What the roll-up left in the database about itself. */
export interface RollUpState {
  /** The run that holds the lease, or held it last. */
  holder: bigint
  /** Whether the lease is in force. */
  leased: boolean
  /** Where the latest run stopped; `null`: at the end. */
  cursor: Cursor | null
  lastRunAt: Date | null
  caughtUpAt: Date | null
}

/**
 * Takes the roll-up's lease if nobody holds it. It ends by itself, so a run that dies keeps others waiting for no longer
 * than it was meant to take. Nothing depends on the lease for correctness.
 *
 * @param holder a random number that stands for this run
 * @returns whether this run holds the lease now, and what earlier runs left
 * @throws {DatabaseFailure}
 */
export async function acquireLease(db: Executor, holder: bigint, seconds: number): Promise<RollUpState> {
  await db.execute(
    `INSERT INTO rollup_state (id, holder, leased_until) VALUES (1, ?, UTC_TIMESTAMP(3) + INTERVAL ? SECOND)
     ON DUPLICATE KEY UPDATE
       holder = IF(leased_until < UTC_TIMESTAMP(3), VALUES(holder), holder),
       leased_until = IF(holder = VALUES(holder), VALUES(leased_until), leased_until)`,
    [holder, seconds],
  )
  const state = await readRollUpState(db)
  if (state === null) throw new Error('the row of the roll-up’s state was removed while it was being written')
  return state
}

/** Reads what the roll-up left about itself; `null` if none has run yet. */
export async function readRollUpState(db: Executor): Promise<RollUpState | null> {
  const { rows } = await db.execute(
    `SELECT holder, leased_until >= UTC_TIMESTAMP(3) AS leased, cursor_record_type, cursor_record_id, cursor_slot,
       last_run_at, caught_up_at
     FROM rollup_state WHERE id = 1`,
  )
  const [row] = rows
  if (row === undefined) return null
  return {
    holder: toBigInt(row.holder),
    leased: toBigInt(row.leased) === 1n,
    cursor:
      row.cursor_slot === null
        ? null
        : {
            recordType: Number(row.cursor_record_type),
            recordId: toBigInt(row.cursor_record_id),
            slot: toBigInt(row.cursor_slot),
          },
    lastRunAt: toDate(row.last_run_at),
    caughtUpAt: toDate(row.caught_up_at),
  }
}

/**
 * Gives the lease back and leaves word for the next run. Does nothing if another run has taken the lease meanwhile. The times
 * never go back: a run may end after one that was due later.
 *
 * @param cursor where this run stopped; `null`: the next one begins at the beginning
 * @param caughtUp whether it left nothing behind of what was pending when it began
 * @throws {DatabaseFailure}
 */
export async function releaseLease(
  db: Executor,
  holder: bigint,
  { at, cursor, caughtUp }: { at: Date; cursor: Cursor | null; caughtUp: boolean },
): Promise<void> {
  // Cast, because with a text among them times are compared as texts, and the driver writes a T where the database has a blank.
  const time = 'CAST(? AS DATETIME(3))'
  await db.execute(
    `UPDATE rollup_state SET leased_until = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND,
       cursor_record_type = ?, cursor_record_id = ?, cursor_slot = ?,
       last_run_at = GREATEST(COALESCE(last_run_at, ${time}), ${time}),
       caught_up_at = IF(?, GREATEST(COALESCE(caught_up_at, ${time}), ${time}), caught_up_at)
     WHERE id = 1 AND holder = ?`,
    [cursor?.recordType, cursor?.recordId, cursor?.slot, at, at, caughtUp, at, at, holder],
  )
}
