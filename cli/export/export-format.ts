import { stringify } from 'csv-stringify/sync'
import { escapeFormula } from '../formula-escaping.ts'

/** One row of an export. */
export interface ExportedRow {
  type: string
  key: string
  /** The digits of the count. */
  count: string
  day?: string
}

/** How rows are written. */
export interface ExportFormat {
  header: string
  rows(rows: readonly ExportedRow[]): string
}

/** The formats. `npm run import` reads both. */
export const EXPORT_FORMATS = {
  csv: {
    header: 'type,key,count,day\r\n',
    rows: (rows) =>
      stringify(
        rows.map(({ type, key, count, day }) => [type, escapeFormula(key), count, day ?? '']),
        // Readers keep leading and trailing blanks, and line breaks of any kind, only in quoted cells.
        { record_delimiter: '\r\n', quoted_match: /^\s|\s$|[\r\n]/ },
      ),
  },
  json: {
    header: '',
    rows: (rows) => rows.map((row) => `${toJson(row)}\n`).join(''),
  },
} as const satisfies Record<string, ExportFormat>

function toJson({ type, key, count, day }: ExportedRow): string {
  return JSON.stringify({ type, key, count: JSON.rawJSON(count), ...(day !== undefined && { day }) })
}
