import { bucketOf, idsSql } from '../../database/buckets.ts'
import { countStatements, type Database, type Executor } from '../../database/database.ts'
import { classify, type DatabaseFailure } from '../../database/errors.ts'
import { toBigInt } from '../../database/values.ts'
import { byPrimaryKey, type CounterPlace, counterId } from '../counter-address.ts'
import { readByCounter } from '../counters-sql.ts'
import { hash64 } from '../ids.ts'
import { pendingSlotsSql } from '../ledger/slots.ts'
import { type LockedCounter, lockCounters, Overtaken } from '../ledger/totals.ts'

/** Statements of all attempts. The free plan allows 50 subrequests; the rest is left for repeated ROLLBACKs. */
const MAX_STATEMENTS = 45
const MAX_ATTEMPTS = 7
/** Longest pause before the second attempt; doubles with each further one. */
const BACKOFF_MS = 30
const MAX_BACKOFF_MS = 1_000
const GIVE_UP_AFTER_MS = 8_000

/** Of an attempt, besides its own: finding rows, BEGIN, lock, 2 for the key, COMMIT, and the ROLLBACK after a failed COMMIT. */
const FRAME_STATEMENTS = 7

/** The idempotency key was used before, with other contents. Nothing was changed. */
export class KeyReused extends Error {
  override name = 'KeyReused'
  override message = 'the idempotency key was used before, with other contents'
}

/** Both roll the transaction back: an earlier attempt or request with the same key took effect, or nothing is to be changed. */
class AlreadyApplied extends Error {}
class Refused extends Error {}

/** A row of `change_keys`: an idempotency key and what was asked. */
export interface ChangeKey {
  /** In the range of the change: the counter's record id, or the first one of the range. */
  recordId: bigint
  /** Where an isolate with other ranges stores it, perhaps on another shard. */
  elsewhere?: readonly bigint[]
  hash: bigint
  contents: bigint
}

/** The key of a change of one counter. @param given the hash of an idempotency key, which may serve several counters and kinds of change */
export async function keyOfCounter(
  given: bigint | null,
  kind: string,
  { recordType, recordId }: CounterPlace,
  contents: string,
): Promise<ChangeKey | null> {
  if (given === null) return null
  const [hash, asked] = await Promise.all([hash64(`${kind} ${recordType} ${recordId} ${given}`), hash64(contents)])
  return { recordId, hash, contents: asked }
}

export type Locked = (counter: CounterPlace) => LockedCounter

const NO_ROW: LockedCounter = { total: 0n, version: null, rolledUpAt: null, gone: true }

interface Change {
  /** Stored for good, in the same transaction. */
  key: ChangeKey | null
  /** Those that it changes, each once. */
  counters: readonly CounterPlace[]
  /** The most statements of `attempt`. */
  statements: number
  /** Runs while the counters' rows are locked: nothing else moves them. `refused`: rolled back, and the key is not stored. */
  attempt(transaction: Executor, locked: Locked): Promise<'refused' | undefined>
}

/**
 * Makes a change: locks its counters, then looks its key up, then reads and writes. The lock is the guard, under every isolation level:
 * the COMMIT of an earlier attempt holds it until its key can be seen. An attempt that was overtaken or met a transient failure is
 * repeated, within limits; after a COMMIT of unknown outcome only with a key, which the next attempt looks up.
 * @returns `repeated` if an earlier request made the change @throws {KeyReused | ChangeRefused | Overtaken} nothing was changed
 * @throws {DatabaseFailure} with an unknown outcome if that of any attempt is unknown
 */
