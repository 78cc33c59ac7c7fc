import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../harness/random.ts'
import {
  fromAddress,
  hitOf,
  incrementOf,
  incrementsOf,
  type Message,
  mortal,
  pixelOf,
  send,
  sendVisit,
  under,
} from './client.ts'
import { type ExpectedCounts, isAcknowledged } from './expected-counts.ts'
import type { Increment } from './increment.ts'

/** Milliseconds within which a request with an idempotency key must be acknowledged. */
const ACKNOWLEDGED_MS = 120_000
/** Most milliseconds before a client hangs up. */
const HANG_UP_MS = 30
/** For each kind of request, the number of counters that all clients add to. */
const HOT = 3
const VISITED = 20
const VISITORS = 97

/** Who counts, and how. Probabilities are per request. */
export interface LoadOptions {
  isolates: readonly { url: string }[]
  expected: ExpectedCounts
  random: Random
  clients: number
  /** Tells when to stop. Asked before each request. */
  enough: () => boolean
  /** Milliseconds between the beginnings of two requests of a client. Default: none. */
  everyMs?: number
  /** Requests with an idempotency key, which the client repeats until they are acknowledged. */
  keyed?: number
  /** Visits of a type that counts each visitor once. */
  visits?: number
  /** Hits of a type that names another, each of a new visitor. */
  pairs?: number
  /** Hits by the image. */
  pixels?: number
  /** Clients that hang up within 30 ms. */
  hangUps?: number
  /** Of those that hang up, the clients with which the work of their request ends. */
  mortal?: number
  /** Called with each request that was acknowledged at its first attempt and that no client will repeat. */
  onFinished?: (key: string, increments: readonly Increment[]) => void
}

/** Counts from many clients at once, on counters that they share and on their own, and records what each is told. */
export async function load(options: LoadOptions): Promise<void> {
  const { clients, enough, random, everyMs = 0 } = options
  const client = async () => {
    if (everyMs > 0) await pause(random.between(0, everyMs))
    while (!enough()) {
      const next = everyMs > 0 ? pause(everyMs) : undefined
      await countOnce(options)
      await next
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

async function countOnce(options: LoadOptions): Promise<void> {
  const { random, expected, isolates } = options
  if (random.chance(options.visits ?? 0)) return visit(options)
  if (random.chance(options.pairs ?? 0)) return hitBoth(options)
  const { message, increments } = draw(options)
  if (message.headers !== undefined && random.chance(options.keyed ?? 0)) {
    return sendUntilAcknowledged(options, message, increments)
  }
  const fate = await send(random.pick(isolates).url, ...leaving(options, message))
  expected.record(increments, fate)
  if (!isAcknowledged(fate)) await backOff(random)
}

/** A random request. Most add to a counter of their own, alone or last. Those of the API have headers: their token. */
function draw({ random, pixels = 0 }: LoadOptions): { message: Message; increments: readonly Increment[] } {
  const own: Increment = { type: 'download', key: `/own/${randomUUID()}`, by: random.between(2, 9) }
  const hot = (kind: string): Increment => {
    return { type: 'page_view', key: `/hot/${kind}/${random.between(1, HOT)}`, by: random.between(1, 9) }
  }
  const hit = (increment: Increment) => {
    const message = pixels > 0 && random.chance(pixels) ? pixelOf(increment) : hitOf(increment)
    return { message, increments: [{ ...increment, by: 1 }] }
  }
  switch (random.between(1, 10)) {
    case 1:
    case 2:
      return hit(hot('hit'))
    case 3:
    case 4:
    case 5:
      return hit(own)
    case 6: {
      const increment = hot('one')
      return { message: incrementOf(increment), increments: [increment] }
    }
    case 7:
      return { message: incrementOf(own), increments: [own] }
    default: {
      const down = { ...hot('down'), by: -random.between(1, 9) }
      const increments = [hot('many'), ...(random.chance(0.5) ? [hot('many'), down] : []), own]
      return { message: incrementsOf(increments), increments }
    }
  }
}

async function visit({ random, expected, isolates }: LoadOptions): Promise<void> {
  const visited: Increment = { type: 'visit', key: `/visited/${random.between(1, VISITED)}`, by: 1 }
  const address = `198.51.100.${random.between(1, VISITORS)}`
  const message = { ...fromAddress(address, hitOf(visited)), answerMs: 40_000 }
  const fate = await sendVisit(random.pick(isolates).url, message)
  if (fate !== 'duplicate') expected.recordVisit(address, visited, fate)
}

async function hitBoth(options: LoadOptions): Promise<void> {
  const { random, expected, isolates, pixels = 0 } = options
  const key = random.chance(0.5) ? `/both/${randomUUID()}` : `/both/${random.between(1, HOT)}`
  const view: Increment = { type: 'view', key, by: 1 }
  const network = Array.from({ length: 3 }, () => random.between(0, 65_535).toString(16))
  const hit = fromAddress(`2001:${network.join(':')}::1`, random.chance(pixels) ? pixelOf(view) : hitOf(view))
  const fate = await send(random.pick(isolates).url, ...leaving(options, hit))
  expected.recordPair({ ...view, type: 'visit' }, view, fate)
  if (!isAcknowledged(fate)) await backOff(random)
}

/** The request as its client sends it. Some clients hang up. */
function leaving(options: LoadOptions, message: Message): [Message, Promise<unknown>?] {
  const { random, hangUps = 0 } = options
  if (!random.chance(hangUps)) return [message]
  const hangUp = pause(random.fraction() * HANG_UP_MS)
  return [random.chance(options.mortal ?? 0) ? mortal(message) : message, hangUp]
}

/** Sends a request with a key to any isolate until one acknowledges it. Some requests are sent once more. */
async function sendUntilAcknowledged(
  options: LoadOptions,
  message: Message,
  increments: readonly Increment[],
): Promise<void> {
  const { random, isolates, expected, onFinished } = options
  const key = randomUUID()
  const keyed = under(key, message)
  const giveUpAt = Date.now() + ACKNOWLEDGED_MS
  const attempt = () => send(random.pick(isolates).url, ...leaving(options, keyed))
  let attempts = 1
  let fate = await attempt()
  for (; !isAcknowledged(fate); attempts++) {
    if (Date.now() > giveUpAt) throw new Error(`the request with the key ${key} was never acknowledged`)
    await backOff(random)
    fate = await attempt()
  }
  expected.record(increments, fate)
  if (random.chance(0.3)) await attempt()
  else if (attempts === 1) onFinished?.(key, increments)
}

/** Waits as clients do after a failure, so as not to add to the load. */
function backOff(random: Random): Promise<void> {
  return pause(random.between(5, 40))
}
