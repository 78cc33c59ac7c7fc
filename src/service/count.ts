import type { CounterType } from '../config/counter-types.ts'
import { type CounterAddress, counterId } from '../counters/keys/counter-address.ts'
import type { Increment } from '../counters/write/apply-batch.ts'
import { type HitReason, ignoredBecause } from '../hit-reasons.ts'
import type { Purpose } from '../visits/bots.ts'
import { skipsStart } from '../visits/download.ts'
import { exceedsLimit } from '../visits/rate-limit.ts'
import type { Visitor } from '../visits/visitor.ts'
import type { Caller } from './caller.ts'
import { problemOf } from './problem.ts'

interface AddOptions {
  /** Slot and batch id of increments that must count once, however often they are sent. */
  key?: bigint | undefined
  /** What the client can do if the outcome is unknown. */
  advice: string
  /** Whether `Keys` has admitted the counters. */
  admitted?: boolean
  /** See `CountOptions`. */
  answerReady?: boolean
}

/**
 * Adds to counters: to all of them or to none.
 *
 * @throws {Problem} that says whether anything was counted
 */
export async function addToCounters(
  { isolate: { keys, counting }, waitUntil, databaseTime }: Caller,
  increments: readonly Increment[],
  { key, advice, admitted = false, answerReady = false }: AddOptions,
): Promise<'counted' | 'queued'> {
  // Hits are not timed, so they have no clock.
  const began = databaseTime === undefined ? 0 : performance.now()
  try {
    const counters = increments.map(({ counter }) => counter)
    if (!admitted) await keys.ensure(counters, waitUntil)
    return await counting.count(increments, { key, waitUntil, answerReady, named: keys.areNamed(counters) })
  } catch (error) {
    throw problemOf(error, advice)
  } finally {
    databaseTime?.add(performance.now() - began)
  }
}

/** How pages load files by themselves. Otherwise any page could count a download for each of its visitors. */
const EMBEDDED = new Set(['image', 'script', 'style', 'font', 'iframe', 'frame', 'embed', 'object'])

/** A request that may count as a visit. */
export interface Visit {
  type: CounterType
  counter: CounterAddress
  visitor: Visitor
  purpose: Purpose
  isHead?: boolean
  /** `navigator.webdriver`. */
  automated?: boolean
  /** Seconds within which a visitor counts once; 0 counts every time. */
  dedupeSeconds: number
  /** What the client can do if the outcome is unknown. */
  advice: string
  /** See `CountOptions`. */
  answerReady?: boolean
}

/**
 * Counts a visit, once per visitor and window, and in the type's `also` in the same statement. Continues if the client hangs up.
 *
 * @returns the value of `X-Hit`
 * @throws {Problem}
 */
export async function countVisit(caller: Caller, visit: Visit): Promise<string> {
  const { isolate, waitUntil } = caller
  const reason = reasonToIgnore(caller, visit)
  if (reason !== null) return ignored(caller, visit, reason)
  const { rateLimit } = isolate.config
  if (rateLimit === null && isolate.keys.knows(visit.counter)) return countAdmitted(caller, visit)
  const counting = (async () => {
    if (await exceedsLimit(rateLimit, visit.visitor.address)) return ignored(caller, visit, 'rate')
    if (!(await isAdmitted(caller, visit))) return ignored(caller, visit, 'key')
    return countAdmitted(caller, visit)
  })()
  waitUntil(counting.catch(() => {}))
  return counting
}

