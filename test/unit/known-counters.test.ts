import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { counterOf, InvalidKey, type KeyedType } from '../../src/counters/counter.ts'
import { KnownCounters } from '../../src/counters/known-counters.ts'

const page: KeyedType = { recordType: 1, key: 'string' }
const issue: KeyedType = { recordType: 11, key: 'integer' }

describe('the counters that an isolate knows', () => {
  it('are recalled once they were looked up, and are the same ones', async () => {
    const known = new KnownCounters()
    expect(known.recall(page, '/a')).toBeUndefined()
    const counter = await known.of(page, '/a')
    expect(counter).toEqual(await counterOf(page, '/a'))
    expect(known.recall(page, '/a')).toBe(counter)
    expect(await known.of(page, '/a')).toBe(counter)
  })

  it('are told apart by type and key, however the two read together', async () => {
    const known = new KnownCounters()
    const types = [page, issue, { ...page, recordType: 111 }]
    const key = fc.stringMatching(/^[1-9][0-9]{0,3}$/)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...types), key, async (type, key) => {
        expect(await known.of(type, key)).toEqual(await counterOf(type, key))
        // The separator, and what stands before it, may also be in a key.
        const spaced = `1 ${key}`
        expect(await known.of(page, spaced)).toEqual(await counterOf(page, spaced))
      }),
    )
  })

  it('do not include keys that a type does not take, which are refused every time', async () => {
    const known = new KnownCounters()
    for (let i = 0; i < 2; i++) {
      await expect(known.of(issue, '007')).rejects.toThrow(InvalidKey)
      await expect(known.of(page, '')).rejects.toThrow(InvalidKey)
      expect(known.recall(issue, '007')).toBeUndefined()
    }
  })

  it('stay few and small, whatever is sent', async () => {
    const known = new KnownCounters()
    const long = 'x'.repeat(201)
    expect(await known.of(page, long)).toEqual(await counterOf(page, long))
    expect(known.recall(page, long)).toBeUndefined()
    const keys = Array.from({ length: 50_000 }, (_, i) => `${i}`)
    for (const key of keys) await known.of(issue, key)
    const recalled = keys.filter((key) => known.recall(issue, key) !== undefined)
    expect(recalled.length).toBeLessThanOrEqual(20_000)
    expect(recalled).toEqual(keys.slice(-recalled.length))
    expect(recalled.length).toBeGreaterThanOrEqual(10_000)
  })
})
