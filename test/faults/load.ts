import { randomUUID } from 'node:crypto'
import { hitOf, incrementOf, incrementsOf, type Message, mortal, send, under } from './client.ts'
import type { Isolate } from './isolate.ts'
import type { Part } from './part.ts'
import type { Random } from './random.ts'
import type { Receipts } from './receipts.ts'

/** Milliseconds in which a request under an idempotency key must have been acknowledged. */
const ACKNOWLEDGED_MS = 60_000

/** Who counts, and how. Probabilities are per request. */
export interface LoadOptions {
  isolates: readonly Isolate[]
  receipts: Receipts
  random: Random
  clients: number
  /** Says when to stop; asked before each request. */
  enough: () => boolean
  /** Requests under an idempotency key, which is sent again until it is acknowledged. */
  keyed?: number
  /** Clients that hang up within `HANG_UP_MS`. */
  hangUps?: number
  /** Of those, the ones with which their request's work ends. */
  mortal?: number
  /** Told of each request under a key that was acknowledged at once, and that nobody is going to send again. */
  onFinished?: (key: string, parts: readonly Part[]) => void
}

const HANG_UP_MS = 30
/** Of each kind of request, so many counters that all clients add to. */
const HOT = 3

/** Counts from many clients at once over hot and cold keys, and books what each is told. */
export async function load(options: LoadOptions): Promise<void> {
  const { clients, enough, random, receipts, isolates } = options
  const client = async () => {
    while (!enough()) {
      const { message, parts } = draw(random)
      if (message.path !== '/hit' && random.chance(options.keyed ?? 0)) {
        await sendUntilAcknowledged(options, message, parts)
        continue
      }
      const { url } = random.pick(isolates)
      const fate = await send(url, ...leaving(options, message))
      receipts.book(parts, fate)
      if (fate !== 'counted') await backOff(random)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/** A request of a random kind. Most add to a counter of their own, alone or last. */
function draw(random: Random): { message: Message; parts: readonly Part[] } {
  const own: Part = { type: 'download', key: `/own/${randomUUID()}`, by: random.between(2, 9) }
  const hot = (kind: string): Part => {
    return { type: 'page_view', key: `/hot/${kind}/${random.between(1, HOT)}`, by: random.between(1, 9) }
  }
  switch (random.between(1, 10)) {
    case 1:
    case 2: {
      const part = { ...hot('hit'), by: 1 }
      return { message: hitOf(part), parts: [part] }
    }
    case 3:
    case 4:
    case 5: {
      const part = { ...own, by: 1 }
      return { message: hitOf(part), parts: [part] }
    }
    case 6: {
      const part = hot('one')
      return { message: incrementOf(part), parts: [part] }
    }
    case 7:
      return { message: incrementOf(own), parts: [own] }
    default: {
      const down = { ...hot('down'), by: -random.between(1, 9) }
      const parts = [hot('many'), ...(random.chance(0.5) ? [hot('many'), down] : []), own]
      return { message: incrementsOf(parts), parts }
    }
  }
}

/** The request as its client sends it: some hang up on it. */
function leaving(options: LoadOptions, message: Message): [Message, Promise<unknown>?] {
  const { random, hangUps = 0 } = options
  if (!random.chance(hangUps)) return [message]
  const hangUp = new Promise((resolve) => setTimeout(resolve, random.fraction() * HANG_UP_MS))
  return [random.chance(options.mortal ?? 0) ? mortal(message) : message, hangUp]
}

/** Sends a request under a key, each time to any isolate, until it is acknowledged, and sometimes once more. */
async function sendUntilAcknowledged(options: LoadOptions, message: Message, parts: readonly Part[]): Promise<void> {
  const { random, isolates, receipts, onFinished } = options
  const key = randomUUID()
  const keyed = under(key, message)
  const giveUpAt = Date.now() + ACKNOWLEDGED_MS
  let attempts = 1
  for (; (await send(random.pick(isolates).url, ...leaving(options, keyed))) !== 'counted'; attempts++) {
    if (Date.now() > giveUpAt) throw new Error(`what was sent under the key ${key} was never acknowledged`)
    await backOff(random)
  }
  receipts.book(parts, 'counted')
  if (random.chance(0.3)) await send(random.pick(isolates).url, ...leaving(options, keyed))
  else if (attempts === 1) onFinished?.(key, parts)
}

/** As clients do that were told that it did not work, so as not to make it worse. */
function backOff(random: Random): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, random.between(5, 40)))
}
