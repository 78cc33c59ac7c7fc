import { dayOfTime } from './cell-values.ts'
import { readCsvRecords, requireColumns } from './csv-records.ts'
import { type DailyCounts, escapeDecoded } from './daily-counts.ts'
import type { InputText } from './input-text.ts'
import { LineError, type Mistakes } from './mistakes.ts'

const CHECK_HEADER = requireColumns(
  ['url_path', 'event_type', 'created_at'],
  "of Umami's files, pass only website_event.csv",
)
/** `EVENT_TYPE.pageView` of Umami (`src/lib/constants.ts`). */
const PAGE_VIEW = '1'

/**
 * Reads `website_event.csv` of an Umami export, or that table of its database as CSV: a row for each page view and event.
 * Umami decodes paths (`src/app/api/send/route.ts`) and stores their query in another column, but keeps the fragment.
 */
export async function readUmamiExport({ pieces }: InputText, counts: DailyCounts, mistakes: Mistakes) {
  for await (const { line, cells } of readCsvRecords(pieces, CHECK_HEADER, mistakes)) {
    mistakes.try(() => {
      const { url_path: path, event_type: type, hostname: host } = cells
      if (!/^\d$/.test(type!)) throw new LineError(line, 'event_type must be a digit')
      const day = dayOfTime(line, 'created_at', cells.created_at)
      if (type !== PAGE_VIEW) counts.leaveOut('events')
      // ClickHouse writes NULL like this.
      else counts.addPath(line, path === '\\N' ? '' : escapeDecoded(path!), 1n, day, host === '\\N' ? '' : host)
    })
  }
}
