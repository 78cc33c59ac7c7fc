import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AddressCache, addressOfKey, type KeyedType } from '../../../../src/counters/keys/key-address.ts'

const page: KeyedType = { recordType: 1 }
const issue: KeyedType = { recordType: 11 }

describe('Cached addresses', () => {
  it('are recalled after the first look-up', async () => {
    const known = new AddressCache()
    expect(known.cached(page, '/a')).toBeUndefined()
    const counter = await known.find(page, '/a')
    expect(counter).toEqual(await addressOfKey(page, '/a'))
    expect(known.cached(page, '/a')).toBe(counter)
    expect(await known.find(page, '/a')).toBe(counter)
  })

  it('are distinguished by type and key, even if both together read the same', async () => {
    const known = new AddressCache()
    const types = [page, issue, { ...page, recordType: 111 }]
    const key = fc.stringMatching(/^[1-9][0-9]{0,3}$/)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...types), key, async (type, key) => {
        expect(await known.find(type, key)).toEqual(await addressOfKey(type, key))
        // A key may also contain the separator.
        const spaced = `1 ${key}`
        expect(await known.find(page, spaced)).toEqual(await addressOfKey(page, spaced))
      }),
    )
  })

  it('stay few and small', async () => {
    const known = new AddressCache()
    const long = 'x'.repeat(201)
    expect(await known.find(page, long)).toEqual(await addressOfKey(page, long))
    expect(known.cached(page, long)).toBeUndefined()
    const keys = Array.from({ length: 30_000 }, (_, i) => `${i}`)
    for (const key of keys) await known.find(issue, key)
    const recalled = keys.filter((key) => known.cached(issue, key) !== undefined)
    expect(recalled.length).toBeLessThanOrEqual(20_000)
    expect(recalled).toEqual(keys.slice(-recalled.length))
    expect(recalled.length).toBeGreaterThanOrEqual(10_000)
  })
})
