import fc from 'fast-check'
import { expect, it } from 'vitest'
import { escapeFormula, unescapeFormula } from '../../../cli/formula-escaping.ts'

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
])('The text %j becomes the cell %j and back', (text, cell) => {
  expect(escapeFormula(text)).toBe(cell)
  expect(unescapeFormula(cell)).toBe(text)
})

it('No cell is a formula, and unescaping returns every text unchanged', () => {
  const text = fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', '＝', 'a', '1', ' ') })
  fc.assert(
    fc.property(text, (text) => {
      expect(escapeFormula(text)).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
      expect(unescapeFormula(escapeFormula(text))).toBe(text)
    }),
    { numRuns: 5_000 },
  )
})
