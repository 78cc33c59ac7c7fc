import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pageKey } from '../../../../src/counters/keys/key-address.ts'

describe('The key of a page', () => {
  it.each([
    ['/about', '/about'],
    ['/caf%C3%A9', '/café'],
    ['/caf%c3%a9', '/café'],
    ['/v/%7Euser', '/v/~user'],
    ['/a%20b+c', '/a b+c'],
    ['/%E6%97%A5%E6%9C%AC', '/日本'],
    ['/%F0%9F%98%80', '/😀'],
    ['/a%3Bb%3Ac%40d%26e%3Df%2Bg%24h%2Ci', '/a;b:c@d&e=f+g$h,i'],
    ['/cafe%CC%81', '/café'],
    ['/\u1112\u1161\u11ab/A\u030a', '/한/Å'],
    ['/%E2%84%AB', '/Å'],
    ['/a;jsessionid=A1', '/a'],
    ['/;JSESSIONID=0F.node-2', '/'],
    ['/shop;jsessionid=A1/cart;v=2;sid=7', '/shop/cart;v=2'],
    ['/a%3Bjsessionid%3DA1#x', '/a#x'],
    ['/a;jsessionid', '/a;jsessionid'],
    ['/%C3%A9?q=caf%C3%A9%26b%3dc%2B&r=%2F%3f', '/é?q=café%26b%3Dc%2B&r=/?'],
    ['/?q=e%CC%81;sid=1#%23', '/?q=é;sid=1#%23'],
  ])('%s is %s', (path, key) => {
    expect(pageKey(path)).toBe(key)
  })

  it.each([
    ['what separates the parts of a URL', '/a%2Fb%3Fc%23d', '/a%2Fb%3Fc%23d'],
    ['the percent sign', '/100%25/%2541', '/100%25/%2541'],
    ['control characters', '/a%00%0A%1B%7F%C2%80', '/a%00%0A%1B%7F%C2%80'],
    ['bytes that are not UTF-8', '/%E9/%C3/%C3A/%C0%AF/%ED%A0%80/%F8%88%80%80%80/%80', undefined],
    ['what is no escape', '/100%/%4/%zz/%4z/%', undefined],
  ])('keeps %s', (_, path, key = path) => {
    expect(pageKey(path)).toBe(key)
  })

  it('has capital digits in the escapes that remain', () => {
    expect(pageKey('/a%2fb%3f')).toBe('/a%2Fb%3F')
  })

  it('decodes valid characters beside bytes that are not UTF-8', () => {
    expect(pageKey('/%C3%41/%FFx%C3%A9/%E6%97%2B')).toBe('/%C3A/%FFxé/%E6%97+')
  })

  it('does not change if it is spelled again, even with stray percent signs', () => {
    const part = fc.constantFrom(
      ...'% %4 %41 %34 %25 %2f %C3 %A9 %c3%a9 1 f é / %E6%97 e %CC%81 \u0338 \u212a \u037e ;sid= ? %26'.split(' '),
    )
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const key = pageKey(parts.join(''))
        expect(pageKey(key)).toBe(key)
      }),
      { numRuns: 2_000 },
    )
    expect(pageKey('/%%341/%4%31/100%%C3%A9')).toBe('/%%341/%4%31/100%é')
  })

  it('is the same for every spelling of a character that a URL may have', () => {
    const character = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((c) => !/[/?#%]|\p{Cc}/u.test(c))
    fc.assert(
      fc.property(character, (c) => {
        const escaped = [...new TextEncoder().encode(c)]
          .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
          .join('')
        expect(pageKey(escaped)).toBe(c.normalize())
        expect(pageKey(escaped.toUpperCase())).toBe(c.normalize())
        expect(pageKey(`/${c}`)).toBe(`/${c}`.normalize())
        // A browser escapes what is not ASCII.
        expect(pageKey(new URL(`https://example.com/${escaped}`).pathname)).toBe(`/${c}`.normalize())
      }),
    )
  })
})
