import { expect, inject } from 'vitest'
import { counterId } from '../../src/counters/counter-address.ts'
import { rangeOf } from '../../src/counters/ranges.ts'
import type { Database } from '../../src/database/database.ts'
import type { Fate } from './client.ts'
import { type Counter, type Increment, recordOf } from './increment.ts'
import { readStoredCounts } from './stored-counts.ts'
import { type Counted, checkTotals } from './totals.ts'

/** The increments of a request, and what its client was told. */
interface Answered {
  increments: readonly Increment[]
  fate: Fate
}

/** What a counter may be. */
interface Bounds {
  of: Increment
  least: bigint
  most: bigint
  /** Increments whose fate is unknown. They make the difference between `least` and `most`. */
  unknown: bigint[]
}

/**
 * Computes what the counters must be from what the clients were told: acknowledged increments count once, refused ones
 * do not count, and those of unknown fate count once or not at all.
 *
 * If the last increment of a request goes to a counter that no other request adds to, that counter is a witness. All increments
 * of a request that are in one range count, or none of them, so the witness tells their fate.
 */
export class ExpectedCounts {
  readonly #answered: Answered[] = []
  readonly #visits = new Map<string, Answered>()
  readonly #pairs = new Map<string, readonly [Increment, Increment]>()
  readonly #acknowledged = new Map<string, number>()
  readonly #ranges: number
  /** The counters that are added up, by the name of each. */
  readonly #groups = new Map<string, readonly Counter[]>()
  /** Number of requests, by fate. */
  readonly number: Record<Fate, number> = { counted: 0, queued: 0, refused: 0, unknown: 0 }
  /** Number of increments. A request may have several. */
  increments = 0

  /** @param ranges the most that an isolate has */
  constructor(ranges: number = inject('ranges')) {
    this.#ranges = ranges
  }

  /** Adds counters up from now on, because they are renamed and merged. None of them may be below 0. All are in one range. */
  addUp(counters: readonly Counter[]): void {
    for (const counter of counters) this.#groups.set(nameOf(counter), counters)
  }

  record(given: readonly Increment[], fate: Fate): void {
    const increments = given.map((increment) => this.#addedUp(increment))
    this.#count(increments, fate)
    this.#answered.push({ increments, fate })
    if (fate !== 'counted') return
    for (const increment of increments) {
      this.#acknowledged.set(nameOf(increment), this.acknowledged(increment) + increment.by)
    }
  }

  /** The same increment, for the first counter of its group: counts of a group are compared as one sum. */
  #addedUp(increment: Increment): Increment {
    return { ...increment, ...this.#groups.get(nameOf(increment))?.[0] }
  }

  /** Records a visit, which counts once for each visitor, however often it is acknowledged. */
  recordVisit(visitor: string, visit: Increment, fate: Fate): void {
    this.#count([visit], fate)
    const id = `${nameOf(visit)} ${visitor}`
    const known = this.#visits.get(id)
    if (known === undefined || known.fate === 'refused' || (known.fate === 'unknown' && isAcknowledged(fate))) {
      this.#visits.set(id, { increments: [this.#addedUp(visit)], fate })
    }
  }

  /** Records a hit that adds to two counters, which always have the same count. */
  recordPair(first: Increment, second: Increment, fate: Fate): void {
    this.record([first, second], fate)
    this.#pairs.set(nameOf(first), [first, second])
  }

  #count(increments: readonly Increment[], fate: Fate): void {
    this.number[fate]++
    this.increments += increments.length
  }

  /** Number of requests recorded. */
  get size(): number {
    return Object.values(this.number).reduce((sum, requests) => sum + requests)
  }

  /** The sum of the increments of a counter that have been acknowledged as counted. */
  acknowledged(counter: Counter): number {
    return this.#acknowledged.get(nameOf(counter)) ?? 0
  }

