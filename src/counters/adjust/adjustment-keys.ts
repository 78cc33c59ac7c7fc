import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/numbers.ts'
import { hash64 } from '../keys/key-hash.ts'
import { beforeTransaction } from './attempts.ts'

/** Thrown if an idempotency key has come before, with other contents. Nothing was changed. */
export class KeyReused extends Error {
  constructor() {
    super('the idempotency key was used before, with other contents')
    this.name = 'KeyReused'
  }
}

/**
 * Ties an idempotency key to the contents with which it first comes, for good. Call it before anything is changed. The tie is a
 * row of its own, outside the transaction that follows: an import may go to several shards, the tie goes to one. Of two requests
 * that race, the primary key lets one in. If what follows fails, the tie stays, so that the same request can be sent again.
 *
 * @param key the hash of the key
 * @param contents the same text for the same contents, and for no others
 * @throws {KeyReused}
 * @throws {DatabaseFailure} whose `applied` is `no`
 */
export async function tieKey(db: Executor, key: bigint, contents: string): Promise<void> {
  const hash = await hash64(contents)
  const { rowsAffected } = await beforeTransaction(
    db.execute(`INSERT IGNORE INTO adjustment_keys (key_hash, contents_hash) VALUES (${key}, ${hash})`),
  )
  if (rowsAffected === 1) return
  // The row is there: from an earlier request, from another one just now, or from this one, if its answer was lost.
  const { rows } = await beforeTransaction(
    db.execute(`SELECT contents_hash FROM adjustment_keys WHERE key_hash = ${key}`),
  )
  if (toBigInt(rows[0]?.contents_hash) !== hash) throw new KeyReused()
}
