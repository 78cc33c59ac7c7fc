import type { Count } from './exact-json.ts'

/** What spreadsheets take for the beginning of a formula, after any number of apostrophes. As in files of the export command. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/

/**
 * Writes rows as CSV (RFC 4180). Texts come from strangers: one that a spreadsheet would run gets an apostrophe in front.
 *
 * @param rows the first one has the names of the columns
 */
export function toCsv(rows: readonly (readonly (Count | bigint | null)[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

function cell(value: Count | bigint | null): string {
  if (value === null) return ''
  // A count beyond 2^53 is a string of digits.
  if (typeof value !== 'string' || /^-?\d+$/.test(value)) return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