  /** Checks all counters as of one instant, and then all totals. Call it only when nothing is in flight. */
  async check(db: Database): Promise<void> {
    const stored = await readStoredCounts(db)
    const rolledUp = [...stored.values()].every(({ pending }) => pending === 0n)
    const answered = [...this.#answered, ...this.#visits.values()]
    const ids = await counterIds(answered)
    const wrong: string[] = []
    for (const group of new Set(this.#groups.values())) {
      const all = await Promise.all(group.map(async (counter) => counterId(await recordOf(counter))))
      const counts = all.map((id) => stored.get(id)?.count ?? 0n)
      if (counts.some((count) => count < 0n)) wrong.push(`${nameOf(group[0]!)} and so on are ${counts}`)
      for (const id of all) stored.delete(id)
      stored.set(all[0]!, { count: counts.reduce((sum, count) => sum + count), pending: 0n, histories: [] })
    }
    const requests = answered.flatMap((request) => partsOf(request, ids, this.#ranges))
    const uses = new Map<string, number>()
    for (const { increments } of requests) {
      for (const increment of increments) uses.set(nameOf(increment), (uses.get(nameOf(increment)) ?? 0) + 1)
    }
    const isWitness = (increment: Increment) => uses.get(nameOf(increment)) === 1
    const isCounted = (increment: Increment) => (stored.get(ids.get(nameOf(increment))!)?.count ?? 0n) !== 0n
    const expected = new Map<string, Bounds>()
    for (const { increments, fate } of requests) {
      const last = increments.at(-1)!
      const known = fate === 'unknown' && isWitness(last) ? (isCounted(last) ? 'counted' : 'refused') : fate
      for (const increment of increments) {
        const bounds = expected.get(nameOf(increment)) ?? { of: increment, least: 0n, most: 0n, unknown: [] }
        expected.set(nameOf(increment), bounds)
        const by = BigInt(increment.by)
        if (known === 'unknown') bounds.unknown.push(by)
        if (isAcknowledged(known) || (known === 'unknown' && by < 0n)) bounds.least += by
        if (isAcknowledged(known) || (known === 'unknown' && by > 0n)) bounds.most += by
      }
    }
    for (const pair of this.#pairs.values()) {
      const [one, other] = pair.map((increment) => stored.get(ids.get(nameOf(increment))!)?.count ?? 0n)
      if (one !== other) wrong.push(`${nameOf(pair[0])} is ${one}, and its pair is ${other}`)
    }
    const counts: Counted[] = []
    for (const [name, { of, least, most, unknown }] of expected) {
      const id = ids.get(name)!
      const count = stored.get(id)?.count ?? 0n
      stored.delete(id)
      counts.push({ ...of, count })
      if (count < least || count > most || (unknown.length === 1 && count !== least && count !== most)) {
        wrong.push(`${name} is ${count}, not from ${least} to ${most}`)
      }
    }
    for (const [id, { count }] of stored) if (count !== 0n) wrong.push(`${id} is ${count}, but no request added to it`)
    expect(wrong).toEqual([])
    await checkTotals(db, counts, rolledUp)
  }
}

/** The increments of a request in each range. */
function partsOf({ increments, fate }: Answered, ids: ReadonlyMap<string, string>, ranges: number): Answered[] {
  const range = (increment: Increment) => rangeOf(BigInt(ids.get(nameOf(increment))!.split('/')[1]!), ranges)
  return [...Map.groupBy(increments, range).values()].map((part) => ({ increments: part, fate }))
}

/** Whether the client was told that its increments count, now or once they come out of the queue. */
export function isAcknowledged(fate: Fate): boolean {
  return fate === 'counted' || fate === 'queued'
}

async function counterIds(requests: readonly Answered[]): Promise<Map<string, string>> {
  const increments = new Map(requests.flatMap(({ increments }) => increments).map((each) => [nameOf(each), each]))
  const ids = [...increments].map(
    async ([name, increment]): Promise<[string, string]> => [name, counterId(await recordOf(increment))],
  )
  return new Map(await Promise.all(ids))
}

function nameOf({ type, key }: Counter): string {
  return `${type} ${key}`
}
