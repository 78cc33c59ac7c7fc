/** What a cell may hold: a text, a number, or nothing. */
export type Cell = string | number | bigint | null

/**
 * Where a cell begins that a spreadsheet would take for a formula, after any number of apostrophes, full-width signs included.
 * Keys come from strangers. A cell also begins behind a semicolon, a tab or a bar, to a spreadsheet that splits at those.
 */
const CELL = '(?<=^|[;\\t|])'
const FORMULA = "(?='*[=+\\-@\\t\\r\\n＝＋－＠])"
const UNESCAPED = new RegExp(CELL + FORMULA, 'g')
const ESCAPED = new RegExp(`${CELL}'${FORMULA}`, 'g')

/**
 * Escapes a text so that no spreadsheet runs a part of it as a formula: each gets an apostrophe in front. A part that already looks
 * escaped gets another one, so that `unescapeFormulas` returns every text unchanged.
 */
export function escapeFormulas(text: string): string {
  return text.replace(UNESCAPED, "'")
}

/** Reverses `escapeFormulas`. */
export function unescapeFormulas(text: string): string {
  return text.replace(ESCAPED, '')
}

/** Writes rows as CSV (RFC 4180). All texts are quoted: readers then keep blanks, separators and line breaks of any kind in them. */
export function toCsv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(written).join(',')}\r\n`).join('')
}

function written(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell ?? '')
  return `"${escapeFormulas(cell).replaceAll('"', '""')}"`
}
