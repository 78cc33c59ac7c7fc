import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { visibleKey } from '../../src/visible-key.ts'

describe('A key that people are shown', () => {
  it.each([
    ['an override of direction', 'a\u202Egpj.exe', 'a\\u{202E}gpj.exe'],
    ['embeddings', '\u202A\u202B\u202C\u202D', '\\u{202A}\\u{202B}\\u{202C}\\u{202D}'],
    ['isolates', '\u2066a\u2069\u2067\u2068', '\\u{2066}a\\u{2069}\\u{2067}\\u{2068}'],
    ['marks of direction', 'a\u200E\u200F\u061C', 'a\\u{200E}\\u{200F}\\u{61C}'],
    ['zero width', 'a\u200Bb\u2060\uFEFF', 'a\\u{200B}b\\u{2060}\\u{FEFF}'],
    ['joiners between Latin letters', 'a\u200Db\u200Cc', 'a\\u{200D}b\\u{200C}c'],
    ['joiners between letters that do not join', '日\u200D本א\u200Cבไ\u200Dท', '日\\u{200D}本א\\u{200C}בไ\\u{200D}ท'],
    ['a joiner at an end', 'क्\u200D', 'क्\\u{200D}'],
    ['a mark of direction between letters that join', 'م\u061Cم', 'م\\u{61C}م'],
    ['a soft hyphen', 'a\u00ADb', 'a\\u{AD}b'],
    ['a variation selector of no emoji', 'a\uFE0Fb', 'a\\u{FE0F}b'],
    ['tags of no flag', 'a\u{E0061}\u{E007F}', 'a\\u{E0061}\\u{E007F}'],
    ['fillers', '\u3164\u115F\uFFA0\u2800', '\\u{3164}\\u{115F}\\u{FFA0}\\u{2800}'],
    ['an invisible mark between letters that join', 'न\u034Fन', 'न\\u{34F}न'],
    ['tabs and line breaks', '\ta\r\nb\u2028\u2029\u0085', '\\u{9}a\\u{D}\\u{A}b\\u{2028}\\u{2029}\\u{85}'],
    ['an escape of terminals', '\u001B[31mred\u009B0m', '\\u{1B}[31mred\\u{9B}0m'],
    ['other blanks', 'a\u00A0b\u2003c\u3000d', 'a\\u{A0}b\\u{2003}c\\u{3000}d'],
    ['blanks at the ends', ' a b ', '\\u{20}a b\\u{20}'],
    ['blanks in a row', 'a   b', 'a\\u{20}\\u{20} b'],
    ['only blanks', '  ', '\\u{20}\\u{20}'],
    ['nothing', '', '(empty)'],
  ])('has its invisible characters spelled: %s', (_, key, shown) => {
    expect(visibleKey(key)).toBe(shown)
  })

  it.each([
    '/blog/hello world',
    '/日本語/ページ',
    'שלום/مرحبا',
    'می‌خواهم/مُ‌م',
    'क्‍ष/न्‌न/श्री',
    'ശ്രീ/ന്‍റെ',
    'ไทย/ที่นี่',
    '👩‍👩‍👧‍👦/🏳️‍🌈/👍🏽/❤️/❤️‍🔥/🇳🇵/1️⃣',
    '🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}',
    'e\u0301/Tiếng Việt/한국어',
    '<b>&amp;\\u{20}"\'',
  ])('is as it is if all of it can be seen: %s', (key) => {
    expect(visibleKey(key)).toBe(key)
  })

  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom(...' ab\\न\u094D\u200C\u200D\u202E\uFE0F\u0301', '👩', '🏽', '🏴', '\u{E007F}'),
    }),
  )

  it('can be read back', () => {
    fc.assert(
      fc.property(
        anything.filter((key) => key !== '' && !key.includes('\\')),
        (key) => {
          const read = visibleKey(key).replace(/\\u\{(\w+)\}/g, (_, digits) => {
            return String.fromCodePoint(Number.parseInt(digits, 16))
          })
          expect(read).toBe(key)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('has no character that moves or hides another one, and no blank at an end', () => {
    fc.assert(
      fc.property(anything, (key) => {
        expect(visibleKey(key)).not.toMatch(/[\p{Cc}\p{Bidi_C}\u200B\u2060\uFEFF\u00AD]|^\s|\s$|\s\s/u)
      }),
      { numRuns: 2_000 },
    )
  })
})
