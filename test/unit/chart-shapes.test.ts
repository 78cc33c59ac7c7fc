import fc from 'fast-check'
import { expect, it } from 'vitest'
import { barPath, gridLines } from '../../src/chart-shapes.ts'

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

it('A bar is round at its end, downward if it is negative, and a narrow or flat one has no corners', () => {
  expect(barPath(10, 24, 190, 24.04)).toBe('M10 190V27Q10 24 13 24H31Q34 24 34 27V190z')
  expect(barPath(10, 24, 100, 150)).toBe('M10 100V147Q10 150 13 150H31Q34 150 34 147V100z')
  expect(barPath(10, 24, 190, 189)).toBe('M10 190V190Q10 189 11 189H33Q34 189 34 190V190z')
  expect(barPath(10, 3.3, 190, 24)).toBe('M10 190V24h3.3V190z')
  expect(barPath(10, 24, 190, 190)).toBe('M10 190V190h24V190z')
})
