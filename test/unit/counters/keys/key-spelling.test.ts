import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressOfKey,
  type KeyedType,
  SPELLINGS,
  type Spelling,
  spellingOf,
} from '../../../../src/counters/keys/key-address.ts'

describe('The spelling of a key', () => {
  it.each<[Spelling[], string, string]>([
    [[], '/Blog/index.html', '/Blog/index.html'],
    [['trailing_slash'], '/blog/', '/blog'],
    [['trailing_slash'], '/blog//', '/blog'],
    [['trailing_slash'], '/', '/'],
    [['trailing_slash'], '///', '/'],
    [['trailing_slash'], '/Blog/index.html', '/Blog/index.html'],
    [['letter_case'], '/Blog/ÄRGER/', '/blog/ärger/'],
    [['index_file'], '/blog/index.html', '/blog/'],
    [['index_file'], '/index.php', '/'],
    [['index_file'], '/blog/index.htm', '/blog/'],
    [['index_file'], '/blog/my-index.html', '/blog/my-index.html'],
    [['index_file'], '/blog/index.html/', '/blog/index.html/'],
    [['index_file'], '/blog/INDEX.HTML', '/blog/INDEX.HTML'],
    [['index_file'], 'index.html', 'index.html'],
    [['index_file', 'letter_case'], '/blog/INDEX.HTML', '/blog/'],
    [['index_file', 'trailing_slash'], '/blog/index.html', '/blog'],
    [['index_file', 'trailing_slash'], '/blog/index.html/', '/blog'],
    [['index_file', 'trailing_slash'], '/index.html', '/'],
  ])('with %j, of %j is %j', (spellings, key, spelled) => {
    expect(spellingOf(key, spellings)).toBe(spelled)
  })

  it('is its own spelling, and empty only for an empty key', () => {
    const part = fc.constantFrom('/', 'index.html', 'INDEX.php', 'a', 'Σ', 'İ', '.htm')
    const keys = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(part).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(keys, fc.subarray([...SPELLINGS]), (key, spellings) => {
        const spelled = spellingOf(key, spellings)
        expect(spellingOf(spelled, spellings)).toBe(spelled)
        expect(spelled === '').toBe(key === '')
      }),
      { numRuns: 5_000 },
    )
  })

  it('is what a counter is addressed and named by', async () => {
    const type: KeyedType = { recordType: 1, sameKey: SPELLINGS }
    const plain: KeyedType = { recordType: 1 }
    expect(await addressOfKey(type, '/Blog/Index.html')).toEqual(await addressOfKey(plain, '/blog'))
    expect(await addressOfKey(plain, '/Blog/')).toMatchObject({ name: '/Blog/' })
    await expect(addressOfKey(type, './')).rejects.toThrow(/must not be "."/)
    // The limit is on what is stored.
    await expect(addressOfKey(type, 'İ'.repeat(200))).rejects.toThrow(/at most 512 bytes/)
  })
})
