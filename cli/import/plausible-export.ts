import { countOf, dayOf } from './cell-values.ts'
import { readCsvRecords, requireColumns } from './csv-records.ts'
import { type DailyCounts, escapeDecoded } from './daily-counts.ts'
import type { InputText } from './input-text.ts'
import type { Mistakes } from './mistakes.ts'

const CHECK_HEADER = requireColumns(
  ['date', 'page', 'pageviews'],
  "of Plausible's files, pass only imported_pages_….csv",
)

/**
 * Reads `imported_pages_….csv` of a Plausible export: the page views of each page and day. Plausible decodes paths
 * (`lib/plausible/ingestion/request.ex`).
 */
export async function readPlausibleExport({ pieces }: InputText, counts: DailyCounts, mistakes: Mistakes) {
  for await (const { line, cells } of readCsvRecords(pieces, CHECK_HEADER, mistakes)) {
    mistakes.try(() => {
      const day = dayOf(line, 'date', cells.date)
      const count = countOf(line, 'pageviews', cells.pageviews)
      counts.addPath(line, escapeDecoded(cells.page!), count, day, cells.hostname)
    })
  }
}
