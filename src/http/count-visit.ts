import type { Context } from 'hono'
import type { CounterType } from '../config/counter-types.ts'
import { type CounterAddress, counterId } from '../counters/keys/counter-address.ts'
import type { Increment } from '../counters/write/apply-batch.ts'
import { isolateOf } from '../isolate.ts'
import type { Purpose } from '../visits/bots.ts'
import { exclusionOf } from '../visits/exclusion.ts'
import { networkOf } from '../visits/network.ts'
import { type AppEnv, waitUntilOf } from './context.ts'
import { addToCounters } from './count-for-request.ts'
import { isOwnVisit } from './own-visits.ts'
import { problemOf } from './problem-of.ts'

/**
 * Whether the key of a public request counts: its counter exists, or it may come into being.
 *
 * @throws {Problem} if the database does not answer; nothing was counted
 */
export async function isAdmitted(c: Context<AppEnv>, counter: CounterAddress): Promise<boolean> {
  const { keys, newKeys } = isolateOf(c.env)
  if (keys.knows(counter)) return true
  const id = counterId(counter)
  const waitUntil = waitUntilOf(c)
  const mayBeNew = await newKeys.allows(id, c.req.header('CF-Connecting-IP') ?? null)
  try {
    if (await keys.admits(counter, { mayBeNew, waitUntil })) return true
    // Of the requests for a new page that come together, another one may have been allowed to.
    return !mayBeNew && newKeys.wasAllowed(id) && (await keys.admits(counter, { waitUntil }))
  } catch (error) {
    throw problemOf(error)
  }
}

/** How to count a visit. */
interface VisitOptions {
  /** Seconds within which one visitor counts once; 0 counts every time. */
  dedupeSeconds: number
  /** What the client can do if nobody knows whether it was counted. */
  advice: string
  /** See `CountOptions`. */
  answerReady?: boolean
}

/**
 * Counts one for a visitor, once per window, in a counter that was admitted. If the type names another (`also`), the same key counts there in the same statement,
 * once per window of that type.
 *
 * @returns the value of `X-Hit`
 * @throws {Problem}
 */
export function countVisit(
  c: Context<AppEnv>,
  type: CounterType,
  counter: CounterAddress,
  options: VisitOptions,
): Promise<string> {
  if (options.dedupeSeconds === 0 && type.also === null)
    return addToCounters(c, [{ counter, by: 1n }], { ...options, admitted: true })
  return countOnce(c, type, counter, options)
}

async function countOnce(
  c: Context<AppEnv>,
  type: CounterType,
  counter: CounterAddress,
  { dedupeSeconds, advice, answerReady = false }: VisitOptions,
): Promise<string> {
  const { visitors, config } = isolateOf(c.env)
  const also = type.also === null ? undefined : config.types.get(type.also)
  const longest = also?.dedupeSeconds ?? dedupeSeconds
  const visit = dedupeSeconds === 0 ? undefined : await visitOf(c, counter, dedupeSeconds, longest)
  if (visit !== undefined && visitors.wasCounted(visit)) return 'ignored; reason=duplicate'
  const increments = [once(counter, visit)]
  if (also !== undefined) {
    // The same key has the same record id in every type, so both rows are in one range, and in one statement.
    const other = { ...counter, recordType: also.recordType }
    const otherVisit = await visitOf(c, other, longest, longest)
    if (otherVisit === undefined || !visitors.wasCounted(otherVisit)) increments.push(once(other, otherVisit))
  }
  const outcome = await addToCounters(c, increments, { advice, admitted: true, answerReady })
  for (const { key } of increments) if (key !== undefined) visitors.markCounted(key)
  return outcome
}

function once(counter: CounterAddress, visit: bigint | undefined): Increment {
  return visit === undefined ? { counter, by: 1n } : { counter, by: 1n, key: visit }
}

/**
 * The visit that a request belongs to, if its visitor can be recognized.
 *
 * @param longest see `Window`
 */
async function visitOf(
  c: Context<AppEnv>,
  counter: CounterAddress,
  seconds: number,
  longest: number,
): Promise<bigint | undefined> {
  // Cloudflare sets it, whatever the client sends. Without it every request counts, because visitors look the same.
  const network = networkOf(c.req.header('CF-Connecting-IP') ?? '')
  if (network === null) return undefined
  const agent = c.req.header('User-Agent') ?? ''
  const window = { seconds, longest, at: new Date(), waitUntil: waitUntilOf(c) }
  return isolateOf(c.env).visitors.visit({ network, agent }, counter, window)
}

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
