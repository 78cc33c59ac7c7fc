import { readCsvRecords } from './csv-records.ts'
import type { DailyCounts } from './daily-counts.ts'
import { decodeText } from './decoded-text.ts'
import { isCount, isDay } from './import-row.ts'
import { LineError } from './line-error.ts'
import { detectFormat } from './text-format.ts'

const UNZIP = "pass the pages in it: unzip -p FILE.zip '*imported_pages*' | … --from plausible -"
const COLUMNS = ['date', 'page', 'pageviews']

/**
 * Reads `imported_pages_….csv` of a Plausible export: the page views of each page and day.
 *
 * @throws {LineError} at the first row that is wrong
 */
export async function readPlausibleExport(chunks: AsyncIterable<Buffer>, counts: DailyCounts): Promise<void> {
  const text = await detectFormat(decodeText(chunks, UNZIP))
  if (text === null) return
  for await (const { line, cells } of readCsvRecords(text.texts, checkHeader)) {
    const { date = '', page = '', pageviews = '' } = cells
    if (!isDay(date)) {
      throw new LineError(line, 'date must be a day from 1970-01-01 to today (UTC), such as "2026-11-01"')
    }
    const count = /^\d{1,19}$/.test(pageviews) ? BigInt(pageviews) : null
    if (count === null || !isCount(count)) throw new LineError(line, 'pageviews must be a whole number within 64 bits')
    counts.add(line, 'page', page, count, date)
  }
}

function checkHeader(header: string[]): string[] {
  const wrong = COLUMNS.some((name) => header.indexOf(name) === -1 || header.indexOf(name) !== header.lastIndexOf(name))
  if (!wrong) return header
  throw new LineError(
    1,
    `the header must have the columns ${COLUMNS.join(', ')}; of Plausible's files, pass imported_pages_….csv alone`,
  )
}
