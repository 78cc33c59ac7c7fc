import type { CounterAddress } from '../counters/counter-address.ts'
import type { Unit } from './period-counts.ts'

/** The most keys that a chart shows apart. */
export const MAX_PARTS = 5

/** The counts of a key by unit; `null`: of all other keys. */
export interface KeyPart {
  key: string | null
  counts: readonly bigint[]
}

const sumOf = (counts: readonly bigint[]) => counts.reduce((sum, count) => sum + count, 0n)

/** The parts that add up to a sum: keys, from the largest, and all others, without those that have no counts. @param parts by unit */
export function partsByKey(
  { units, parts }: { units: readonly Unit[]; parts: readonly (readonly bigint[])[] },
  keys: readonly CounterAddress[],
): KeyPart[] {
  const largest = keys
    .map(({ name: key }, nth): KeyPart => ({ key, counts: parts[nth]! }))
    .sort((a, b) => (sumOf(a.counts) < sumOf(b.counts) ? 1 : -1))
  const rest = units.map(({ count }, unit) => count - sumOf(largest.map(({ counts }) => counts[unit]!)))
  const all = keys.length === 0 ? [] : [...largest, { key: null, counts: rest }]
  return all.filter(({ counts }) => counts.some((count) => count !== 0n))
}
