import { BoundedMap } from '../bounded-map.ts'
import { MINUTE_MS } from '../counters/calendar.ts'
import { log } from '../log.ts'
import { isLoopback, networkOf } from './network.ts'

export interface RateLimit {
  limit(options: { key: string }): Promise<{ success: boolean }>
}

/** How many times as much the wide network of an address may do. */
const WIDE_SHARES = 10
/** A binding has one figure for all its keys, so the requests of a wide network take turns with ten keys of each binding. */
const turns = new WeakMap<RateLimit, number>()

/**
 * Whether an address (`CF-Connecting-IP`) exceeds its network's limit, or ten times as much with the networks beside it, perhaps of one
 * customer. Without a limit or an address, on this machine, and if the platform's rate limiting fails, it does not.
 * @param purpose gives requests of one purpose a separate limit; ends with a space
 */
export async function exceedsLimit(limit: RateLimit | null, address: string | null, purpose = ''): Promise<boolean> {
  if (limit === null || address === null || isLoopback(address)) return false
  const network = networkOf(address, 'subscriber')
  if (network === null) return false
  try {
    // One after the other, so that a network above its limit does not use up that of its neighbors.
    const { success } = await limit.limit({ key: `${purpose}${network}` })
    if (!success) return true
    const turn = ((turns.get(limit) ?? 0) + 1) % WIDE_SHARES
    turns.set(limit, turn)
    return !(await limit.limit({ key: `${purpose}${networkOf(address, 'customer')} ${turn}` })).success
  } catch (error) {
    log('warn', 'rate_limit_failed', { error: String(error) })
    return false
  }
}

/** Attempts at tokens that a network has in a minute, in one isolate. */
export const MAX_TOKEN_ATTEMPTS = 20

/** Counts attempts by network and minute of the clock, without a rate limit of the platform. Plain data. */
export class TokenAttempts {
  readonly #counts = new BoundedMap<number>(5_000)

  /** Takes an attempt before its outcome is known, as others may be in flight. Whether there is none left. */
  isExceeded(network: string, now: number): boolean {
    const place = `${Math.floor(now / MINUTE_MS)} ${network}`
    const taken = this.#counts.get(place) ?? 0
    if (taken < MAX_TOKEN_ATTEMPTS) this.#counts.set(place, taken + 1)
    return taken >= MAX_TOKEN_ATTEMPTS
  }
}

/** How long a key that one request may create is allowed to all others. */
const ALLOWED_MS = 60_000

/** Keeps a network from using up the budget of new keys, which all networks share. Plain data, bounded. */
export class NewKeyAllowance {
  readonly #limit: RateLimit | null
  readonly #allowed = new BoundedMap<number>(10_000)

  /** @param limit the platform's; `null`: every network may create every key */
  constructor(limit: RateLimit | null) {
    this.#limit = limit
  }

  /** Whether a request from an address (as for `exceedsLimit`) may create a counter. */
  async allows(counter: string, address: string | null): Promise<boolean> {
    if (this.#limit === null || this.wasAllowed(counter)) return true
    if (await exceedsLimit(this.#limit, address)) return false
    this.#allowed.set(counter, Date.now())
    return true
  }

  /** Whether another request was allowed to. */
  wasAllowed(counter: string): boolean {
    const at = this.#allowed.get(counter)
    return at !== undefined && Math.abs(Date.now() - at) < ALLOWED_MS
  }
}
