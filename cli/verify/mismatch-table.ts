import { visibleKey } from '../../src/visible-key.ts'

/** A mismatch as `POST /v1/verify` reports it. */
export interface Mismatch {
  type: string | null
  recordType: number
  key: string | null
  recordId: string | null
  what: string
  start: string | null
  is: number | bigint
  shouldBe: number | bigint
  difference: number | bigint
}

/** The meaning of each kind of mismatch. */
const MEANINGS: Record<string, string> = {
  total: 'the total; should be the sum of its days and adjustments',
  hours: 'the hours of this day; should sum to the day',
  week: 'this week; should be the sum of its days',
  month: 'this month; should be the sum of its days',
  day: 'this day of the type; should be the sum of its counters',
  hour: 'this hour of the type; should be the sum of its counters',
  adjustments: 'the adjustments of the type; should be the sum of those of its counters',
}

/** A table of mismatches, and below it the meaning of their kinds. */
export function mismatchTable(rows: readonly Mismatch[]): string {
  const header = ['type', 'key', 'what', 'when', 'is', 'should be', 'by']
  const cells = rows.map((row) => [
    row.type ?? `record_type ${row.recordType}`,
    row.recordId === null ? '(all)' : printable(row.key ?? `record_id ${row.recordId}`),
    row.what,
    row.start ?? '',
    String(row.is),
    String(row.shouldBe),
    row.difference > 0 ? `+${row.difference}` : String(row.difference),
  ])
  const widths = header.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]!.length)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column < 4 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd()
  const kinds = [...new Set(rows.map(({ what }) => what))]
  return [
    line(header),
    ...cells.map(line),
    '',
    ...kinds.map((what) => `${what.padEnd(6)} ${MEANINGS[what] ?? ''}`.trimEnd()),
  ].join('\n')
}

/** Cuts long keys. */
function printable(key: string): string {
  const text = visibleKey(key)
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
