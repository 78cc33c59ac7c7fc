import { countStatements, type Database, type Executor } from '../../database/database.ts'
import { classify, type DatabaseFailure } from '../../database/errors.ts'
import { toBigInt } from '../../database/values.ts'
import { hash64 } from '../ids.ts'
import { Overtaken, type TotalsStore } from '../ledger/totals.ts'

/** Statements of all attempts. The free plan allows 50 subrequests; the rest is left for repeated ROLLBACKs. */
const MAX_STATEMENTS = 45
const MAX_ATTEMPTS = 7
/** Longest pause before the second attempt; doubles with each further one. */
const BACKOFF_MS = 30
const MAX_BACKOFF_MS = 1_000
const GIVE_UP_AFTER_MS = 8_000

/** Statements that a key adds to an attempt. */
const KEY_STATEMENTS = 2

/** The idempotency key was used before, with other contents. Nothing was changed. */
export class KeyReused extends Error {
  override name = 'KeyReused'
  override message = 'the idempotency key was used before, with other contents'
}

/** Rolls the transaction back: an earlier attempt or request with the same key took effect. */
class AlreadyApplied extends Error {}

/** A row of `change_keys`: an idempotency key and what was asked. */
export interface ChangeKey {
  /** In the range of the change: the counter's record id, or the first one of the range. */
  recordId: bigint
  hash: bigint
  contents: bigint
}

/**
 * The key of a change of one counter. One idempotency key may serve several counters and kinds of change.
 * @param given the hash of the idempotency key
 * @param contents equal for equal requests only
 */
export async function keyOfCounter(
  given: bigint | null,
  kind: string,
  { recordType, recordId }: { recordType: number; recordId: bigint },
  contents: string,
): Promise<ChangeKey | null> {
  if (given === null) return null
  const [hash, asked] = await Promise.all([hash64(`${kind} ${recordType} ${recordId} ${given}`), hash64(contents)])
  return { recordId, hash, contents: asked }
}

export interface Change {
  /** Stored for good, in the same transaction. */
  key: ChangeKey | null
  /** The most statements of one attempt, with BEGIN, COMMIT, and the ROLLBACK after a failed COMMIT. */
  statements: number
  /** Takes no locks first: if that answer is lost, nobody can roll back. `db` is for statements outside the transaction. */
  attempt(transaction: Executor, db: Database): Promise<void>
}

/**
 * Makes a change. Repeats an attempt that was overtaken or met a transient failure, until a limit is reached. A COMMIT may have
 * an unknown outcome. With a key, the next attempt looks it up. Without one, the change is not repeated, because it could be
 * made twice. Drops cached totals, even if it fails.
 * @returns `repeated` if an earlier request made the change
 * @throws {KeyReused | ChangeRefused} nothing was changed
 * @throws {Overtaken} every attempt was overtaken; nothing was changed
 * @throws {DatabaseFailure} with an unknown outcome if that of any attempt is unknown
 */
export async function makeChange(
  store: TotalsStore,
  { key, statements, attempt }: Change,
): Promise<'done' | 'repeated'> {
  const db = countStatements(store.db)
  const most = statements + (key === null ? 0 : KEY_STATEMENTS)
  const began = Date.now()
  let unknown: DatabaseFailure | null = null
  for (let made = 1; ; made++) {
    let committing = false
    try {
      await db.transaction(async (transaction) => {
        if (key !== null) await checkKey(transaction, key)
        await attempt(transaction, db)
        // A request with the same key may have been faster.
        if (key !== null && !(await insertKey(transaction, key))) throw new Overtaken()
        committing = true
      })
      return 'done'
    } catch (error) {
      if (error instanceof AlreadyApplied) return unknown === null ? 'repeated' : 'done'
      if (error instanceof KeyReused || error instanceof ChangeRefused) throw error
      const failed = error instanceof Overtaken ? null : classify(error)
      // Before the COMMIT nothing takes effect: the server rolls back.
      const failure = committing ? failed : (failed?.withApplied('no') ?? null)
      if (failure?.applied === 'unknown') unknown = failure
      const pause = Math.random() * Math.min(BACKOFF_MS * 2 ** (made - 1), MAX_BACKOFF_MS)
      const isLast =
        made === MAX_ATTEMPTS || db.sent + most > MAX_STATEMENTS || Date.now() + pause - began > GIVE_UP_AFTER_MS
      // Even if the last attempt was overtaken: an earlier one may have taken effect after all.
      if (isLast || failure?.retry === false || (unknown !== null && key === null)) {
        throw unknown ? (failure ?? unknown).withApplied('unknown') : (failure ?? error)
      }
      await new Promise((resolve) => setTimeout(resolve, pause))
    } finally {
      store.cache?.forget()
    }
  }
}

async function checkKey(db: Executor, key: ChangeKey): Promise<void> {
  const contents = await readContents(db, key)
  if (contents !== null) throw contents === key.contents ? new AlreadyApplied() : new KeyReused()
}

/** Stores the key of a change of several ranges; of two racing requests, one wins. @throws {KeyReused} */
export async function tieKey(db: Executor, key: ChangeKey): Promise<void> {
  // If it is stored: by an earlier request, by a concurrent one, or by this one if its answer was lost.
  if (!(await insertKey(db, key)) && (await readContents(db, key)) !== key.contents) throw new KeyReused()
}

async function readContents(db: Executor, { recordId, hash }: ChangeKey): Promise<bigint | null> {
  const { rows } = await db.execute(
    `SELECT contents_hash FROM change_keys WHERE record_id = ${recordId} AND key_hash = ${hash}`,
  )
  return rows.length === 0 ? null : toBigInt(rows[0]!.contents_hash)
}

/** Returns whether it was not stored before. */
async function insertKey(db: Executor, { recordId, hash, contents }: ChangeKey): Promise<boolean> {
  const { rowsAffected } = await db.execute(
    `INSERT IGNORE INTO change_keys (record_id, key_hash, contents_hash) VALUES (${recordId}, ${hash}, ${contents})`,
  )
  return rowsAffected === 1
}

export type ChangeRefusal =
  | 'no_such_counter'
  | 'no_such_target'
  | 'counter_exists'
  | 'count_not_below'
  | 'different_ranges'
  | 'history_too_large'

/** A counter is not deleted, renamed or merged. Nothing was changed. */
export class ChangeRefused extends Error {
  override name = 'ChangeRefused'
  readonly reason: ChangeRefusal

  constructor(reason: ChangeRefusal) {
    super(reason)
    this.reason = reason
  }
}
