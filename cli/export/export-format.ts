import { toCsv } from '../../src/csv.ts'

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
    header: toCsv([['type', 'key', 'count', 'day']]),
    rows: (rows) => toCsv(rows.map(({ type, key, count, day }) => [type, key, BigInt(count), day ?? null])),
  },
  json: {
    header: '',
    rows: (rows) => rows.map((row) => `${toJson(row)}\n`).join(''),
  },
} as const satisfies Record<string, ExportFormat>

function toJson({ type, key, count, day }: ExportedRow): string {
  return JSON.stringify({ type, key, count: JSON.rawJSON(count), ...(day !== undefined && { day }) })
}
