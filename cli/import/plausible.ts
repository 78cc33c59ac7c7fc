import { csvRecords } from './csv-records.ts'
import { DaySums } from './day-sums.ts'
import { decodeUtf8 } from './decode-utf8.ts'
import { type ImportRow, isDay } from './import-rows.ts'
import { LineError } from './line-error.ts'
import type { LeftOut, TakenOver } from './taken-over.ts'

const COLUMNS = ['date', 'page', 'pageviews']

/**
 * Reads the file `imported_pages_….csv` of Plausible's export, which has a row for each page and day. Days are those of the
 * site's time zone there.
 *
 * @throws {LineError} at the first row that is wrong
 */
export async function* readPlausible(
  chunks: AsyncIterable<Buffer>,
  { type, visitors, prefix }: TakenOver,
  leftOut: LeftOut,
): AsyncGenerator<ImportRow> {
  const sums = new DaySums()
  const skip = (reason: string, count = 1) => leftOut.set(reason, (leftOut.get(reason) ?? 0) + count)
  for await (const { line, cells } of csvRecords(decodeUtf8(unzipped(chunks)), columnsOf)) {
    const { date: day = '', page = '' } = cells
    const views = countOf(line, 'pageviews', cells.pageviews)
    const people = countOf(line, 'visitors', cells.visitors)
    if (!/^\d{4}-\d\d-\d\d$/.test(day)) throw new LineError(line, 'date must be a day such as 2026-11-01')
    // It may be tomorrow east of Greenwich.
    if (!isDay(day)) skip('rows in the future')
    else if (page === '') skip('rows without a page')
    else {
      const row = { line, key: prefix + page, day }
      sums.add({ ...row, type, count: views })
      if (visitors !== undefined) sums.add({ ...row, type: visitors, count: people })
      else if (people > 0n) skip('visitors (see --visitors)', Number(people))
    }
  }
  yield* sums.rows()
}

async function* unzipped(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isFirst = true
  for await (const chunk of chunks) {
    if (isFirst && chunk.toString('latin1', 0, 4) === 'PK\x03\x04') {
      throw new LineError(null, 'this is a zip file: unpack it, and import its file imported_pages_….csv')
    }
    isFirst = false
    yield chunk
  }
}

function columnsOf(header: string[]): string[] {
  const names = header.map((name) => name.trim().toLowerCase())
  if (COLUMNS.every((name) => names.includes(name))) return names
  throw new LineError(
    1,
    "the header must have date, page and pageviews, as imported_pages_….csv of Plausible's export has",
  )
}

function countOf(line: number, column: string, text = '0'): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new LineError(line, `${column} must be a whole number`)
  return BigInt(text)
}
