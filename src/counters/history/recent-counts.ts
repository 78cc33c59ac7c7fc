import { BoundedMap } from '../../bounded-map.ts'
import { MINUTE_MS } from '../calendar.ts'
import type { SumReading } from './read-sum.ts'

/** Sums in one generation; two are kept. */
const MAX_GENERATION = 100
const RECENT_MS = 5 * MINUTE_MS
/** Older readings say nothing about recent minutes, and newer ones than this too little. */
const OLDEST_MS = 2 * RECENT_MS
const LEAST_MS = MINUTE_MS

/** A count, and the minutes before now in which it was counted. */
export interface RecentCount {
  minutes: number
  count: bigint
}

/**
 * Counts what came in during the last five minutes. The history has hours and slots have no times, so this compares a sum,
 * pending slots included, with what the same isolate read about five minutes ago: polled pages ask often enough. It includes what was
 * set or imported meanwhile. Before there is such a reading, it is what is pending: all that was counted since the last roll-up
 * that left nothing, usually a minute ago.
 */
export class RecentCounts {
  readonly #readings = new BoundedMap<{ at: number; count: bigint }[]>(MAX_GENERATION)

  /**
   * @param name identifies the sum
   * @param now in milliseconds since 1970
   * @returns `null`: what is pending was not read, or has been for long
   */
  of(name: string, { total, pending, rolledUpAt }: SumReading, now: number): RecentCount | null {
    if (pending === null) return null
    const count = total + pending
    const kept = (this.#readings.get(name) ?? []).filter(({ at }) => at <= now && now - at <= OLDEST_MS)
    const latest = kept.at(-1)
    // Many pages may ask at the same time.
    if (latest === undefined || now - latest.at >= LEAST_MS / 4) kept.push({ at: now, count })
    this.#readings.set(name, kept)
    const before = kept.findLast(({ at }) => now - at >= RECENT_MS) ?? kept[0]
    if (before !== undefined && now - before.at >= LEAST_MS) return since(before.at, count - before.count, now)
    return rolledUpAt === null || now - rolledUpAt.getTime() > OLDEST_MS
      ? null
      : since(rolledUpAt.getTime(), pending, now)
  }
}

function since(at: number, count: bigint, now: number): RecentCount {
  return { minutes: Math.max(1, Math.round((now - at) / MINUTE_MS)), count: count < 0n ? 0n : count }
}
