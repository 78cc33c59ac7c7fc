import fc from 'fast-check'
import { expect, it } from 'vitest'
import { guardCell, unguardCell } from '../../local/formula-guard.ts'

it.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', "'\r=1"],
  ['\n=1', "'\n=1"],
  ['＝1', "'＝1"],
  ["'=1", "''=1"],
  ["'quoted'", "'quoted'"],
  ["'", "'"],
  ['/a=b', '/a=b'],
  ['', ''],
])('the text %j is the cell %j, and the other way round', (text, cell) => {
  expect(guardCell(text)).toBe(cell)
  expect(unguardCell(cell)).toBe(text)
})

it('no cell is a formula, and no text is changed by the way there and back', () => {
  const text = fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', '＝', 'a', '1', ' ') })
  fc.assert(
    fc.property(text, (text) => {
      expect(guardCell(text)).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
      expect(unguardCell(guardCell(text))).toBe(text)
    }),
    { numRuns: 5_000 },
  )
})
