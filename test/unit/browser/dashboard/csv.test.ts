import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { escapeFormula } from '../../../../cli/formula-escaping.ts'
import { toCsv } from '../../../../src/browser/dashboard/csv.ts'

it('Every text and every count comes back from a CSV file, and no text is a formula', () => {
  const text = fc.string({
    unit: fc.constantFrom("'", '"', ',', '=', '+', '-', '@', '\t', '\r', '\n', '＝', 'é', 'a', ' '),
  })
  fc.assert(
    fc.property(text, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }), (key, count) => {
      const csv = toCsv([
        ['key', 'count', 'before'],
        [`/${key}`, String(count), null],
        [key, count, 0],
      ])
      const rows = parse(csv, { record_delimiter: '\r\n', relax_column_count: false }) as string[][]
      expect(rows).toEqual([
        ['key', 'count', 'before'],
        [`/${key}`, String(count), ''],
        [escapeFormula(key), String(count), '0'],
      ])
    }),
  )
})
