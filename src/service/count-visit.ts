import { type CounterType, DEFAULT_WINDOWS } from '../config/counter-types.ts'
import { type CounterAddress, counterId } from '../counters/counter-address.ts'
import type { AddressCache } from '../counters/keys/key-address.ts'
import { type Increment, withKey } from '../counters/write/increment-group.ts'
import { type HitReason, ignoredBecause } from '../hit-reasons.ts'
import type { Purpose } from '../visits/bots.ts'
import { isIn, networkOf } from '../visits/network.ts'
import { exceedsLimit } from '../visits/rate-limit.ts'
import type { Caller } from './caller.ts'
import { problemOf } from './problem.ts'

interface AddOptions {
  /** Slot and batch id of increments that must count once, however often they are sent. */
  key?: bigint | undefined
  /** For the client, if the outcome is unknown. */
  advice: string
  /** Whether the counters have names. By default, this makes sure of it. */
  named?: boolean | undefined
  /** See `CountOptions`. */
  answerReady?: boolean
}

/** Adds to counters: to all of them or to none. @throws {Problem} that says whether anything was counted */
export async function addToCounters(
  { isolate: { keys, counting }, waitUntil }: Caller,
  increments: readonly Increment[],
  { key, advice, named, answerReady = false }: AddOptions,
): Promise<'counted' | 'queued'> {
  try {
    if (named === undefined) {
      const counters = increments.map(({ counter }) => counter)
      await keys.ensure(counters, waitUntil)
      named = keys.areNamed(counters)
    }
    return await counting.count(withKey(increments, key), { waitUntil, answerReady, named })
  } catch (error) {
    throw problemOf(error, advice)
  }
}

export interface Visit {
  type: CounterType
  counter: CounterAddress
  visitor: Visitor
  purpose: Purpose
  /** `navigator.webdriver`. */
  automated?: boolean
  /** See `CountOptions`. */
  answerReady?: boolean
}

const ADVICE = 'Do not retry a view.'

/**
 * Counts a visit, once per visitor and window, and in the types of `also` with it. Continues if the client hangs up.
 * @returns the outcome, as `X-Hit` says it @throws {Problem | DatabaseFailure}
 */
export async function countVisit(caller: Caller, received: Visit): Promise<string> {
  const { isolate, waitUntil } = caller
  const visit = visitToCount(caller, received)
  if (typeof visit === 'string') return ignored(caller, received, visit)
  const { rateLimit } = isolate.config
  const { type, purpose } = received
  // Image proxies hide their visitors. Bots have the window of this type, although they count in another.
  const window = purpose === 'image' ? 0 : (type.dedupeSeconds ?? DEFAULT_WINDOWS[purpose])
  if (rateLimit === null && isolate.keys.knows(visit.counter)) return countAdmitted(caller, visit, window, true)
  const counting = (async () => {
    if (await exceedsLimit(rateLimit, visit.visitor.address)) return ignored(caller, visit, 'rate')
    if (!(await isAdmitted(caller, visit))) return ignored(caller, visit, 'key')
    return countAdmitted(caller, visit, window, isolate.keys.knows(visit.counter))
  })()
  waitUntil(counting.catch(() => {}))
  return counting
}

/**
 * The checks of `countVisit` but for `duplicate`. It changes nothing, but uses up the rate limit, so strangers can cost no more with it.
 * @returns the value of `X-Hit`, and the type in which the visit would count: perhaps `bots` @throws {Problem}
 */
export async function checkVisit(caller: Caller, received: Visit): Promise<{ xHit: string; type: CounterType }> {
  const { db, isolate } = caller
  const visit = visitToCount(caller, received)
  if (typeof visit === 'string') return { xHit: ignoredBecause(visit), type: received.type }
  const { type, counter, visitor } = visit
  if (await exceedsLimit(isolate.config.rateLimit, visitor.address)) return { xHit: ignoredBecause('rate'), type }
  try {
    return { xHit: (await isolate.keys.mayCount(db, counter)) ? 'counted' : ignoredBecause('key'), type }
  } catch (error) {
    const problem = problemOf(error)
    if (isolate.config.batches !== null && problem.code === 'database_unavailable') return { xHit: 'queued', type }
    throw problem
  }
}

