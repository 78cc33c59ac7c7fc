import type { WriteLoad } from '../../simulation/simulate-writes.ts'

/** Average hits a second that are simulated. */
export const RATES = [10, 100, 1_000, 10_000, 100_000, 1_000_000]
/** Shards, each with one range. */
export const SHARDS = [1, 4, 16]
/** Loads from which on several shards are simulated. */
const SHARDED_FROM = 10_000
export const PLACEMENTS = ['everywhere', 'placed'] as const
export type Placement = (typeof PLACEMENTS)[number]

/** The most hits a second for which a location runs one isolate. */
export const PER_ISOLATE = 1_000
/** Seconds that an isolate lives on average. */
export const ISOLATE_SECONDS = 600
export const COMMIT_MS = 2
/** Processors of a shard in the simulation: so many that nothing waits for them. What is needed follows from what is used. */
const PLENTY = 64

/** Hits a second at the peak of a day, relative to its average: the load is 1 + 0.6 × sin. */
export const SWING = 0.6

/** Keys of a site with this many hits a second: 3,162 with 10 hits a second, a million with a million. */
export function keysOf(hitsPerSecond: number): number {
  return Math.round(1_000 * Math.sqrt(hitsPerSecond))
}

/** One of the loads that are simulated. */
export interface Point {
  placement: Placement
  shards: number
  hitsPerSecond: number
}

export const POINTS: readonly Point[] = PLACEMENTS.flatMap((placement) =>
  SHARDS.flatMap((shards) =>
    RATES.filter((rate) => shards === 1 || rate >= SHARDED_FROM).map((hitsPerSecond) => ({
      placement,
      shards,
      hitsPerSecond,
    })),
  ),
)

/** Shards in names and series. */
export const shardsOf = (shards: number) => (shards === 1 ? '1 shard' : `${shards} shards`)

export function nameOf({ placement, shards, hitsPerSecond }: Point): string {
  return `${hitsPerSecond.toLocaleString('en-US')} hits/s ${placement}, ${shardsOf(shards)}`
}

/** What is simulated for a point. */
export function loadOf({ placement, shards, hitsPerSecond }: Point): WriteLoad {
  return {
    hitsPerSecond,
    keys: keysOf(hitsPerSecond),
    placement,
    perIsolate: PER_ISOLATE,
    isolateSeconds: ISOLATE_SECONDS,
    ranges: shards,
    server: { shards, processors: PLENTY, commitMs: COMMIT_MS },
  }
}
