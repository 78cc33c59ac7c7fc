import { BoundedMap } from '../bounded-map.ts'
import { hash63 } from '../counters/ids.ts'
import { type CounterAddress, counterId } from '../counters/keys/counter-address.ts'
import { isAhead, pause } from '../counters/shared-work-state.ts'
import type { Executor } from '../database/database.ts'
import { classify } from '../database/errors.ts'
import { hexOf, toText } from '../database/values.ts'
import { log } from '../log.ts'

/** Classes of user agents: the most rows that one network can leave in a counter and window. */
export const AGENT_CLASSES = 64

/**
 * The class of a user agent, from 0 to 63: FNV-1a with a secret beginning, and the last step of MurmurHash3, which spreads
 * agents that differ in one letter. Not cryptographic: a visitor who knows it can fill 64 classes and no more.
 * @param seed 32 bits of the salt, so that nobody else can tell the class
 */
export function classOf(agent: string, seed: number): number {
  let hash = seed ^ 0x811c9dc5
  for (let i = 0; i < agent.length; i++) hash = Math.imul(hash ^ agent.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) & (AGENT_CLASSES - 1)
}

/** Visits in one generation of the cache; it holds two. */
const MAX_GENERATION = 10_000

/** The window in which a visitor counts once. */
export interface Window {
  /** Windows begin at multiples of it since 1970 UTC. */
  seconds: number
  /** The longest window in which the same hit is a visit: one visitor there is one in shorter ones. Default: `seconds`. */
  longest?: number
  at: Date
  waitUntil: (work: Promise<unknown>) => void
}

/**
 * Recognizes repeated hits of a visitor without storing who the visitor is: only a 64-bit hash, under the random salt of the
 * day on which the window began. Once that salt is deleted, nobody can find out whether somebody came. A visitor is a network
 * and a class of user agents, so nobody can be more visitors than there are classes. Plain data, shared by an isolate's
 * requests.
 */
export class Visitors {
  readonly #salts: Pick<Salts, 'of'>
  readonly #counted = new BoundedMap<true>(MAX_GENERATION)

  constructor(salts: Pick<Salts, 'of'>) {
    this.#salts = salts
  }

  /** The idempotency key of a visit: the same for the same visitor of the same counter within a window. */
  async visit(visitor: { network: string; agent: string }, counter: CounterAddress, window: Window): Promise<bigint> {
    const { seconds, longest = seconds } = window
    const number = numberOf(window, seconds)
    const salt = await this.#saltOf(window, seconds)
    const seed = longest === seconds ? salt : await this.#saltOf(window, longest)
    const agentClass = classOf(visitor.agent, Number.parseInt(seed.slice(0, 8), 16))
    return hash63(JSON.stringify(['visit', salt, visitor.network, agentClass, counterId(counter), seconds, number]))
  }

  #saltOf(window: Window, seconds: number): Promise<string> {
    return this.#salts.of(Math.floor((numberOf(window, seconds) * seconds) / DAY_SECONDS), window.waitUntil)
  }

  /** Whether this isolate has counted a visit. If another isolate has, the database recognizes the visit. */
  wasCounted(visit: bigint): boolean {
    return this.#counted.has(`${visit}`)
  }

  markCounted(visit: bigint): void {
    this.#counted.set(`${visit}`, true)
  }
}

function numberOf({ at }: Window, seconds: number): number {
  return Math.floor(at.getTime() / 1_000 / seconds)
}

const SALT_BYTES = 32
const DAY_SECONDS = 86_400
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
      let salt = await readSalt(this.#db, day)
      if (salt === null) {
        // Another isolate may store its own first.
        await offerSalt(this.#db, day, this.#ownSalt(day))
        salt = await readSalt(this.#db, day)
      }
      if (salt === null) throw new Error('the salt is not there after it was stored')
      for (const salts of [this.#held, this.#own]) {
        for (const old of salts.keys()) {
          if ((old + 1) * DAY_SECONDS + this.#longestWindow <= now / 1_000) salts.delete(old)
        }
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

  /** In the digits that the database uses, so that storing it does not change the text. */
  #ownSalt(day: number): string {
    const salt = this.#own.get(day) ?? hexOf(crypto.getRandomValues(new Uint8Array(SALT_BYTES))).toUpperCase()
    this.#own.set(day, salt)
    return salt
  }
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
