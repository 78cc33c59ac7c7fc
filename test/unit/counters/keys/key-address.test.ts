import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hash64 } from '../../../../src/counters/ids.ts'
import { addressOfKey, isFolder, type KeyedType, MAX_KEY_BYTES } from '../../../../src/counters/keys/key-address.ts'
import { InvalidInput } from '../../../../src/schemas.ts'

const type: KeyedType = { recordType: 7 }

const bytes = (text: string) => Buffer.byteLength(text)
/** Any valid key, long ones included. */
const key = fc
  .string({ unit: 'binary', minLength: 1, maxLength: MAX_KEY_BYTES, size: 'max' })
  .map((text) => {
    const characters = [...text.replaceAll('\0', '?')]
    while (bytes(characters.join('')) > MAX_KEY_BYTES) characters.pop()
    return characters.join('')
  })
  .filter((text) => !isFolder(text))

describe('The hash', () => {
  // Databases contain these numbers. With other hashes every counter would begin at 0 again.
  it.each([
    ['', 0xe3b0c44298fc1c14n],
    ['a', 14_598_278_634_844_962_250n],
    ['abc', 0xba7816bf8f01cfean],
    ['/blog/hello', 6_656_683_752_120_810_053n],
    ['app-1.2.0.tgz', 6_742_568_990_081_706_871n],
    ['/größe/日本語/😀', 12_267_655_501_764_691_854n],
    ['x'.repeat(512), 7_212_026_910_977_811_256n],
  ])('of the key %j never changes', async (text, expected) => {
    expect(await hash64(text)).toBe(expected)
  })

  it('of a key is the first eight bytes of SHA-256', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        expect(await hash64(text)).toBe(createHash('sha256').update(text).digest().readBigUInt64BE())
      }),
    )
  })
})

describe('A key', () => {
  it('is any text without NUL of up to 512 bytes, but no folder', async () => {
    await fc.assert(
      fc.asyncProperty(key, async (text) => {
        expect(await addressOfKey(type, text)).toEqual({ recordType: 7, recordId: await hash64(text), name: text })
      }),
    )
  })

  it.each([
    ['a'.repeat(512), 512],
    ['é'.repeat(256), 512],
    [`${'€'.repeat(170)}aa`, 512],
    ['😀'.repeat(128), 512],
  ])('may have 512 bytes', async (text, length) => {
    expect(bytes(text)).toBe(length)
    expect(await addressOfKey(type, text)).toMatchObject({ name: text })
    await expect(addressOfKey(type, `${text}!`)).rejects.toThrow(
      new InvalidInput('key', 'must have at most 512 bytes of UTF-8, not 513'),
    )
  })

  it.each([
    ['', 'must not be empty'],
    ['.', 'must not be "." or "..", which paths cannot contain'],
    ['..', 'must not be "." or "..", which paths cannot contain'],
    ['\0', 'must not contain NUL'],
    ['/a\0', 'must not contain NUL'],
    ['\ud800', 'must be well-formed Unicode, without lone surrogates'],
    ['/a\udc00b', 'must be well-formed Unicode, without lone surrogates'],
    ['\ude00\ud83d', 'must be well-formed Unicode, without lone surrogates'],
    ['a'.repeat(100_000), 'must have at most 512 bytes of UTF-8, not 100000'],
    ['€'.repeat(171), 'must have at most 512 bytes of UTF-8, not 513'],
  ])('cannot be %j', async (text, message) => {
    await expect(addressOfKey(type, text)).rejects.toThrow(new InvalidInput('key', message))
  })
})

describe('The error message for an invalid key', () => {
  it('does not contain the key', async () => {
    for (const text of ['geheim\0', 'geheim\ud800', 'geheim'.repeat(100)]) {
      await expect(addressOfKey(type, text)).rejects.not.toThrow(/geheim/)
    }
  })
})
