import { type Counter, counterId } from './counter.ts'
import { Generations } from './generations.ts'
import { hash64 } from './hash.ts'

/** Visits in one generation; two of them are remembered. */
const MAX_GENERATION = 10_000
const DAY_SECONDS = 86_400

const encoder = new TextEncoder()

/** Who asks, as far as the request tells. */
export interface Visitor {
  address: string
  agent: string
}

/**
 * Tells one visitor's repeated hits from new ones, without keeping who it was: what is stored is a 64-bit hash under a salt
 * that changes every day (UTC). The salt is derived from a secret rather than stored, so that neither the database nor a
 * backup of it is enough to find out whether somebody came, and every isolate has it without asking.
 *
 * Plain data, shared by an isolate's requests.
 */
export class Visitors {
  readonly #secret: string
  readonly #salts = new Map<number, string>()
  readonly #counted = new Generations<true>(MAX_GENERATION)

  /** @param secret something that only the Worker knows */
  constructor(secret: string) {
    this.#secret = secret
  }

  /**
   * The idempotency key of a visit: the same for the same visitor of the same counter within a window. Windows begin at
   * multiples of their length since 1970 UTC.
   */
  async visit(visitor: Visitor, counter: Counter, windowSeconds: number, at: Date): Promise<bigint> {
    const window = Math.floor(at.getTime() / 1_000 / windowSeconds)
    const salt = await this.#salt(Math.floor((window * windowSeconds) / DAY_SECONDS))
    const { address, agent } = visitor
    return hash64(JSON.stringify(['visit', salt, address, agent, counterId(counter), windowSeconds, window]))
  }

  /** Whether this isolate has counted a visit already. Others may have: the database tells them apart. */
  wasCounted(visit: bigint): boolean {
    return this.#counted.has(`${visit}`)
  }

  /** Remembers that a visit was counted. */
  counted(visit: bigint): void {
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
