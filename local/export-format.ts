import { stringify } from 'csv-stringify/sync'
import { guardCell } from './formula-guard.ts'

/** One row of an export. */
export interface ExportedRow {
  type: string
  key: string
  /** Its digits. */
  count: string
  day?: string
}

/** How rows are written, some at a time. */
export interface ExportFormat {
  begin: string
  /** @param isFirst whether nothing was written before these */
  rows(rows: readonly ExportedRow[], isFirst: boolean): string
  end: string
}

/** The formats, each of which `npm run import` takes. */
export const EXPORT_FORMATS = {
  csv: {
    begin: 'type,key,count,day\r\n',
    rows: (rows) =>
      stringify(
        rows.map(({ type, key, count, day }) => [type, guardCell(key), count, day ?? '']),
        // Blanks at the ends and line breaks of any kind are kept by whoever sees quotation marks.
        { record_delimiter: '\r\n', quoted_match: /^\s|\s$|[\r\n]/ },
      ),
    end: '',
  },
  json: {
    begin: '[\n',
    rows: (rows, isFirst) => rows.map((row, i) => `${isFirst && i === 0 ? '' : ',\n'}${jsonOf(row)}`).join(''),
    end: '\n]\n',
  },
} as const satisfies Record<string, ExportFormat>

function jsonOf({ type, key, count, day }: ExportedRow): string {
  return JSON.stringify({ type, key, count: JSON.rawJSON(count), ...(day !== undefined && { day }) })
}
