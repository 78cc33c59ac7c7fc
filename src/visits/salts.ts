import { isAhead } from '../counters/calendar.ts'
import { pause } from '../counters/shared-work-state.ts'
import type { Executor } from '../database/database.ts'
import { classify } from '../database/errors.ts'
import { hexOf, toText } from '../database/values.ts'
import { log } from '../log.ts'

const SALT_BYTES = 32
export const DAY_SECONDS = 86_400
/** After this, a request that reads a salt counts as dead: its three statements are given up by then. */
const MAX_ASKING_MS = 20_000
/** How long a request waits for another one that reads. */
const PATIENCE_MS = 3_000
/** Milliseconds to the next poll; later ones are rarer, because thousands may wait. */
const LOOK_MS = 5
const MAX_LOOK_MS = 100
/** Milliseconds without reading after a failure. */
const RETRY_MS = 5_000

/**
 * The salts of days: random, and the same in all isolates. Whoever needs a salt first creates it. An isolate reads each one
 * once, when a hit needs it. While the database is unavailable, an isolate uses the salt that it would store, so that hits are
 * counted. If another isolate stores its salt first, visitors who were counted meanwhile may count once more. Plain data,
 * shared by an isolate's requests, under the rules of `SharedWork`.
 */
export class Salts {
  readonly #db: Executor
  readonly #longestWindow: number
  readonly #held = new Map<number, string>()
  /** The salts that this isolate would store. */
  readonly #own = new Map<number, string>()
  #askingUntil = 0
  #failedUntil = 0

  /** @param longestWindow seconds after the end of a day in which its salt may still be needed */
  constructor(db: Executor, longestWindow: number) {
    this.#db = db
    this.#longestWindow = longestWindow
  }

  /**
   * The salt of a day, in hexadecimal digits. Never fails.
   * @param day days since 1970-01-01 UTC
   * @param waitUntil keeps a query going if the client hangs up
   */
  async of(day: number, waitUntil: (work: Promise<unknown>) => void): Promise<string> {
    const began = Date.now()
    for (let now = began; ; now = Date.now()) {
      const salt = this.#held.get(day)
      if (salt !== undefined) return salt
      if (isAhead(this.#failedUntil, now, RETRY_MS) || now - began > PATIENCE_MS) return this.#ownSalt(day)
      if (isAhead(this.#askingUntil, now, MAX_ASKING_MS)) {
        await pause(Math.min(LOOK_MS + Math.max(0, now - began) / 4, MAX_LOOK_MS))
      } else {
        const asking = this.#ask(day, now)
        waitUntil(asking)
        await asking
      }
    }
  }

  async #ask(day: number, now: number): Promise<void> {
    this.#askingUntil = now + MAX_ASKING_MS
    try {
      const salt = (await readSalt(this.#db, day)) ?? (await this.#make(day))
      for (const salts of [this.#held, this.#own]) {
        for (const old of salts.keys()) if (this.#isOver(old, now)) salts.delete(old)
      }
      this.#own.delete(day)
      this.#held.set(day, salt)
    } catch (error) {
      this.#failedUntil = Date.now() + RETRY_MS
      // Not the message: the database may quote the statement, and with it the salt.
      log('warn', 'salt_missing', { reason: classify(error).kind })
    } finally {
      this.#askingUntil = 0
    }
  }

  /** Creates the salt of a day, or reads the one that another isolate has created meanwhile. */
  async #make(day: number): Promise<string> {
    await offerSalt(this.#db, day, this.#ownSalt(day))
    const salt = await readSalt(this.#db, day)
    if (salt === null) throw new Error('the salt is not there after it was stored')
    return salt
  }

  /** In the digits that the database uses, so that storing it does not change the text. */
  #ownSalt(day: number): string {
    const salt = this.#own.get(day) ?? randomSalt()
    this.#own.set(day, salt)
    return salt
  }

  #isOver(day: number, now: number): boolean {
    return (day + 1) * DAY_SECONDS + this.#longestWindow <= now / 1_000
  }
}

function randomSalt(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(SALT_BYTES))).toUpperCase()
}

/* The table of salts. All of its rows are in the first range. A day is the number of days since 1970-01-01 UTC. */

/** Seconds by which the clocks of Workers and the database may differ. */
const CLOCKS_DIFFER = 600

/** Reads the salt of a day, in hexadecimal digits; `null` if there is none. */
export async function readSalt(db: Executor, day: number): Promise<string | null> {
  const { rows } = await db.execute(
    `SELECT HEX(salt) AS salt FROM visitor_salts WHERE range_start = 0 AND day = ${day}`,
  )
  return rows.length === 0 ? null : toText(rows[0]!.salt)
}

/** Stores a salt, unless its day has one. The salt of the day is the one that is read afterwards. */
export async function offerSalt(db: Executor, day: number, salt: string): Promise<void> {
  await db.execute(`INSERT IGNORE INTO visitor_salts (range_start, day, salt) VALUES (0, ${day}, X'${salt}')`)
}

/** Deletes the salts of days whose windows are all over, by the database's clock. Returns their number. */
export async function deleteOldSalts(db: Executor, longestWindow: number): Promise<number> {
  const { rowsAffected } = await db.execute(
    `DELETE FROM visitor_salts
     WHERE range_start = 0 AND day < FLOOR((UNIX_TIMESTAMP() - ${longestWindow + CLOCKS_DIFFER}) / 86400)`,
  )
  return rowsAffected
}
