import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BoundedMap } from '../../src/bounded-map.ts'

describe('A bounded map', () => {
  it('keeps the latest value of a key', () => {
    const map = new BoundedMap<number>(2)
    expect([map.get('a'), map.has('a')]).toEqual([undefined, false])
    map.set('a', 1)
    map.set('b', 2)
    map.set('a', 3)
    map.set('c', 4)
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, 2, 4])
  })

  it('keeps the latest `limit` keys, and at most twice as many', () => {
    const keys = fc.array(fc.integer({ min: 0, max: 60 }).map(String), { maxLength: 300 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), keys, (limit, keys) => {
        const map = new BoundedMap<number>(limit)
        const latest = new Map<string, number>()
        for (const [at, key] of keys.entries()) {
          map.set(key, at)
          latest.delete(key)
          latest.set(key, at)
        }
        const remembered = [...latest.keys()].filter((key) => map.has(key))
        expect(remembered.length).toBeLessThanOrEqual(2 * limit)
        for (const key of [...latest.keys()].slice(-limit)) expect(map.has(key)).toBe(true)
        for (const [key, at] of latest) expect(map.get(key)).toBe(map.has(key) ? at : undefined)
      }),
    )
  })
})