/** The visit, in `bots` if a bot sent it, or the first reason in its request against counting. `rate`, `key` and `duplicate` follow. */
function visitToCount({ isolate: { bots, config } }: Caller, visit: Visit): Visit | HitReason {
  const { type, visitor, purpose, automated = false } = visit
  const { ownNetworks } = config
  if (visitor.isHead) return 'head'
  if (type.readings) return 'readings'
  if (purpose === 'download' && visitor.wantsPart) return 'range'
  if (purpose === 'download' && visitor.isEmbedding) return 'embedded'
  if (purpose === 'page' && !type.allowedOrigins.includes('*')) {
    if (!type.allowedOrigins.includes(visitor.origin ?? '')) return 'origin'
  }
  if (visitor.isMarked || (ownNetworks.length > 0 && isIn(ownNetworks, visitor.address))) return 'own'
  if (automated && !type.countAutomated) return 'automated'
  if (visitor.isEarly) return 'prefetch'
  if (type.respectDoNotTrack && visitor.refusesTracking) return 'dnt'
  if (type.countBots || !bots.has(visitor.agent, purpose)) return visit
  if (type.bots === null) return 'bot'
  // The same key in another type. It has the same record id, so both are in one range.
  return { ...visit, type: type.bots, counter: { ...visit.counter, recordType: type.bots.recordType } }
}

function ignored({ isolate }: Caller, { type, visitor }: Visit, reason: HitReason): string {
  // An origin comes from strangers, so it may be long.
  isolate.ignoredHits.set(type.name, { reason, origin: visitor.origin?.slice(0, 200) ?? null })
  return ignoredBecause(reason)
}

/** Whether the counter of a visit exists or may be created. */
async function isAdmitted({ isolate, waitUntil }: Caller, { counter, visitor }: Visit): Promise<boolean> {
  const { keys, newKeys } = isolate
  if (keys.knows(counter)) return true
  const id = counterId(counter)
  const mayBeNew = await newKeys.allows(id, visitor.address)
  if (await keys.admits(counter, { mayBeNew, waitUntil })) return true
  // A concurrent request for the same new key may have been allowed to create it.
  return !mayBeNew && newKeys.wasAllowed(id) && (await keys.admits(counter, { waitUntil }))
}

/** @param window as `windowOf` @param named whether its counters have names, or the queue's consumer makes sure of them */
async function countAdmitted(caller: Caller, visit: Visit, window: number, named: boolean): Promise<string> {
  const { type, counter, answerReady = false } = visit
  const { visitors, addresses } = caller.isolate
  const longest = type.also.at(-1)?.dedupeSeconds ?? window
  const key = window === 0 ? undefined : await keyOfVisit(caller, visit, counter, window, longest)
  if (key !== undefined && visitors.wasCounted(key)) return ignored(caller, visit, 'duplicate')
  const increments: Increment[] = [{ counter, by: 1n, key }]
  let allNamed: boolean | undefined = named
  for (const other of type.also) {
    for (const place of await countersOfVisit(addresses, other, counter)) {
      const key = await keyOfVisit(caller, visit, place, other.dedupeSeconds!, longest)
      if (key !== undefined && visitors.wasCounted(key)) continue
      increments.push({ counter: place, by: 1n, key })
      // Its key is in the settings, so it needs a name and no permission.
      if (other.visitorsOf !== 'page') allNamed = undefined
    }
  }
  const outcome = await addToCounters(caller, increments, { advice: ADVICE, answerReady, named: allNamed })
  for (const { key } of increments) if (key !== undefined) visitors.markCounted(key)
  return outcome
}

/** The counters of a type named in `also` in which the visit of a counter counts. */
async function countersOfVisit(addresses: AddressCache, type: CounterType, counter: CounterAddress) {
  const { recordType, visitorsOf, prefixes } = type
  // The same record id, so both rows are in one range and in one statement.
  if (visitorsOf === 'page') return [{ ...counter, recordType }]
  const keys = visitorsOf === 'site' ? ['site'] : prefixes.filter((prefix) => counter.name.startsWith(prefix))
  return Promise.all(keys.map((key) => addresses.find(type, key)))
}

/** Identifies a visit; `undefined`: its visitor is unknown, so it counts every time. @param longest see `Window` */
async function keyOfVisit(
  caller: Caller,
  { visitor }: Visit,
  counter: CounterAddress,
  seconds: number,
  longest: number,
) {
  const { isolate, waitUntil } = caller
  const { address, agent } = visitor
  const network = networkOf(address ?? '', 'visitor')
  if (network === null) return undefined
  return isolate.visitors.visit({ network, agent }, counter, { seconds, longest, at: new Date(), waitUntil })
}

/** Who sent a visit, and how, as far as the request tells. */
export interface Visitor {
  /** Without it, visitors cannot be told apart. */
  address: string | null
  agent: string
  /** Whether its browser is marked as the owner's. */
  isMarked: boolean
  isHead: boolean
  origin: string | null
  /** Whether nobody sees the page yet. */
  isEarly: boolean
  /** Do Not Track, or Global Privacy Control. */
  refusesTracking: boolean
  /** Whether a page loads a file by itself. */
  isEmbedding: boolean
  /** Whether it wants only a later part of a file, or its first bytes. */
  wantsPart: boolean
}
