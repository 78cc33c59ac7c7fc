import { KeptAnswers } from '../counters/read/kept-answers.ts'
import { type WaitUntil, within } from '../counters/shared-work-state.ts'
import { bucketOf, idsSql } from '../database/buckets.ts'
import type { Executor } from '../database/database.ts'
import { classify } from '../database/errors.ts'
import { hexOf, toText } from '../database/values.ts'
import { log } from '../log.ts'

export const DAY_SECONDS = 86_400
const SALT_BYTES = 32
/** How long a request waits for the database, or for another one that asks it. */
const PATIENCE_MS = 3_000
/** After this, the database is asked again if it did not answer. */
const RETRY_MS = 5_000

/**
 * The salts of days: random, and the same in all isolates. Who needs one first creates it. While the database is unavailable, an isolate
 * uses the salt that it would store; if another stores its own first, visitors who were counted meanwhile may count once more.
 */
export class Salts {
  readonly #db: Executor
  readonly #longestWindow: number
  readonly #held = new Map<number, string>()
  /** The salts that this isolate would store. */
  readonly #own = new Map<number, string>()
  /** Which salts are asked for, or could not be read just now. The answers are empty: salts must be forgotten in time. */
  #asked = new KeptAnswers(PATIENCE_MS)

  /** @param longestWindow seconds after the end of a day in which its salt may still be needed */
  constructor(db: Executor, longestWindow: number) {
    this.#db = db
    this.#longestWindow = longestWindow
  }

  /** The salt of a day since 1970-01-01 UTC, in hexadecimal. Never fails. @param waitUntil keeps a query going if the client hangs up */
  async of(day: number, waitUntil: WaitUntil): Promise<string> {
    if (!this.#held.has(day)) {
      const read = () => within(PATIENCE_MS, this.#ask(day)).catch(logMissing)
      await this.#asked.answer([day], { keptMs: RETRY_MS, read, waitUntil })
    }
    return this.#held.get(day) ?? this.#ownSalt(day)
  }

  async #ask(day: number): Promise<void> {
    let salt = await readSalt(this.#db, day)
    if (salt === null) {
      // Another isolate may store its own first.
      await offerSalt(this.#db, day, this.#ownSalt(day))
      salt = await readSalt(this.#db, day)
    }
    if (salt === null) throw new Error('the salt is missing after it was stored')
    for (const salts of [this.#held, this.#own]) {
      for (const old of salts.keys()) {
        if ((old + 1) * DAY_SECONDS + this.#longestWindow <= Date.now() / 1_000) salts.delete(old)
      }
    }
    this.#own.delete(day)
    this.#held.set(day, salt)
    this.#asked = new KeptAnswers(PATIENCE_MS)
  }

  /** In the digits that the database uses, so that storing it does not change the text. */
  #ownSalt(day: number): string {
    const salt = this.#own.get(day) ?? hexOf(crypto.getRandomValues(new Uint8Array(SALT_BYTES))).toUpperCase()
    this.#own.set(day, salt)
    return salt
  }
}

/** Not the message: the database may quote the statement, and with it the salt. */
const logMissing = (error: unknown) => log('warn', 'salt_missing', { reason: classify(error).kind })

/* The table of salts. All of its rows are in the first range. A day is the number of days since 1970-01-01 UTC. */

/** Seconds by which the clocks of Workers and the database may differ. */
const CLOCKS_DIFFER = 600

/** Reads the salt of a day, in hexadecimal digits; `null` if there is none. */
export async function readSalt(db: Executor, day: number): Promise<string | null> {
  const { rows } = await db.execute(
    `SELECT HEX(salt) AS salt FROM visitor_salts WHERE ${idsSql('range_start', 0n)} AND day = ${day}`,
  )
  return rows.length === 0 ? null : toText(rows[0]!.salt)
}

/** Stores a salt, unless its day has one. The salt of the day is the one that is read afterwards. */
export async function offerSalt(db: Executor, day: number, salt: string): Promise<void> {
  await db.execute(
    `INSERT IGNORE INTO visitor_salts (range_start, bucket, day, salt) VALUES (0, ${bucketOf(0n)}, ${day}, X'${salt}')`,
  )
}

/** Deletes the salts of days whose windows are all over, by the database's clock. Returns their number. */
export async function deleteOldSalts(db: Executor, longestWindow: number): Promise<number> {
  const oldest = `FLOOR((UNIX_TIMESTAMP() - ${longestWindow + CLOCKS_DIFFER}) / 86400)`
  const sql = `DELETE FROM visitor_salts WHERE ${idsSql('range_start', 0n)} AND day < ${oldest}`
  return (await db.execute(sql)).rowsAffected
}
