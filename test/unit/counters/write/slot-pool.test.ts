import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SlotPool } from '../../../../src/counters/write/flush-group.ts'

describe('The slots of an isolate', () => {
  it('are random 64-bit numbers above 0, so that two isolates do not share one', () => {
    const slots = Array.from({ length: 1_000 }, () => new SlotPool().lease())
    expect(new Set(slots).size).toBe(1_000)
    expect(slots.every((slot) => slot > 0n && slot < 2n ** 64n)).toBe(true)
    // If the upper half were not random, two isolates would share slots.
    expect(new Set(slots.map((slot) => slot >> 32n)).size).toBeGreaterThan(990)
  })

  it('never belong to two batches at once, nor to another batch if the fate of theirs is unknown', () => {
    const step = fc.oneof(
      fc.constant('lease' as const),
      fc.record({ end: fc.constantFrom('known' as const, 'unknown' as const), which: fc.nat() }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const pool = new SlotPool()
        const taken: bigint[] = []
        const lost = new Set<bigint>()
        for (const next of steps) {
          if (next === 'lease') {
            const slot = pool.lease()
            expect(taken).not.toContain(slot)
            expect(lost).not.toContain(slot)
            taken.push(slot)
          } else if (taken.length > 0) {
            const [slot] = taken.splice(next.which % taken.length, 1)
            if (next.end === 'known') pool.release(slot!)
            else lost.add(slot!)
          }
        }
      }),
    )
  })

  it('are kept for later batches, up to a bound', () => {
    const pool = new SlotPool()
    const slots = Array.from({ length: 10_000 }, () => pool.lease())
    for (const slot of slots) pool.release(slot)
    const known = new Set(slots)
    const again = Array.from({ length: 10_000 }, () => pool.lease())
    expect(again.filter((slot) => known.has(slot))).toHaveLength(64)
  })
})
