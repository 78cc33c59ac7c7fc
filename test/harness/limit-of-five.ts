import { env } from 'cloudflare:workers'
import type { RateLimit } from '../../src/visits/rate-limit.ts'

/** The local simulation of the platform's rate limit: five a minute. Its periods begin on the full minute. */
export const { LIMIT_OF_FIVE } = env as unknown as { LIMIT_OF_FIVE: RateLimit }
