import type { Random } from './random.ts'

/** Locations of Cloudflare that visitors come from, and how unequal they are: the n-th has a share in proportion to n^-0.8. */
export const LOCATIONS = 300
const SKEW = 0.8
/** Milliseconds of a round trip to the database: of the nearest and the farthest location, and where the Worker is placed. */
const NEAREST_MS = 5
const FARTHEST_MS = 250

/** Where the Worker runs. */
export type Placement =
  /** In the location that each visitor comes from. */
  | 'everywhere'
  /** In one location near the database. */
  | 'placed'

/** Isolates of the same location, which share its hits equally. */
export interface Place {
  roundTripMs: number
  isolates: number
  /** Hits a second of each isolate. */
  hitsPerSecond: number
}

/**
 * Where hits are counted.
 *
 * @param perIsolate the most hits a second for which one isolate is enough; a location has at least one
 * @param random draws the distances of locations: as many between 5 and 10 ms as between 50 and 100
 */
export function placesOf(placement: Placement, hitsPerSecond: number, perIsolate: number, random: Random): Place[] {
  const place = (hits: number, roundTripMs: number): Place => {
    const isolates = Math.max(1, Math.ceil(hits / perIsolate))
    return { roundTripMs, isolates, hitsPerSecond: hits / isolates }
  }
  if (placement === 'placed') return [place(hitsPerSecond, NEAREST_MS)]
  const shares = Array.from({ length: LOCATIONS }, (_, n) => (n + 1) ** -SKEW)
  const sum = shares.reduce((a, b) => a + b)
  return shares.map((share) =>
    place((hitsPerSecond * share) / sum, NEAREST_MS * (FARTHEST_MS / NEAREST_MS) ** random.fraction()),
  )
}
