import { expect, it } from 'vitest'
import { RecentCounts } from '../../../../src/counters/history/recent-counts.ts'

const NOW = Date.parse('2026-11-26T10:30:00Z')
const MINUTE_MS = 60_000

/** A sum as it is read some minutes after `NOW`, when the last roll-up was half a minute ago. */
const reading = (total: bigint, pending: bigint | null, minutes: number) => ({
  total,
  pending,
  rolledUpAt: new Date(NOW + (minutes - 0.5) * MINUTE_MS),
})

it('At first, what is pending was counted lately; then it is what came since the reading of about five minutes ago', () => {
  const recent = new RecentCounts()
  const at = (minutes: number, total: bigint, pending: bigint | null) =>
    recent.of('a', reading(total, pending, minutes), NOW + minutes * MINUTE_MS)
  expect(at(0, 1_000n, 7n)).toEqual({ minutes: 1, count: 7n })
  // Too soon for the reading before to say something.
  expect(at(0.5, 1_000n, 9n)).toEqual({ minutes: 1, count: 9n })
  expect(at(2, 1_010n, 2n)).toEqual({ minutes: 2, count: 5n })
  expect(at(5, 1_020n, 0n)).toEqual({ minutes: 5, count: 13n })
  expect(at(6, 1_020n, 0n)).toEqual({ minutes: 6, count: 11n })
  expect(at(7, 1_020n, 4n)).toEqual({ minutes: 5, count: 12n })
  // A counter was set to less.
  expect(at(8, 5n, 0n)).toEqual({ minutes: 6, count: 0n })
  // Another sum, and a pause that is longer than readings are kept.
  expect(recent.of('b', reading(5n, 3n, 8), NOW + 8 * MINUTE_MS)).toEqual({ minutes: 1, count: 3n })
  expect(at(60, 900n, 3n)).toEqual({ minutes: 1, count: 3n })
})

it('Nothing is said of what was counted lately if pending counts were not read, or have waited for long', () => {
  const recent = new RecentCounts()
  expect(recent.of('a', reading(5n, null, 0), NOW)).toBe(null)
  expect(recent.of('a', { total: 5n, pending: 5n, rolledUpAt: null }, NOW)).toBe(null)
  expect(recent.of('b', { total: 5n, pending: 5n, rolledUpAt: new Date(NOW - 11 * MINUTE_MS) }, NOW)).toBe(null)
})
