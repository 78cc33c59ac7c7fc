import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { addressOfKey } from '../../../../src/counters/counter-address.ts'
import { MIXED_TYPES, recordIdOf } from '../../../../src/counters/integer-key.ts'
import { storeNames } from '../../../../src/counters/names.ts'
import { searchCounters } from '../../../../src/counters/read/search.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'

const TEXT = { recordType: 1, key: 'string' } as const
const NUMBER = { recordType: MIXED_TYPES + 2, key: 'integer' } as const

const KEYS = [
  '',
  'a',
  'A',
  'a%',
  'a_',
  'a\\',
  "a'",
  'ab',
  'abc',
  'a/b',
  'ä',
  'äb',
  'z',
  '日本',
  '日本語',
  '🙂',
  '🙂a',
  '\u{10ffff}',
  ' a',
  'a ',
  '\n',
]

let db: TestDatabase
beforeAll(async () => {
  db = await freshDatabase()
  const counters = await Promise.all(KEYS.slice(1).map((key) => addressOfKey(TEXT, key)))
  await storeNames(
    db,
    [...counters, ...(await Promise.all(['ab', 'zz'].map((key) => addressOfKey({ ...TEXT, recordType: 3 }, key))))],
    db.ranges,
  )
  for (const [index, { recordType, recordId }] of counters.entries()) {
    await db.arrange(
      'INSERT INTO counter_totals (record_type, record_id, count, version, rolled_up_at) VALUES (?, ?, ?, 1, NULL)',
      [recordType, recordId, 10 * index],
    )
    await db.arrange(
      'INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour) VALUES (?, ?, 1, 1, 1, 0)',
      [recordType, recordId],
    )
  }
  for (const number of [3n, 7n, 2n ** 63n, 2n ** 64n - 1n]) {
    await db.arrange(
      'INSERT INTO counter_totals (record_type, record_id, count, version, rolled_up_at) VALUES (?, ?, 5, 1, NULL)',
      [NUMBER.recordType, recordIdOf(number)],
    )
  }
})

const inByteOrder = (keys: readonly string[]) => {
  const bytes = (key: string) => [...new TextEncoder().encode(key)].map((byte) => String.fromCharCode(byte)).join('')
  return keys.toSorted((a, b) => (bytes(a) < bytes(b) ? -1 : 1))
}
/** The keys of all pages of a search. */
const keysOf = async (type: typeof TEXT | typeof NUMBER, prefix: string, limit: number) => {
  const keys: string[] = []
  for (let after: string | null = null; ; ) {
    const page = await searchCounters(db, type, { prefix, after, limit })
    keys.push(...page.counters.map(({ key }) => key))
    expect(page.counters.length).toBeLessThanOrEqual(limit)
    if (page.next === null) return keys
    expect(page.counters).toHaveLength(limit)
    after = page.next
  }
}

describe('A search', () => {
  it('finds the keys that begin with exactly the prefix, in byte order, page by page', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...KEYS, 'x', 'abcd', '%', '_'),
        fc.integer({ min: 1, max: 30 }),
        async (prefix, limit) => {
          expect(await keysOf(TEXT, prefix, limit)).toEqual(
            inByteOrder(KEYS.slice(1).filter((key) => key.startsWith(prefix))),
          )
        },
      ),
      { numRuns: 60 },
    )
  })

  it('gives exact counts', async () => {
    const { counters } = await searchCounters(db, TEXT, { prefix: 'ab', after: null, limit: 9 })
    expect(counters).toEqual([
      { key: 'ab', count: 61n },
      { key: 'abc', count: 71n },
    ])
  })

  it('continues after a key that does not exist or does not match', async () => {
    const goOn = async (prefix: string, after: string) =>
      (await searchCounters(db, TEXT, { prefix, after, limit: 100 })).counters.map(({ key }) => key)
    expect(await goOn('ab', 'aba')).toEqual(['abc'])
    expect(await goOn('ab', 'A')).toEqual(['ab', 'abc'])
    expect(await goOn('ab', 'z')).toEqual([])
  })

  it('of integer keys lists those that were rolled up in numerical order, or finds one', async () => {
    expect(await keysOf(NUMBER, '', 1)).toEqual(['3', '7', '9223372036854775808', '18446744073709551615'])
    expect(await keysOf(NUMBER, '', 4)).toHaveLength(4)
    expect(await searchCounters(db, NUMBER, { prefix: '7', after: null, limit: 1 })).toEqual({
      counters: [{ key: '7', count: 5n }],
      next: null,
    })
    expect(await searchCounters(db, NUMBER, { prefix: '7', after: '7', limit: 1 })).toEqual({
      counters: [],
      next: null,
    })
  })

  it('refuses a prefix that no key can have', async () => {
    await expect(searchCounters(db, NUMBER, { prefix: '07', after: null, limit: 1 })).rejects.toMatchObject({
      field: 'prefix',
    })
    await expect(searchCounters(db, NUMBER, { prefix: '', after: 'x', limit: 1 })).rejects.toMatchObject({
      field: 'after',
    })
    await expect(searchCounters(db, TEXT, { prefix: 'ä'.repeat(257), after: null, limit: 1 })).rejects.toMatchObject({
      field: 'prefix',
    })
  })
})
