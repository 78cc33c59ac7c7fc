import { WRITER_HOURS } from '../../../src/counters/ledger/slots.ts'
import { PLANS } from '../../../src/plans.ts'
import type { FigureName } from '../../harness/figure-names.ts'
import { medianOf } from '../../report/medians.ts'
import type { Results } from '../../report/results.ts'
import { Keys } from '../../simulation/keys.ts'
import { MONTH_S } from './cloudflare-bill.ts'
import { keysOf, nameOf, type Placement, RATES, SHARDS, SWING } from './loads.ts'
import { MOST_SLOTS, pruningName, rollUpName, rollUpRate } from './scale-roll-up.ts'
import { rowBytesIn } from './server-costs.ts'

/** The topic with the figures of sites. */
const SCALE = 'scale'
const DAY_S = 86_400
const MINUTE_S = 60
/** Pruning runs every two minutes. */
const PRUNED_EVERY_S = 120
/** How busy processors may be, so that replication, backups and a failover have room. */
const BUSY = 0.5
/** Processors of PlanetScale's network-attached sizes, and the name of each (its documentation, "Cluster sizing", November 2026). */
const SIZES: readonly [number, string][] = [
  [1 / 8, 'PS-10'],
  [1 / 4, 'PS-20'],
  [1 / 2, 'PS-40'],
  [1, 'PS-80'],
  [2, 'PS-160'],
  [4, 'PS-320'],
  [8, 'PS-640'],
  [16, 'PS-1280'],
  [32, 'PS-2560'],
  [64, 'PS-2800'],
]
/** Dollars a month as listed in November 2024, with three nodes. PS-10 was the same in May 2026. */
const DOLLARS: Record<string, number> = {
  'PS-10': 39,
  'PS-20': 59,
  'PS-40': 99,
  'PS-80': 179,
  'PS-160': 349,
  'PS-320': 699,
}
/** Larger sizes have no listed price: a processor is assumed to cost as much as in the largest that has one. */
const DOLLARS_PER_PROCESSOR = 699 / 4
const INCLUDED_GB = 10
const DOLLARS_PER_GB = 1.5
/** PlanetScale names this size of a table as a sign that it should be sharded. */
export const LARGE_TABLE_GB = 100
const GB = 1e9
/** Hours for which a writer's slot is kept at most: rows hold whole hours. */
export const KEPT_HOURS = WRITER_HOURS + 1
const HISTORY_DAYS = 90

/** Which simulation is used. From 16 shards on, nearly every statement has a single hit, so more shards make little difference. */
const simulated = (shards: number) => Math.min(shards, SHARDS.at(-1)!)

/** Sizes systems from what was measured and simulated. Rates are averages of a day, whose load is 1 + 0.6 × sin. */
export class Sizing {
  readonly #results: Results
  readonly #bytes: Record<string, number>
  readonly #keys = new Map<number, Keys>()

  constructor(results: Results) {
    this.#results = results
    this.#bytes = rowBytesIn(results)
  }

  /** Whether everything was measured. */
  get complete(): boolean {
    return this.#results[SCALE] !== undefined && this.#bytes.slotted_counters !== undefined
  }

  /** A figure of `scale` at any rate, on a straight line between the logarithms of what was simulated. NaN if nothing was. */
  figure(placement: Placement, shards: number, hitsPerSecond: number, figure: FigureName): number {
    const { runs } = this.#results[SCALE]!
    const known = RATES.map(
      (rate) =>
        [rate, medianOf(runs, nameOf({ placement, shards: simulated(shards), hitsPerSecond: rate }), figure)] as const,
    ).filter(([, value]) => value > 0)
    if (known.length === 0) return Number.NaN
    const [first, last] = [known[0]!, known.at(-1)!]
    if (hitsPerSecond <= first[0]) return (first[1] * hitsPerSecond) / first[0]
    if (hitsPerSecond >= last[0]) return (last[1] * hitsPerSecond) / last[0]
    const above = known.findIndex(([rate]) => rate >= hitsPerSecond)
    const [[x0, y0], [x1, y1]] = [known[above - 1]!, known[above]!]
    const part = Math.log(hitsPerSecond / x0) / Math.log(x1 / x0)
    return y0 * (y1 / y0) ** part
  }

  /** The mean of a figure over a day. */
  overDay(placement: Placement, shards: number, average: number, figure: FigureName): number {
    let sum = 0
    for (let hour = 0; hour < 24; hour++) sum += this.figure(placement, shards, rateAt(average, hour), figure) / 24
    return sum
  }

  #ofRollUp(shards: number, figure: FigureName): number {
    return medianOf(this.#results[SCALE]!.runs, rollUpName(MOST_SLOTS, simulated(shards)), figure)
  }

  #ofPruning(shards: number, figure: FigureName): number {
    return medianOf(this.#results[SCALE]!.runs, pruningName(simulated(shards)), figure)
  }

