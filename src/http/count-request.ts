import type { Context } from 'hono'
import type { CounterType } from '../config/counter-types.ts'
import type { CounterAddress } from '../counters/keys/counter-address.ts'
import { isolateOf } from '../isolate.ts'
import type { Purpose } from '../visits/bots.ts'
import { exclusionOf } from '../visits/exclusion.ts'
import { isAdmitted } from './admitted-key.ts'
import type { AppEnv } from './context.ts'
import { countVisit, type VisitOptions } from './count-once-per-visitor.ts'
import { isOwnVisit } from './own-visits.ts'

/**
 * Counts a request for a file or an image, if it is a visit that counts.
 *
 * @returns the value of `X-Hit`
 * @throws {Problem}
 */
export async function countRequest(
  c: Context<AppEnv>,
  type: CounterType,
  counter: CounterAddress,
  { purpose, ...options }: VisitOptions & { purpose: Purpose },
): Promise<string> {
  if (isOwnVisit(c)) return 'ignored; reason=own'
  const { bots, config } = isolateOf(c.env)
  const excluded = await exclusionOf(c.req.raw.headers, type, { bots, rateLimit: config.rateLimit, purpose })
  if (excluded !== null) return `ignored; reason=${excluded}`
  if (!(await isAdmitted(c, counter))) return 'ignored; reason=key'
  return countVisit(c, type, counter, options)
}

/** Waits for a count, but not for long: then the answer is `late`. Counting goes on after that. */
export async function withinTime<Counted>(
  c: Context<AppEnv>,
  counting: Promise<Counted>,
  milliseconds: number,
  late: Counted,
): Promise<Counted> {
  c.executionCtx.waitUntil(counting)
  const { promise: over, resolve } = Promise.withResolvers<Counted>()
  const timer = setTimeout(resolve, milliseconds, late)
  try {
    return await Promise.race([counting, over])
  } finally {
    clearTimeout(timer)
  }
}
