import { makeBadge } from 'badge-maker'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BADGE_STYLES, COLOR_NAMES, drawBadge, parseColor } from '../../../src/views/badge.ts'
import { parseSvg, type SvgElement } from '../../harness/svg.ts'

interface Look {
  label: string
  message: string
  color: string
  labelColor: string
  style: (typeof BADGE_STYLES)[number]
}

/** https://www.w3.org/TR/css-color-4/#named-colors */
const CSS: Record<string, string> = { purple: '#800080', pink: '#ffc0cb', cyan: '#0ff', black: '#000' }

/** An attribute, which the elements around may have. */
function attribute(element: SvgElement | null, name: string): string | undefined {
  return element === null ? undefined : (element.attributes[name] ?? attribute(element.parent, name))
}

function isIn(element: SvgElement, name: string): boolean {
  return element.parent !== null && (element.parent.name === name || isIn(element.parent, name))
}

function paintOf(element: SvgElement): string | undefined {
  const fill = attribute(element, 'fill')
  return fill?.startsWith('url(') ? 'a gradient' : (CSS[fill ?? ''] ?? fill)
}

/** Everything that can be seen of a badge, in numbers. */
function figuresOf(source: string) {
  const elements = parseSvg(source)
  const all = (name: string) => elements.filter((element) => element.name === name)
  const { width, height } = elements[0]!.attributes
  const rects = all('rect').map((rect) => {
    const { x = '0', width, height, rx } = rect.attributes
    return isIn(rect, 'clipPath') ? { rx, width, height } : { x, width, height, fill: paintOf(rect) }
  })
  const isPainted = (element: SvgElement) => /^(rect|text)$/.test(element.name) && !isIn(element, 'clipPath')
  return {
    width,
    height,
    // Backgrounds are below the texts.
    layers: elements.filter(isPainted).flatMap(({ name }, i, all) => (name === all[i - 1]?.name ? [] : [name])),
    // shields.io draws an empty half where there is no label.
    rects: rects.filter(({ width }) => width !== '0'),
    edges: all('g').flatMap(({ attributes }) => attributes['shape-rendering'] ?? []),
    gradient: all('stop').map(({ attributes }) => ({ 'stop-color': '#000', ...attributes })),
    blur: all('feGaussianBlur').map(({ attributes }) => attributes),
    texts: all('text').map((text) => ({
      text: text.text,
      ...Object.fromEntries(['x', 'y', 'textLength', 'filter', 'fill-opacity'].map((at) => [at, text.attributes[at]])),
      fill: paintOf(text),
      ...Object.fromEntries(
        ['transform', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'text-rendering'].map((name) => [
          name,
          attribute(text, name),
        ]),
      ),
    })),
  }
}

const ours = (look: Look) =>
  figuresOf(drawBadge({ ...look, color: parseColor(look.color)!, labelColor: parseColor(look.labelColor)! }))
const theirs = ({ labelColor, ...look }: Look) =>
  figuresOf(makeBadge({ ...look, ...(look.label.trim() !== '' && { labelColor }) }))

const color = fc.oneof(fc.constantFrom(...COLOR_NAMES), fc.stringMatching(/^([\da-fA-F]{3}|[\da-fA-F]{6})$/))
const character = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
  fc.constantFrom(...'ÀÄÅÇÈÉÊËÍÎÑÒÓÕÖÙÚÜÝàâãäåçèéêëìíîïñòóôõöùúûüý', ...'ĄąĆćČčĘęĚěĞğİŃńŇňŐőŘřŚśŞşŠšŤůŰűŹźŻżŽž'),
)
const text = fc.string({ unit: character, minLength: 1, maxLength: 40 }).filter((text) => text.trim() !== '')

describe('A badge beside that of shields.io', () => {
  it.each(BADGE_STYLES)('has the same figures in the style %s', (style) => {
    for (const [label, message] of [
      ['views', '1,234'],
      ['downloads', '12.3k/month'],
      ['', '7'],
      ['Zähler <&>', '-9,223,372,036,854,775,808'],
    ] as const) {
      const look = { label, message, color: 'brightgreen', labelColor: 'grey', style }
      expect(ours(look)).toEqual(theirs(look))
    }
  })

  it('has the same figures for any text of Latin letters, in any color', () => {
    const look = fc.record({
      label: fc.oneof(fc.constant(''), text),
      message: text,
      color,
      labelColor: color,
      style: fc.constantFrom(...BADGE_STYLES),
    })
    fc.assert(
      fc.property(look, (look) => {
        expect(ours(look)).toEqual(theirs(look))
      }),
      { numRuns: 500 },
    )
  })

  it.each(COLOR_NAMES)('has the same color by the name %s', (name) => {
    const look = { label: 'views', message: '1', color: name, labelColor: name, style: 'flat' as const }
    expect(ours(look)).toEqual(theirs(look))
  })

  it.each([
    'просмотры',
    'ЗАГРУЗКИ ЗА НЕДЕЛЮ',
    'λήψεις',
    'ΠΡΟΒΟΛΕΣ',
    'Łódź',
    'Größe',
    'it’s 5 × €',
    '浏览量',
    'ダウンロード',
    '조회수',
  ])('is as wide within a tenth in other alphabets: %s', (label) => {
    const look = { label, message: '1', color: 'blue', labelColor: 'grey', style: 'flat' as const }
    const [own, wanted] = [ours(look), theirs(look)].map(({ width }) => Number(width))
    expect(Math.abs(own! - wanted!)).toBeLessThan(wanted! / 10)
  })
})
