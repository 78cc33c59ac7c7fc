import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BADGE_STYLES,
  type Badge,
  COLOR_NAMES,
  drawBadge,
  isBadgeText,
  parseColor,
  showCompact,
} from '../../../src/views/badge.ts'
import { showCount } from '../../../src/views/english.ts'
import { parseSvg } from '../../harness/svg.ts'

const badge = (more: Partial<Badge> = {}): Badge => ({
  label: 'page view',
  message: '1,234',
  color: 'blue',
  labelColor: 'grey',
  style: 'flat',
  ...more,
})

const color = fc.oneof(fc.constantFrom(...COLOR_NAMES), fc.stringMatching(/^#?([\da-fA-F]{3}|[\da-fA-F]{6})$/))
const hostile = fc.constantFrom(
  '</text><script>alert(1)</script>',
  '"><image href="https://evil.example/x"/>',
  "' onload='alert(1)",
  '<![CDATA[',
  ']]>',
  '&#0;&lol;&amp;',
  '<!DOCTYPE x [<!ENTITY a "b">]>',
  '\u202Eevil',
  '👩‍👩‍👧',
  'ß\u0300ŉ',
)
const text = fc
  .oneof(fc.string({ unit: 'binary', maxLength: 80 }), fc.string({ unit: 'grapheme', maxLength: 40 }), hostile)
  .filter(isBadgeText)

describe('a badge', () => {
  it('without a label has only its right half', () => {
    const elements = parseSvg(drawBadge(badge({ label: '' })))
    expect(new Set(elements.filter(({ name }) => name === 'text').map(({ text }) => text))).toEqual(new Set(['1,234']))
  })

  it('has no left half for a label of blanks', () => {
    expect(drawBadge(badge({ label: ' \u3000' }))).toBe(drawBadge(badge({ label: '' })))
  })

  it.each(['مشاهدات', 'צפיות', 'просмотры', 'λήψεις', '👩‍👩‍👧‍👦 👍🏽', 'हिन्दी', 'ที่นี่'])(
    'draws letters that may belong together as closely as text alone, without a length of its own: %s',
    (label) => {
      for (const style of BADGE_STYLES) {
        const texts = parseSvg(drawBadge(badge({ label, style }))).filter(({ name }) => name === 'text')
        const spaced = texts.filter(({ attributes }) => attributes.textLength !== undefined)
        expect(new Set(spaced.map(({ text }) => text))).toEqual(new Set(['1,234']))
      }
    },
  )

  it('is well-formed and contains its texts, for screen readers too, and nothing else, for any texts', () => {
    const badges = fc.record({
      label: text,
      message: text,
      color,
      labelColor: color,
      style: fc.constantFrom(...BADGE_STYLES),
    })
    fc.assert(
      fc.property(badges, (told) => {
        const given = { ...told, color: parseColor(told.color)!, labelColor: parseColor(told.labelColor)! }
        const elements = parseSvg(drawBadge(given))
        const shown = (said: string) => (told.style === 'for-the-badge' ? said.trim().toUpperCase() : said.trim())
        const said = [told.label, told.message]
          .map(shown)
          .filter((part, index) => part !== '' || index === 1)
          .join(': ')
        expect(elements[0]).toMatchObject({ name: 'svg', attributes: { role: 'img', 'aria-label': said } })
        expect(elements.find(({ name }) => name === 'title')!.text).toBe(said)
        const known = 'svg title filter feGaussianBlur linearGradient stop clipPath g rect text'.split(' ')
        expect(elements.filter(({ name }) => !known.includes(name))).toEqual([])
        const names = elements.flatMap(({ attributes }) => Object.keys(attributes))
        expect(names.filter((name) => /^on|href|^style$/i.test(name))).toEqual([])
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a color', () => {
  it.each(['blue', 'BLUE', 'f0f', '#F0F', '00ff7f', '#00FF7F'])('is %s', (text) => {
    const svg = drawBadge(badge({ label: '', color: parseColor(text)! }))
    expect(svg).toMatch(/<rect x="0" [^>]* fill="#([\da-f]{3}|[\da-f]{6})"/)
  })

  it.each([
    '',
    '#',
    'ff',
    'ffff',
    '12345g',
    '##fff',
    'blue ',
    'constructor',
    '__proto__',
    'url(#a)',
    'rgb(1,2,3)',
    'fff"',
  ])('is not %j', (text) => {
    expect(parseColor(text)).toBeUndefined()
  })
})

describe('text for a badge', () => {
  it.each(['\0', '\n', '\t', '\x7F', '\x85', '\uD800', '\uFFFE', '\uFFFF', 'x'.repeat(81), '😀'.repeat(81)])(
    'is not %j',
    (text) => {
      expect(isBadgeText(text)).toBe(false)
    },
  )

  it.each(['', 'x'.repeat(80), '😀'.repeat(80), '<&>"\''])('is %j', (text) => {
    expect(isBadgeText(text)).toBe(true)
  })
})

describe('a count on a badge', () => {
  it.each([
    [0n, '0', '0'],
    [-5n, '-5', '-5'],
    [999n, '999', '999'],
    [1_234n, '1,234', '1.2k'],
    [999_999n, '999,999', '999.9k'],
    [3_456_789n, '3,456,789', '3.4M'],
    [2_000_000_000n, '2,000,000,000', '2B'],
    [2n ** 63n - 1n, '9,223,372,036,854,775,807', '9,223,372T'],
  ])('of %i is shown as %s, or compact as %s', (count, exact, compact) => {
    expect([showCount(count), showCompact(count)]).toEqual([exact, compact])
  })

  it('keeps all its digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }), (count) => {
        expect(BigInt(showCount(count).replaceAll(',', ''))).toBe(count)
      }),
    )
  })

  it('is truncated, not rounded up', () => {
    const units: Record<string, bigint> = { '': 1n, k: 10n ** 3n, M: 10n ** 6n, B: 10n ** 9n, T: 10n ** 12n }
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (count) => {
        const [, whole = '', tenths = '0', unit = ''] = /^([\d,]+)(?:\.(\d))?([kMBT]?)$/.exec(showCompact(count))!
        const shown = (BigInt(whole.replaceAll(',', '')) * 10n + BigInt(tenths)) * units[unit]!
        expect(shown <= count * 10n).toBe(true)
        expect(shown + units[unit]! > count * 10n).toBe(true)
      }),
    )
  })
})
