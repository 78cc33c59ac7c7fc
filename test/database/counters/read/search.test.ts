import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { addressOfKey } from '../../../../src/counters/keys/key-address.ts'
import { ensureNames } from '../../../../src/counters/keys/names.ts'
import { searchCounters } from '../../../../src/counters/read/search.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'

const TEXT = { recordType: 1 } as const
const NUMBER = { recordType: 2 } as const

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
  await ensureNames(db, [
    ...counters,
    ...(await Promise.all(['ab', 'zz'].map((key) => addressOfKey({ ...TEXT, recordType: 3 }, key)))),
  ])
  for (const [index, { recordType, recordId }] of counters.entries()) {
    await db.insert('totals', '(?, ?, ?, 1, NULL)', [recordType, recordId, 10 * index])
    await db.insert('slotted_counters', '(?, ?, 1, 1, 1, 0)', [recordType, recordId])
  }
  await ensureNames(db, await Promise.all(['3', '7', '12', '-3'].map((key) => addressOfKey(NUMBER, key))))
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

  it('continues after a key that does not exist or does not match', async () => {
    const goOn = async (prefix: string, after: string) =>
      (await searchCounters(db, TEXT, { prefix, after, limit: 100 })).counters.map(({ key }) => key)
    expect(await goOn('ab', 'aba')).toEqual(['abc'])
    expect(await goOn('ab', 'A')).toEqual(['ab', 'abc'])
    expect(await goOn('ab', 'z')).toEqual([])
  })

  it('refuses a prefix that no key can have', async () => {
    await expect(searchCounters(db, TEXT, { prefix: 'ä'.repeat(257), after: null, limit: 1 })).rejects.toMatchObject({
      field: 'prefix',
    })
  })
})