export async function makeChange(database: Database, { key, counters, statements, attempt }: Change) {
  const db = countStatements(database)
  const most = statements + FRAME_STATEMENTS
  const began = Date.now()
  let unknown: DatabaseFailure | null = null
  for (let made = 1; ; made++) {
    let committing = false
    try {
      // Not in the transaction, whose snapshot must be younger than its locks.
      const found = await readByCounter(db, '1', counters)
      const existing = counters.filter((counter) => found.has(counterId(counter))).sort(byPrimaryKey)
      await db.transaction(async (transaction) => {
        const locked = await lockCounters(transaction, existing)
        if (key?.elsewhere?.length) refuseRepeat(key, await readContents(db, key.hash, key.elsewhere))
        if (key !== null) await takeKey(transaction, key, existing.length === 0)
        const outcome = await attempt(transaction, (counter) => locked.get(counterId(counter)) ?? NO_ROW)
        if (outcome === 'refused') throw new Refused()
        committing = true
      })
      return 'done'
    } catch (error) {
      if (error instanceof AlreadyApplied) return unknown === null ? 'repeated' : 'done'
      if (error instanceof Refused) return 'done'
      if (error instanceof KeyReused || error instanceof ChangeRefused) throw error
      const failed = error instanceof Overtaken ? null : classify(error)
      // Before the COMMIT nothing takes effect: the server rolls back.
      const failure = committing ? failed : (failed?.withApplied('no') ?? null)
      if (failure?.applied === 'unknown') unknown = failure
      const pause = Math.random() * Math.min(BACKOFF_MS * 2 ** (made - 1), MAX_BACKOFF_MS)
      const isLate = Date.now() + pause - began > GIVE_UP_AFTER_MS
      const isLast = made === MAX_ATTEMPTS || db.sent + most > MAX_STATEMENTS || isLate
      // Even if the last attempt was overtaken: an earlier one may have taken effect after all.
      if (isLast || failure?.retry === false || (unknown !== null && key === null)) {
        throw unknown ? (failure ?? unknown).withApplied('unknown') : (failure ?? error)
      }
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

/**
 * Stores a key that is not stored yet. @throws {AlreadyApplied | KeyReused} if it is @throws {Overtaken} if its request was rolled back
 * @param isFirst whether it begins the transaction. Then it reads first: nobody can roll back an INSERT whose answer is lost
 */
async function takeKey(transaction: Executor, key: ChangeKey, isFirst: boolean): Promise<void> {
  const stored = () => readContents(transaction, key.hash, key.recordId)
  if (isFirst) refuseRepeat(key, await stored())
  const { rowsAffected } = await transaction.execute(
    `INSERT IGNORE INTO change_keys (record_id, bucket, key_hash, contents_hash) VALUES (${key.recordId}, ${bucketOf(key.recordId)}, ${key.hash}, ${key.contents})`,
  )
  if (rowsAffected === 1) return
  refuseRepeat(key, await stored())
  throw new Overtaken()
}

function refuseRepeat(key: ChangeKey, stored: bigint | null): void {
  if (stored !== null) throw stored === key.contents ? new AlreadyApplied() : new KeyReused()
}

/** What was asked with a key, if it is stored at a place, or any of some; otherwise `null`. */
export async function readContents(db: Executor, hash: bigint, at: bigint | readonly bigint[]): Promise<bigint | null> {
  const { rows } = await db.execute(
    `SELECT contents_hash FROM change_keys FORCE INDEX (PRIMARY) WHERE key_hash = ${hash} AND ${idsSql('record_id', at)}`,
  )
  return rows.length === 0 ? null : toBigInt(rows[0]!.contents_hash)
}

export type ChangeRefusal =
  | 'no_such_counter'
  | 'no_such_target'
  | 'counter_exists'
  | 'count_not_below'
  | 'different_ranges'
  | 'history_too_large'
  | 'too_many_pending'
  | 'reading_below_count'
  | 'count_out_of_range'

/** Nothing was changed. */
export class ChangeRefused extends Error {
  override name = 'ChangeRefused'
  readonly reason: ChangeRefusal
  /** Of `too_many_pending`: how many slots the roll-up must move first. */
  readonly slots: number

  constructor(reason: ChangeRefusal, slots = 0) {
    super(reason)
    this.reason = reason
    this.slots = slots
  }
}

export const MAX_TAKEN_SLOTS = 50_000
/** The pending slots of a refused change are counted up to this number. */
const MAX_COUNTED_SLOTS = 1_000_000

/** @throws {ChangeRefused} if counters have more pending slots than a change takes */
export async function checkPending(db: Executor, counters: readonly CounterPlace[], slots: number): Promise<void> {
  if (slots <= MAX_TAKEN_SLOTS) return
  const { rows } = await db.execute(
    `SELECT COUNT(*) AS found FROM (${pendingSlotsSql(counters, '1', MAX_COUNTED_SLOTS)}) AS s`,
  )
  throw new ChangeRefused('too_many_pending', Math.max(Number(rows[0]?.found), slots) - MAX_TAKEN_SLOTS)
}
