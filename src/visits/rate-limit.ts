import { log } from '../log.ts'
import { subscriberOf } from './network.ts'

/** The part of a rate limiting binding that is used here. */
export interface RateLimit {
  limit(options: { key: string }): Promise<{ success: boolean }>
}

/** Seconds to wait after a limit was exceeded: the longest period that one can have. */
export const LONGEST_PERIOD = 60

/** Addresses of this machine. Cloudflare never reports one, so `npm start` and `wrangler dev` have no limit for local clients. */
const LOOPBACK = /^(?:127\.|::1$)/

/**
 * Whether an address has exceeded its limit. It has not if there is no limit or no address, or if it is this machine. If the
 * platform's rate limiting fails, requests are let through, because everything works without it.
 *
 * @param address the value of `CF-Connecting-IP`
 * @param purpose gives requests of one purpose a separate limit; ends with a space
 */
export async function exceedsLimit(limit: RateLimit | null, address: string | null, purpose = ''): Promise<boolean> {
  if (limit === null || address === null || LOOPBACK.test(address)) return false
  const network = subscriberOf(address)
  if (network === null) return false
  try {
    const { success } = await limit.limit({ key: `${purpose}${network}` })
    return !success
  } catch (error) {
    log('warn', 'rate_limit_failed', { error: String(error) })
    return false
  }
}
