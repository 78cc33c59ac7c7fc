import fc from 'fast-check'
import { expect, it } from 'vitest'
import { drawChart, showDays } from '../../../src/views/chart-svg.ts'
import { parseSvg } from '../../harness/svg.ts'

const NOV_27 = Date.UTC(2026, 10, 27)
const starts = Array.from({ length: 30 }, (_, i) => NOV_27 - (29 - i) * 86_400_000)

it('Any counts and any unit make a well-formed drawing whose bars stay inside', () => {
  const count = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  fc.assert(
    fc.property(fc.array(count, { minLength: 30, maxLength: 30 }), fc.string({ maxLength: 30 }), (counts, unit) => {
      const printable = unit.replaceAll(/[\p{Cc}\uFFFE\uFFFF]/gu, '')
      const svg = drawChart({ of: { unit: printable, unitOne: null }, by: 'day', starts, counts, today: NOV_27 })
      const paths = parseSvg(svg).flatMap(({ attributes: { class: name = '', d = '' } }) =>
        /^[bn]$/.test(name) ? d : '',
      )
      for (const [, , y] of paths
        .slice(1)
        .join('')
        .matchAll(/(V)(-?[\d.]+)/g)) {
        expect(Number(y)).toBeGreaterThanOrEqual(47.9)
        expect(Number(y)).toBeLessThanOrEqual(172.1)
      }
      expect(svg).not.toContain('NaN')
    }),
  )
})

it('Days name their year once, unless it changes', () => {
  expect(showDays(Date.UTC(2026, 9, 29), NOV_27)).toBe('Oct 29 – Nov 27, 2026')
  expect(showDays(Date.UTC(2026, 0, 2), Date.UTC(2026, 0, 31))).toBe('Jan 2 – 31, 2026')
  expect(showDays(Date.UTC(2025, 11, 31), Date.UTC(2026, 0, 1))).toBe('Dec 31, 2025 – Jan 1, 2026')
})
