import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BADGE_STYLES,
  type Badge,
  COLOR_NAMES,
  drawBadge,
  isBadgeText,
  paintOf,
  parseColor,
  showCount,
} from '../../../src/views/badge.ts'
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

/** Contrast of two colors of six digits (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio). */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(luminance).sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: string): number {
  const digits = color.slice(1).length === 3 ? color.slice(1).replace(/./g, '$&$&') : color.slice(1)
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(digits.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

describe('a badge', () => {
  it('without a label has only its right half', () => {
    const elements = parseSvg(drawBadge(badge({ label: '' })))
    expect(new Set(elements.filter(({ name }) => name === 'text').map(({ text }) => text))).toEqual(new Set(['1,234']))
  })

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
        const loud = (said: string) => (told.style === 'for-the-badge' ? said.toUpperCase() : said)
        const said = told.label === '' ? loud(told.message) : `${loud(told.label)}: ${loud(told.message)}`
        expect(elements[0]).toMatchObject({ name: 'svg', attributes: { role: 'img', 'aria-label': said } })
        expect(elements.find(({ name }) => name === 'title')!.text).toBe(said)
        const known = ['svg', 'title', 'linearGradient', 'stop', 'mask', 'g', 'rect', 'text']
        expect(elements.filter(({ name }) => !known.includes(name))).toEqual([])
        const names = elements.flatMap(({ attributes }) => Object.keys(attributes))
        expect(names.filter((name) => /^on|href|^style$/i.test(name))).toEqual([])
      }),
      { numRuns: 5_000 },
    )
  })

  it('has a contrast of at least 4.5 to 1 in every color', () => {
    fc.assert(
      fc.property(color, color, fc.constantFrom(...BADGE_STYLES), (right, left, style) => {
        const told = { color: parseColor(right)!, labelColor: parseColor(left)!, style }
        const elements = parseSvg(drawBadge(badge({ ...told, label: 'LEFT', message: 'RIGHT' })))
        const opaque = elements.filter(({ attributes }) => !attributes.opacity)
        const [below, after] = opaque.filter(
          ({ name, attributes }) => name === 'rect' && /^#[\da-f]{6}$/.test(attributes.fill ?? ''),
        )
        const [leftText, rightText] = opaque.filter(({ name }) => name === 'text')
        expect([leftText?.text, rightText?.text]).toEqual(['LEFT', 'RIGHT'])
        expect(contrast(below!.attributes.fill!, leftText!.attributes.fill!)).toBeGreaterThanOrEqual(4.5)
        expect(contrast(after!.attributes.fill!, rightText!.attributes.fill!)).toBeGreaterThanOrEqual(4.5)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a color', () => {
  it.each(['blue', 'BLUE', 'f0f', '#F0F', '00ff7f', '#00FF7F'])('is %s', (text) => {
    expect(paintOf(parseColor(text)!)).toMatch(/^[\da-f]{6}$/)
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

  it('with enough contrast stays unchanged', () => {
    expect([paintOf('123456'), paintOf('ffffff'), paintOf('fc0')]).toEqual(['123456', 'ffffff', 'ffcc00'])
  })

  it('with too little contrast is darkened', () => {
    expect(paintOf('00ff00')).toMatch(/^00[5-9a-f].00$/)
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
    expect([showCount(count, { compact: false }), showCount(count, { compact: true })]).toEqual([exact, compact])
  })

  it('keeps all its digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }), (count) => {
        expect(BigInt(showCount(count, { compact: false }).replaceAll(',', ''))).toBe(count)
      }),
    )
  })

  it('is truncated, not rounded up', () => {
    const units: Record<string, bigint> = { '': 1n, k: 10n ** 3n, M: 10n ** 6n, B: 10n ** 9n, T: 10n ** 12n }
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (count) => {
        const [, whole = '', tenths = '0', unit = ''] = /^([\d,]+)(?:\.(\d))?([kMBT]?)$/.exec(
          showCount(count, { compact: true }),
        )!
        const shown = (BigInt(whole.replaceAll(',', '')) * 10n + BigInt(tenths)) * units[unit]!
        expect(shown <= count * 10n).toBe(true)
        expect(shown + units[unit]! > count * 10n).toBe(true)
      }),
    )
  })
})
