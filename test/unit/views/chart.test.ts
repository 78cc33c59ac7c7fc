import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { axisLabels, drawChartImage, gridLines } from '../../../src/views/chart.ts'
import { parseSvg } from '../../harness/svg.ts'

const TODAY = '2026-11-27'
const DAY_MS = 86_400_000
const daysBack = (days: number) => new Date(Date.parse(TODAY) - days * DAY_MS).toISOString()
const units = (count: number, startOf = daysBack) =>
  Array.from({ length: count }, (_, index) => ({ start: startOf(count - 1 - index) }))

it('Any counts and any unit make a well-formed drawing whose bars stay inside', () => {
  const count = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  fc.assert(
    fc.property(fc.array(count, { minLength: 30, maxLength: 30 }), fc.string({ maxLength: 30 }), (counts, unit) => {
      const printable = unit.replaceAll(/[\p{Cc}\uFFFE\uFFFF]/gu, '')
      const points = units(30).map((point, index) => ({ ...point, count: counts[index]! }))
      const svg = drawChartImage({ unit: printable, unitOne: null }, { by: 'day', points }, TODAY)
      const bars = parseSvg(svg).find(({ attributes }) => attributes.class === 'bars')?.attributes.d ?? ''
      for (const [, y] of bars.matchAll(/V(-?[\d.]+)/g)) {
        expect(Number(y)).toBeGreaterThanOrEqual(4)
        expect(Number(y)).toBeLessThanOrEqual(87.5)
      }
      expect(svg).not.toMatch(/NaN|Infinity/)
    }),
  )
})

describe('The labels of the axis', () => {
  const monthsBack = (months: number) => new Date(Date.UTC(2026, 10 - months, 1)).toISOString()
  const hoursOf = (hours: number) => new Date(Date.parse(TODAY) + (23 - hours) * 3_600_000).toISOString()
  const texts = (all: ReturnType<typeof axisLabels>) => all.map(({ text }) => text)

  it('are hours, each day of a week, the Mondays of a month, and months with the year in the place of January', () => {
    expect(texts(axisLabels(units(24, hoursOf), 'hour'))[1]).toBe('02:00')
    expect(texts(axisLabels(units(7), 'day')).slice(0, 2)).toEqual(['21 Nov', '22 Nov'])
    expect(texts(axisLabels(units(30), 'day'))).toEqual(['2 Nov', '9 Nov', '16 Nov', '23 Nov'])
    expect(texts(axisLabels(units(12, monthsBack), 'month')).slice(0, 4)).toEqual(['Dec', '2026', 'Feb', 'Mar'])
  })

  it('never collide, even on the narrowest phone, however many units there are', () => {
    const kinds = [
      ['hour', hoursOf, 25],
      ['day', daysBack, 999],
      ['week', (weeks: number) => daysBack(7 * weeks), 142],
      ['month', monthsBack, 240],
    ] as const
    for (const [by, startOf, most] of kinds) {
      for (let count = 1; count <= most; count++) {
        const all = axisLabels(units(count, startOf), by)
        for (const [width, shown] of [
          [620, all],
          [228, all.filter(({ isWide }) => !isWide)],
        ] as const) {
          for (const [nth, { index, text }] of shown.entries()) {
            const next = shown[nth + 1]
            if (next === undefined) continue
            const between = ((next.index - index) / count) * width
            const needed = ((text.length + next.text.length) / 2) * 7
            expect(between, `${count} by ${by} at ${width}: ${text}, ${next.text}`).toBeGreaterThanOrEqual(needed)
          }
        }
      }
    }
  })
})

it.each([
  [0, 11_650, [0, 4_000, 8_000, 12_000]],
  [0, 1_000, [0, 250, 500, 750, 1_000]],
  [0, 7, [0, 2, 4, 6, 8]],
  [0, 0, [0, 1]],
  [5, 5, [0, 2, 4, 6]],
  [-7, 3, [-8, -4, 0, 4]],
  [-7, -3, [-8, -6, -4, -2, 0, 2]],
  [0, 2 ** 63, [0, 2.5e18, 5e18, 7.5e18, 1e19]],
])('Grid lines of %s to %s are round and enclose them and zero', (least, most, lines) => {
  expect(gridLines(least, most)).toEqual(lines)
})

it('Any counts have few whole grid lines, at even distances', () => {
  const count = fc.integer({ min: -(2 ** 53), max: 2 ** 53 })
  fc.assert(
    fc.property(count, count, (a, b) => {
      const [least, most] = [Math.min(a, b), Math.max(a, b)]
      const lines = gridLines(least, most)
      expect(lines[0]).toBeLessThanOrEqual(Math.min(0, least))
      expect(lines.at(-1)).toBeGreaterThanOrEqual(Math.max(0, most))
      expect(lines).toContain(0)
      expect(lines.length).toBeLessThanOrEqual(6)
      expect(lines.every(Number.isInteger)).toBe(true)
    }),
  )
})
