import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { rememberedQueries } from '../../../src/http/url.ts'
import { Problem } from '../../../src/service/problem.ts'

describe('Remembered queries', () => {
  let checks = 0
  const checked = v.pipe(
    v.string(),
    v.check((value) => {
      checks++
      return value !== 'wrong'
    }),
  )
  const readHit = rememberedQueries(() => ({ type: v.string(), key: checked }))
  const read = (query: string) => readHit(`https://example.com/hit${query}`)

  it('give the same result again, without another check', () => {
    const first = read('?type=page_view&key=%2Fa%26b')
    expect(first).toEqual({ type: 'page_view', key: '/a&b' })
    checks = 0
    expect(read('?type=page_view&key=%2Fa%26b')).toEqual(first)
    expect(checks).toBe(0)
  })

  it('are distinguished by every character', () => {
    expect(read('?type=page_view&key=%2Fb')).toMatchObject({ key: '/b' })
    expect(read('?type=page_view&key=%2FB')).toMatchObject({ key: '/B' })
    expect(read('?type=download&key=%2Fb')).toMatchObject({ type: 'download' })
    expect(read('?key=%2Fb&type=page_view')).toEqual({ type: 'page_view', key: '/b' })
  })

  it('are refused every time if they are invalid', () => {
    for (const query of [
      '?type=page_view&key=wrong',
      '?type=page_view',
      '?type=a&type=b&key=c',
      '?key=%FF&type=a',
      '',
    ]) {
      for (let time = 0; time < 2; time++) expect(() => read(query)).toThrow(Problem)
    }
  })

  it('are refused for a parameter that nobody knows, unless they are those of an image', () => {
    const shape = () => ({ key: v.string() })
    const [strict, ofImage] = [rememberedQueries(shape), rememberedQueries(shape, true)]
    for (const unknown of ['v=2', 'v', '=', '__proto__=x', 'constructor=y', 'v=1&v=2', 'Key=b']) {
      for (const query of [`${unknown}&key=a`, `key=a&${unknown}`]) {
        for (let time = 0; time < 2; time++) {
          expect(() => strict(`/hit?${query}`)).toThrow(Problem)
          expect(ofImage(`/hit.gif?${query}`)).toEqual({ key: 'a' })
        }
      }
    }
    for (const malformed of ['v=%ff', '%ff=2', '%', 'v=%F0%9F&%E0%A4%A']) {
      expect(() => strict(`/hit?key=a&${malformed}`)).toThrow(Problem)
      expect(ofImage(`/hit.gif?key=a&${malformed}`)).toEqual({ key: 'a' })
    }
    for (const wrong of ['key=%ff', 'key=a&key=b&v=2', 'v=2', 'k%65y=%ff&v=2']) {
      expect(() => ofImage(`/hit.gif?${wrong}`)).toThrow(Problem)
    }
    expect(ofImage('/hit.gif?k%65y=a&v=2')).toEqual({ key: 'a' })
  })

  it('that are too many or too long to be remembered are still read', () => {
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 3_000; n++) expect(read(`?type=page_view&key=${n}`).key).toBe(String(n))
    }
    const long = 'x'.repeat(2_000)
    checks = 0
    for (let time = 0; time < 2; time++) expect(read(`?type=page_view&key=${long}`).key).toBe(long)
    expect(checks).toBe(2)
  })
})