  /** Slots a second that a roll-up moves. */
  rollUpRate(shards: number): number {
    return rollUpRate(this.#results[SCALE]!.runs, simulated(shards))
  }

  /** Seconds that the roll-up of each minute takes at the peak. */
  rollUpSeconds(placement: Placement, shards: number, average: number): number {
    return this.figure(placement, shards, peakOf(average), 'pendingSlots') / this.rollUpRate(shards)
  }

  /** Statements of the roll-up of each minute at the peak. */
  rollUpStatements(placement: Placement, shards: number, average: number): number {
    const pending = this.figure(placement, shards, peakOf(average), 'pendingSlots')
    return (pending * this.#ofRollUp(shards, 'statements')) / MOST_SLOTS
  }

  /** Seconds that pruning takes in each run, if it deletes as many slots as are created. */
  pruningSeconds(placement: Placement, shards: number, average: number): number {
    const perRun = (this.overDay(placement, shards, average, 'slotsOfDay') / DAY_S) * PRUNED_EVERY_S
    return perRun / this.#ofPruning(shards, 'rowsPerSecond')
  }

  /** Slots of writers that are kept. Idempotency keys and visitors come on top. */
  keptSlots(placement: Placement, shards: number, average: number): number {
    return this.overDay(placement, shards, average, 'slotsOfDay') * (KEPT_HOURS / 24)
  }

  /** GB of the table of slots, on each shard. */
  slotsGb(placement: Placement, shards: number, average: number): number {
    return (this.keptSlots(placement, shards, average) * this.#bytes.slotted_counters!) / GB / shards
  }

  /** GB of all other tables after a year. */
  yearGb(average: number): number {
    let keys = this.#keys.get(average)
    if (keys === undefined) {
      keys = new Keys(keysOf(average))
      this.#keys.set(average, keys)
    }
    const different = (seconds: number) => keys.different(average * seconds)
    const periods = 365 * different(DAY_S) + 12 * different(MONTH_S)
    const hours = 24 * HISTORY_DAYS * different(3_600)
    const { counters, counter_periods, counter_history } = this.#bytes
    return (keys.number * counters! + periods * counter_periods! + hours * counter_history!) / GB
  }

  /** Processors that all shards use at the peak: for hits, the roll-up and pruning. */
  processors(placement: Placement, shards: number, average: number): number {
    const peak = peakOf(average)
    const perSlot = (processorSeconds: number) => processorSeconds / MOST_SLOTS
    return (
      this.figure(placement, shards, peak, 'processors') +
      (this.figure(placement, shards, peak, 'pendingSlots') / MINUTE_S) *
        perSlot(this.#ofRollUp(shards, 'processorSeconds')) +
      (this.overDay(placement, shards, average, 'slotsOfDay') / DAY_S) *
        perSlot(this.#ofPruning(shards, 'processorSeconds'))
    )
  }

  /** The smallest size of each shard, and the dollars a month of all; `null` if there is none. */
  database(placement: Placement, shards: number, average: number) {
    const perShard = this.processors(placement, shards, average) / shards / BUSY
    const size = SIZES.find(([processors]) => processors >= perShard)
    if (size === undefined) return null
    const gb = this.yearGb(average) + shards * this.slotsGb(placement, shards, average)
    const [processors, name] = size
    const each = DOLLARS[name] ?? processors * DOLLARS_PER_PROCESSOR
    const dollars = shards * each + Math.max(0, gb - INCLUDED_GB) * DOLLARS_PER_GB
    return { size: name, gb, dollars, isListed: name in DOLLARS }
  }
}

/** Hits a second at an hour of a day with this average. */
export function rateAt(average: number, hour: number): number {
  return average * (1 + SWING * Math.sin(((hour - 6) / 24) * 2 * Math.PI))
}

export function peakOf(average: number): number {
  return average * (1 + SWING)
}

/** How much of a limit is used at an average rate; 1 is all. */
export type Limit = (sizing: Sizing, placement: Placement, shards: number, average: number) => number

const { rollUp } = PLANS.paid

/** What breaks first, with the settings of `PLAN = "paid"`. */
export const LIMITS = {
  rollUpSeconds: (...[sizing, ...at]) => sizing.rollUpSeconds(...at) / rollUp.maxSeconds,
  rollUpStatements: (...[sizing, ...at]) => sizing.rollUpStatements(...at) / rollUp.maxStatements,
} satisfies Record<string, Limit>

const MOST_RATE = 1e7

/** The average rate at which a limit is reached; `null` beyond ten million. */
export function rateAtLimit(sizing: Sizing, limit: Limit, placement: Placement, shards: number): number | null {
  let [low, high] = [0.1, MOST_RATE]
  // Not a number, if it was not simulated.
  if (!(limit(sizing, placement, shards, high) >= 1)) return null
  for (let n = 0; n < 40; n++) {
    const middle = Math.sqrt(low * high)
    if (limit(sizing, placement, shards, middle) < 1) low = middle
    else high = middle
  }
  return low
}
