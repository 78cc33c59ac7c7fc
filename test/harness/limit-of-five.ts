import { env } from 'cloudflare:workers'
import type { RateLimit } from '../../src/visits/rate-limit.ts'

/** The local simulation of the platform's rate limit: five a minute. Its periods begin on the full minute. */
export const { LIMIT_OF_FIVE } = env as unknown as { LIMIT_OF_FIVE: RateLimit }

/** Waits, if a period of the limit is about to end, so that none does during a test. */
export async function withinOnePeriod(): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000)
  if (left < 20_000) await new Promise((resolve) => setTimeout(resolve, left))
}
