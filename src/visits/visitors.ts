import { BoundedMap } from '../bounded-map.ts'
import { type CounterAddress, counterId } from '../counters/counter-address.ts'
import { hash63 } from '../counters/key-hash.ts'

/** Visits in one generation of the cache; it holds two generations. */
const MAX_GENERATION = 10_000
const DAY_SECONDS = 86_400

const encoder = new TextEncoder()

/** A visitor, as far as the request identifies one. */
export interface Visitor {
  address: string
  agent: string
}

/**
 * Recognizes repeated hits of a visitor without storing who the visitor is. Only a 64-bit hash is stored, with a salt that changes
 * every day (UTC). The salt is derived from a secret instead of stored. So neither the database nor a backup of it is enough to
 * find out whether somebody visited, and every isolate knows the salt without a query.
 *
 * Plain data, shared by an isolate's requests.
 */
export class Visitors {
  readonly #secret: string
  readonly #salts = new Map<number, string>()
  readonly #counted = new BoundedMap<true>(MAX_GENERATION)

  /** @param secret a text that only the Worker knows */
  constructor(secret: string) {
    this.#secret = secret
  }

  /**
   * The idempotency key of a visit: the same for the same visitor of the same counter within a window. Windows begin at
   * multiples of their length since 1970 UTC.
   */
  async visit(visitor: Visitor, counter: CounterAddress, windowSeconds: number, at: Date): Promise<bigint> {
    const window = Math.floor(at.getTime() / 1_000 / windowSeconds)
    const salt = await this.#salt(Math.floor((window * windowSeconds) / DAY_SECONDS))
    const { address, agent } = visitor
    return hash63(JSON.stringify(['visit', salt, address, agent, counterId(counter), windowSeconds, window]))
  }

  /** Whether this isolate has counted a visit already. If another isolate has, the database recognizes the visit. */
  wasCounted(visit: bigint): boolean {
    return this.#counted.has(`${visit}`)
  }

  /** Remembers that a visit was counted. */
  markCounted(visit: bigint): void {
    this.#counted.set(`${visit}`, true)
  }

  async #salt(day: number): Promise<string> {
    const known = this.#salts.get(day)
    if (known !== undefined) return known
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const key = await crypto.subtle.importKey('raw', encoder.encode(this.#secret), algorithm, false, ['sign'])
    const signature = await crypto.subtle.sign('HMAC', key, encoder.encode(`visitors of day ${day}`))
    const salt = [...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    for (const old of this.#salts.keys()) if (this.#salts.size > 1) this.#salts.delete(old)
    this.#salts.set(day, salt)
    return salt
  }
}
