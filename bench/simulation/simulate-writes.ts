import { Keys } from './keys.ts'
import { ModelTables } from './model-database.ts'
import { ModelIsolate } from './model-isolate.ts'
import { ModelServer, type ServerOptions } from './model-server.ts'
import { type Place, type Placement, placesOf } from './places.ts'
import { Random } from './random.ts'
import type { ServerCosts } from './server-costs.ts'
import { VirtualClock } from './virtual-clock.ts'

const MINUTE_S = 60
const DAY_S = 86_400
const STARTS_AT = Date.UTC(2026, 10, 22)
/** Isolates that a sample should have, so that it shows many distances, if that leaves the fewest seconds. */
const LEAST_ISOLATES = 40
const LEAST_SECONDS = 6
const MOST_SECONDS = 60

/** A load to simulate. */
export interface WriteLoad {
  hitsPerSecond: number
  /** Different keys. */
  keys: number
  placement: Placement
  /** The most hits a second for which a location runs one isolate. */
  perIsolate: number
  /** Seconds that an isolate lives on average. */
  isolateSeconds: number
  ranges: number
  server: ServerOptions
  /** Replaces the places that follow from the above: for loads that are measured, too. */
  places?: Place[]
  /** Durations of statements to draw from, in milliseconds, instead of those that the model of the server gives. */
  statementMs?: number[]
  /** Exactly so many seconds from an empty database, all isolates new, as a measurement runs. Default: a sample in the steady state. */
  seconds?: number
}

/** What the database gets, and visitors notice. Rates are for all isolates, whether simulated or not. */
export interface WriteFigures {
  isolates: number
  simulatedIsolates: number
  simulatedHits: number
  seconds: number
  statementsPerHit: number
  hitStatementsPerSecond: number
  nameStatementsPerSecond: number
  rowsPerSecond: number
  nameRowsPerSecond: number
  insertedRowsPerSecond: number
  /** Processor seconds a second that writing takes of all shards. */
  processors: number
  p50Ms: number
  p99Ms: number
  failedPer1000: number
  /** Slots that are pending a minute after a roll-up. */
  pendingSlots: number
  /** The same, for each counter that was counted, and for the busiest counter. */
  pendingPerCounter: number
  pendingOfBusiest: number
  /** Slots that a day leaves empty, if nothing is pruned. */
  slotsOfDay: number
  /** Slots found pending at the end of the sample, and what the formula says for them. */
  pendingCounted: number
  pendingExpected: number
}

/**
 * Counts hits for a while with the product's code on a virtual clock. If there are too many, only some of the isolates are
 * simulated, each of which then stands for several like it: isolates share nothing but the servers.
 *
 * @param budget hits to simulate
 */