/** Why a visit does not count, by its headers, in the order of the checks. `rate`, `key` and `duplicate` follow. */
function reasonToIgnore({ isolate: { bots, config } }: Caller, visit: Visit): HitReason | null {
  const { type, visitor, purpose, isHead = false, automated = false } = visit
  const { headers } = visitor
  if (isHead) return 'head'
  if (purpose === 'download' && skipsStart(headers.get('Range') ?? undefined)) return 'range'
  if (purpose === 'download' && EMBEDDED.has(headers.get('Sec-Fetch-Dest') ?? '')) return 'embedded'
  if (purpose === 'page' && !isAllowed(type.allowedOrigins, visitor.page)) return 'origin'
  if (visitor.marked || visitor.isIn(config.ownNetworks)) return 'own'
  if (automated && !type.countAutomated) return 'automated'
  if (visitor.isInAdvance) return 'prefetch'
  if (type.respectDoNotTrack && visitor.asksNotToBeTracked) return 'dnt'
  if (!type.countBots && bots.has(visitor.agent, purpose)) return 'bot'
  return null
}

function isAllowed(allowed: readonly string[], page: string | null): boolean {
  if (allowed.includes('*')) return true
  return page !== null && URL.canParse(page) && allowed.includes(new URL(page).origin)
}

function ignored({ isolate }: Caller, { type, visitor }: Visit, reason: HitReason): string {
  isolate.ignoredHits.remember(type.name, reason, visitor.page, new Date())
  return ignoredBecause(reason)
}

/** Whether the counter of a visit exists or may be created. */
async function isAdmitted({ isolate, waitUntil }: Caller, { counter, visitor }: Visit): Promise<boolean> {
  const { keys, newKeys } = isolate
  if (keys.knows(counter)) return true
  const id = counterId(counter)
  const mayBeNew = await newKeys.allows(id, visitor.address)
  try {
    if (await keys.admits(counter, { mayBeNew, waitUntil })) return true
    // A concurrent request for the same new key may have been allowed to create it.
    return !mayBeNew && newKeys.wasAllowed(id) && (await keys.admits(counter, { waitUntil }))
  } catch (error) {
    throw problemOf(error)
  }
}

function countAdmitted(caller: Caller, visit: Visit): Promise<string> {
  const { type, counter, dedupeSeconds } = visit
  if (dedupeSeconds > 0 || type.also !== null) return countOnce(caller, visit)
  return addToCounters(caller, [{ counter, by: 1n }], { ...visit, admitted: true })
}

async function countOnce(caller: Caller, visit: Visit): Promise<string> {
  const { type, counter, dedupeSeconds, advice, answerReady = false } = visit
  const { visitors, config } = caller.isolate
  const also = type.also === null ? undefined : config.types.get(type.also)
  const longest = also?.dedupeSeconds ?? dedupeSeconds
  const key = dedupeSeconds === 0 ? undefined : await keyOfVisit(caller, visit, counter, dedupeSeconds, longest)
  if (key !== undefined && visitors.wasCounted(key)) return ignored(caller, visit, 'duplicate')
  const increments = [once(counter, key)]
  if (also !== undefined) {
    // The same record id, so both rows are in one range and in one statement.
    const other = { ...counter, recordType: also.recordType }
    const otherKey = await keyOfVisit(caller, visit, other, longest, longest)
    if (otherKey === undefined || !visitors.wasCounted(otherKey)) increments.push(once(other, otherKey))
  }
  const outcome = await addToCounters(caller, increments, { advice, admitted: true, answerReady })
  for (const { key } of increments) if (key !== undefined) visitors.markCounted(key)
  return outcome
}

function once(counter: CounterAddress, key: bigint | undefined): Increment {
  return key === undefined ? { counter, by: 1n } : { counter, by: 1n, key }
}

/**
 * What identifies a visit; `undefined` if its visitor cannot be recognized, so that it counts every time.
 *
 * @param longest see `Window`
 */
async function keyOfVisit(
  { isolate, waitUntil }: Caller,
  { visitor: { network, agent } }: Visit,
  counter: CounterAddress,
  seconds: number,
  longest: number,
): Promise<bigint | undefined> {
  if (network === null) return undefined
  return isolate.visitors.visit({ network, agent }, counter, { seconds, longest, at: new Date(), waitUntil })
}
