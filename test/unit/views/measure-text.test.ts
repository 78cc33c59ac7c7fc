import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measureText } from '../../../src/views/badge.ts'

const widthOf = (text: string) => measureText(text, 11).width
const JOINED = [
  '👩‍👩‍👧‍👦',
  '👩🏽‍🚀',
  '👍🏿',
  '🏳️‍🌈',
  '❤️',
  '❤️‍🔥',
  '🇳🇵',
  '🇺🇳',
  '🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}',
  '1️⃣',
  '#️⃣',
  '🐻‍❄️',
]

describe('The measured width', () => {
  it.each(JOINED)('of a joined emoji is that of one emoji: %s', (joined) => {
    expect(measureText(joined, 11)).toEqual({ ...measureText('😀', 11), isExact: false })
  })

  it('of several emoji is the sum of theirs', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...JOINED, '😀', '⚡'), { minLength: 1, maxLength: 20 }), (list) => {
        // Between them a letter: two flags side by side are letters that could be joined otherwise.
        const { width, characters } = measureText(list.join('x'), 11)
        expect(characters).toBe(2 * list.length - 1)
        expect(width).toBeCloseTo(list.length * widthOf('😀') + (list.length - 1) * widthOf('x'))
      }),
    )
  })

  it.each([
    ['é', 'e\u0301'],
    ['ệ', 'e\u0323\u0302'],
    ['한', '\u1112\u1161\u11AB'],
    ['が', 'か\u3099'],
  ])('is the same however a letter is encoded: %s', (one, parts) => {
    expect(measureText(parts, 11)).toEqual(measureText(one, 11))
  })

  it.each([
    ['Devanagari', 'कि', 'क', 2],
    ['Devanagari, above and below', 'र्ें', 'र', 1],
    ['Devanagari, joined by a virama', 'न्', 'न', 1],
    ['Thai, a vowel and a tone mark above', 'ที่', 'ท', 1],
    ['Thai, a vowel below', 'กู้', 'ก', 1],
    ['Arabic, vowel marks', 'مُّ', 'م', 1],
    ['Hebrew, points', 'שּׁ', 'ש', 1],
    ['Latin, ten marks', `a${'\u0301'.repeat(10)}`, 'a', 1],
  ])('counts only marks that take room: %s', (_, text, letter, times) => {
    expect(measureText(text, 11).characters).toBe(1)
    expect(widthOf(text)).toBeCloseTo(times * widthOf(letter))
  })

  it.each(['\u200B', '\u200D', '\u202E', '\u2066', '\uFEFF', '\u00AD'])('of %j is nothing', (invisible) => {
    expect(widthOf(`a${invisible}b`)).toBe(widthOf('ab'))
  })

  it('is an estimate unless every letter is in the table', () => {
    const exact = ['views', '', ' ~', 'ÀÉîõü', 'e\u0301', 'Tiếng Việt']
    const estimated = ['просмотры', 'Ελ', '浏', '😀', 'ไทย', 'हिन्दी', 'ß', 'a😀', 'Łódź']
    expect([...exact, ...estimated].filter((text) => measureText(text, 11).isExact)).toEqual(exact)
  })

  it('is that of bold letters, and grows with the size', () => {
    expect(measureText('m', 10, true).width).toBe(10.58)
    expect(measureText('m', 11).width).toBe(10.7)
    expect(measureText('просмотры', 10, true).width).toBeGreaterThan(measureText('просмотры', 10).width)
  })

  it('is finite and not negative for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        expect(widthOf(text)).toBeGreaterThanOrEqual(0)
        expect(widthOf(text)).toBeLessThan(80 * 30)
      }),
    )
  })
})
