import { toCsv } from '../../src/csv.ts'
import { toJson } from '../../src/database/values.ts'

export interface ExportedRow {
  type: string
  key: string
  count: number | bigint
  day?: string
}

interface ExportFormat {
  header: string
  rows(rows: readonly ExportedRow[]): string
}

/** The formats. `npm run import` reads both. */
export const EXPORT_FORMATS: Record<'csv' | 'json', ExportFormat> = {
  csv: {
    header: toCsv([['type', 'key', 'count', 'day']]),
    rows: (rows) => toCsv(rows.map(({ type, key, count, day }) => [type, key, count, day ?? null])),
  },
  json: {
    header: '',
    rows: (rows) => rows.map(({ type, key, count, day }) => `${toJson({ type, key, count, day })}\n`).join(''),
  },
}