export async function simulateWrites(
  load: WriteLoad,
  costs: ServerCosts,
  seed: number,
  budget: number,
): Promise<WriteFigures> {
  const random = new Random(seed)
  random.install()
  const clock = new VirtualClock(STARTS_AT)
  clock.install()
  const { hitsPerSecond, ranges, isolateSeconds } = load
  const keys = new Keys(load.keys)
  const server = new ModelServer(clock, load.server)
  const tables = new ModelTables()
  const places = load.places ?? placesOf(load.placement, hitsPerSecond, load.perIsolate, random)
  const all = places.flatMap((place) => Array.from({ length: place.isolates }, () => place))
  const mean = hitsPerSecond / all.length
  const enough = Math.min(all.length, LEAST_ISOLATES) * mean
  const seconds = load.seconds ?? Math.min(MOST_SECONDS, Math.max(LEAST_SECONDS, budget / Math.max(enough, 1)))
  const sample =
    load.seconds === undefined
      ? sampleOf(all, (budget / seconds) * 0.8, random)
      : all.map((place) => ({ place, weight: 1 }))
  const warmUp = load.seconds === undefined ? Math.min(5, seconds / 4) : 0

  let counting = false
  /** Hits that arrived in the sample. */
  let counted = 0
  /** Hits that they stand for. */
  let weighted = 0
  let failed = 0
  const latencies = new Histogram()
  const isolates: { weight: number; rate: number; isolate: ModelIsolate }[] = []
  const ends = clock.now + (warmUp + seconds) * 1_000
  for (const { place, weight } of sample) {
    const { statementMs } = load
    const drawn = statementMs && { drawMs: () => statementMs[Math.floor(random.fraction() * statementMs.length)]! }
    const connection = { clock, server, costs, tables, ranges, roundTripMs: place.roundTripMs, weight, ...drawn }
    const rate = place.hitsPerSecond
    const start = (ageMs: number) => {
      const isolate = new ModelIsolate(connection, keys, random, ageMs, rate)
      const entry = { weight, rate, isolate }
      isolates.push(entry)
      return entry
    }
    let current = start(load.seconds === undefined ? random.fraction() * isolateSeconds * 1_000 : 0)
    let diesAt =
      load.seconds === undefined ? clock.now + random.exponential(isolateSeconds * 1_000) : Number.POSITIVE_INFINITY
    const arrive = () => {
      if (clock.now >= diesAt) {
        current = start(0)
        diesAt = clock.now + random.exponential(isolateSeconds * 1_000)
      }
      const { isolate } = current
      const began = clock.now
      const measured = counting
      if (measured) {
        counted++
        weighted += weight
      }
      isolate.count(keys.address(keys.draw(random))).then(
        () => {
          if (measured) latencies.add(clock.now - began, weight)
        },
        () => {
          if (measured) failed += weight
        },
      )
      const next = random.exponential(1_000 / rate)
      if (clock.now + next < ends) clock.after(next, arrive)
    }
    clock.after(random.exponential(1_000 / rate), arrive)
  }
  await clock.runUntil(clock.now + warmUp * 1_000)
  counting = true
  tables.reset()
  for (const { isolate } of isolates) isolate.hitsOfSlots.clear()
  // What is pending from the warm-up counts as rolled up.
  for (const slot of tables.slots.values()) slot.count = 0
  const usedBefore = server.usedMicros
  await clock.runUntil(ends)
  const used = server.usedMicros.map((micros, shard) => (micros - usedBefore[shard]!) / 1e6 / seconds)
  // A measurement ends when all hits are answered, so what they write belongs to it.
  if (load.seconds !== undefined) await clock.runUntil(ends + 10_000)

  let pendingCounted = 0
  for (const { count } of tables.slots.values()) if (count !== 0) pendingCounted++
  const expected = { sample: 0, minute: 0, busiest: 0, day: 0 }
  const busiestShare = keys.share(0)
  for (const { weight, rate, isolate } of isolates) {
    // An isolate without a hit so far would use one slot.
    const counts = isolate.hitsOfSlots.size === 0 ? [0] : [...isolate.hitsOfSlots.values()]
    const total = counts.reduce((a, b) => a + b)
    for (const count of counts) {
      // Each slot gets hits of one range only.
      const share = total === 0 ? 1 : count / total
      const different = (hits: number) => keys.different(hits * ranges) / ranges
      expected.sample += different(count)
      expected.minute += weight * different(rate * share * MINUTE_S)
      expected.busiest +=
        weight * (ranges === 1 ? 1 : 1 / ranges) * -Math.expm1(-busiestShare * ranges * rate * share * MINUTE_S)
      expected.day += weight * (DAY_S / isolateSeconds) * different(rate * share * isolateSeconds)
    }
  }
  // A sample of few isolates seldom has exactly its share of the hits.
  const scale = (hitsPerSecond * seconds) / weighted
  const { traffic } = tables
  const perSecond = (number: number) => (number * scale) / seconds
  return {
    isolates: all.length,
    simulatedIsolates: sample.length,
    simulatedHits: counted,
    seconds,
    statementsPerHit: (traffic.hitStatements + traffic.nameStatements) / weighted,
    hitStatementsPerSecond: perSecond(traffic.hitStatements),
    nameStatementsPerSecond: perSecond(traffic.nameStatements),
    rowsPerSecond: perSecond(traffic.insertedRows + traffic.refilledRows + traffic.addedRows),
    nameRowsPerSecond: perSecond(traffic.nameRows),
    insertedRowsPerSecond: perSecond(traffic.insertedRows),
    processors: used.reduce((a, b) => a + b) * scale,
    p50Ms: latencies.quantile(0.5),
    p99Ms: latencies.quantile(0.99),
    failedPer1000: (failed / weighted) * 1_000,
    pendingSlots: expected.minute * scale,
    pendingPerCounter: (expected.minute * scale) / keys.different(hitsPerSecond * MINUTE_S),
    pendingOfBusiest: expected.busiest,
    slotsOfDay: expected.day * scale,
    pendingCounted,
    pendingExpected: expected.sample,
  }
}

/**
 * A sample of isolates, more of the busy ones: in proportion to the square root of their hits. Each has the number of isolates
 * that it stands for as its weight.
 *
 * @param hitsPerSecond that the sample may have
 */
function sampleOf(all: readonly Place[], hitsPerSecond: number, random: Random): { place: Place; weight: number }[] {
  const chance = (place: Place, factor: number) => Math.min(1, factor * Math.sqrt(place.hitsPerSecond))
  const expected = (factor: number) => all.reduce((sum, place) => sum + chance(place, factor) * place.hitsPerSecond, 0)
  let [low, high] = [0, 1 / Math.sqrt(Math.min(...all.map(({ hitsPerSecond }) => hitsPerSecond)))]
  if (expected(high) > hitsPerSecond) {
    for (let n = 0; n < 50; n++) {
      const middle = (low + high) / 2
      if (expected(middle) > hitsPerSecond) high = middle
      else low = middle
    }
  }
  // Systematic: the sum of chances is cut into equal steps, from a random start. There is always one.
  const sample: { place: Place; weight: number }[] = []
  const chances = all.reduce((sum, place) => sum + chance(place, high), 0)
  let next = random.fraction() * Math.min(1, chances)
  let sum = 0
  for (const place of all) {
    const share = chance(place, high)
    sum += share
    if (sum <= next) continue
    sample.push({ place, weight: 1 / share })
    next += 1
  }
  return sample
}

/** Durations in classes that are 2 % apart. */
class Histogram {
  readonly #classes = new Map<number, number>()
  #total = 0
  count = 0

  add(milliseconds: number, weight: number): void {
    const number = Math.round(Math.log(Math.max(milliseconds, 0.01)) / Math.log(1.02))
    this.#classes.set(number, (this.#classes.get(number) ?? 0) + weight)
    this.#total += weight
    this.count++
  }

  quantile(share: number): number {
    let sum = 0
    for (const [number, weight] of [...this.#classes].sort(([a], [b]) => a - b)) {
      sum += weight
      if (sum >= share * this.#total) return 1.02 ** number
    }
    return Number.NaN
  }
}
