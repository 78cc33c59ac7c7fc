import { BoundedMap } from '../bounded-map.ts'
import { type CounterAddress, counterId } from '../counters/counter-address.ts'
import { hash63 } from '../counters/ids.ts'
import type { WaitUntil } from '../counters/shared-work-state.ts'
import { DAY_SECONDS, type Salts } from './salts.ts'

/** Classes of user agents: the most rows that one network can leave in a counter and window. */
export const AGENT_CLASSES = 64

/**
 * The class of a user agent, from 0 to 63: FNV-1a, and the last step of MurmurHash3. Not cryptographic: who knows it can fill 64 classes.
 * @param seed 32 bits of the salt, so that nobody else can tell the class
 */
export function classOf(agent: string, seed: number): number {
  let hash = seed ^ 0x811c9dc5
  for (let i = 0; i < agent.length; i++) hash = Math.imul(hash ^ agent.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) & (AGENT_CLASSES - 1)
}

/** The window in which a visitor counts once. */
export interface Window {
  /** Windows begin at multiples of it since 1970 UTC. */
  seconds: number
  /** The longest window in which the same hit is a visit: one visitor there is one in shorter ones. Default: `seconds`. */
  longest?: number
  at: Date
  waitUntil: WaitUntil
}

/**
 * Recognizes repeated hits of a visitor, a network with a class of user agents, by a hash under the random salt of the day on which the
 * window began. Once that is deleted, nobody can find out whether somebody came.
 */
export class Visitors {
  readonly #salts: Pick<Salts, 'of'>
  readonly #counted = new BoundedMap<true>(10_000)

  constructor(salts: Pick<Salts, 'of'>) {
    this.#salts = salts
  }

  /** The idempotency key of a visit: the same for the same visitor of the same counter within a window. */
  async visit(visitor: { network: string; agent: string }, counter: CounterAddress, window: Window): Promise<bigint> {
    const { seconds, longest = seconds } = window
    const number = numberOf(window, seconds)
    const salt = await this.#saltOf(window, seconds)
    const seed = longest === seconds ? salt : await this.#saltOf(window, longest)
    const agentClass = classOf(visitor.agent, Number.parseInt(seed.slice(0, 8), 16))
    return hash63(JSON.stringify(['visit', salt, visitor.network, agentClass, counterId(counter), seconds, number]))
  }

  #saltOf(window: Window, seconds: number): Promise<string> {
    return this.#salts.of(Math.floor((numberOf(window, seconds) * seconds) / DAY_SECONDS), window.waitUntil)
  }

  /** Whether this isolate has counted a visit. If another isolate has, the database recognizes the visit. */
  wasCounted(visit: bigint): boolean {
    return this.#counted.has(`${visit}`)
  }

  markCounted(visit: bigint): void {
    this.#counted.set(`${visit}`, true)
  }
}

function numberOf({ at }: Window, seconds: number): number {
  return Math.floor(at.getTime() / 1_000 / seconds)
}
