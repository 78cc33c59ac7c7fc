import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { destinationOf } from '../../../src/visits/download.ts'

const BASES = ['https://files.example.com/', 'https://files.example.com/a%20b/dist/', '/', '/files/']
const HERE = 'https://counter.example'

describe('the URL of a download', () => {
  it.each([
    ['app.zip', 'app.zip'],
    ['v1/app-1.0.tar.gz', 'v1/app-1.0.tar.gz'],
    ['with space & more?.zip', 'with%20space%20%26%20more%3F.zip'],
    ['été/naïve#1', '%C3%A9t%C3%A9/na%C3%AFve%231'],
    ['100%', '100%25'],
    ['a:b', 'a%3Ab'],
    ['...', '...'],
    ['folder/', 'folder/'],
    ['.hidden', '.hidden'],
  ])('for %s is %s below the base', (key, path) => {
    for (const base of BASES) expect(destinationOf(base, key)).toBe(base + path)
  })

  it('has the key where the base says so', () => {
    expect(destinationOf('https://a.example/{key}/download?x=1', "v1/$& $'.zip")).toBe(
      "https://a.example/v1/%24%26%20%24'.zip/download?x=1",
    )
  })

  it.each([
    '',
    ...'/ /etc/passwd //evil.example a//b a// . .. a/../b ../a a/.. a/./b \\\\evil.example a\\..\\b'.split(' '),
    ...['a\r\nSet-Cookie: x=y', 'a\tb', 'a\0b', 'a\u007fb', '\ud800'],
  ])('does not exist for %j', (key) => {
    for (const base of BASES) expect(destinationOf(base, key)).toBeNull()
  })

  it('is never outside the base, for any key', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.constantFrom('', '\n', '\0', ...'.. . %2e%2e %2f \\ // @ : ? # https: evil.example'.split(' ')),
    )
    const key = fc.array(part, { maxLength: 6 }).map((parts) => parts.join('/'))
    fc.assert(
      fc.property(fc.constantFrom(...BASES), fc.oneof(key, part), (base, key) => {
        const destination = destinationOf(base, key)
        if (destination === null) return
        const { href } = new URL(destination, HERE)
        const top = new URL(base, HERE).href
        expect(href.startsWith(top)).toBe(true)
        // Parsing the URL changes nothing in it.
        expect(href).toBe(top + destination.slice(base.length))
        expect(destination).toMatch(/^[\x21-\x7e]+$/)
        expect(decodeURIComponent(destination.slice(base.length))).toBe(key)
      }),
      { numRuns: 20_000 },
    )
  })
})
