import { log } from '../log.ts'
import { isLoopback, subscriberOf, wideNetworkOf } from './network.ts'

/** The part of a rate limiting binding that is used here. */
export interface RateLimit {
  limit(options: { key: string }): Promise<{ success: boolean }>
}

/** Seconds to wait after a limit was exceeded: the longest period that one can have. */
export const LONGEST_PERIOD = 60

/** How many times as much the wide network of an address may do. */
const WIDE_SHARES = 10
/** A binding has one figure for all its keys. So the requests of a wide network take turns with ten keys of each binding. */
const turns = new WeakMap<RateLimit, number>()

/**
 * Whether an address has exceeded its limit: that of its network, or ten times as much together with the networks beside it,
 * many of which may belong to one customer. It has not if there is no limit or no address, or if it is this machine. If the platform's rate
 * limiting fails, requests are let through, because everything works without it.
 *
 * @param address the value of `CF-Connecting-IP`
 * @param purpose gives requests of one purpose a separate limit; ends with a space
 */
export async function exceedsLimit(limit: RateLimit | null, address: string | null, purpose = ''): Promise<boolean> {
  if (limit === null || address === null || isLoopback(address)) return false
  const network = subscriberOf(address)
  if (network === null) return false
  try {
    // One after the other, so that a network above its limit does not use up that of its neighbors.
    const { success } = await limit.limit({ key: `${purpose}${network}` })
    if (!success) return true
    const turn = ((turns.get(limit) ?? 0) + 1) % WIDE_SHARES
    turns.set(limit, turn)
    return !(await limit.limit({ key: `${purpose}${wideNetworkOf(address)} ${turn}` })).success
  } catch (error) {
    log('warn', 'rate_limit_failed', { error: String(error) })
    return false
  }
}
