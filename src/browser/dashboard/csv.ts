type Cell = string | number | bigint | null

// What begins a formula in a spreadsheet, after any number of apostrophes. Keys come from strangers. Some spreadsheets split
// cells at a semicolon, a tab or a bar too.
const CELL = '(?<=^|[;\\t|])'
const FORMULA = "(?='*[=+\\-@\\t\\r\\n＝＋－＠])"
const UNESCAPED = new RegExp(CELL + FORMULA, 'g')
const ESCAPED = new RegExp(`${CELL}'${FORMULA}`, 'g')

/** Puts an apostrophe before each formula, also before an escaped one, so that `unescapeFormulas` restores every text. */
export function escapeFormulas(text: string): string {
  return text.replace(UNESCAPED, "'")
}

/** Reverses `escapeFormulas`. */
export function unescapeFormulas(text: string): string {
  return text.replace(ESCAPED, '')
}

/** Writes rows as CSV (RFC 4180). Texts are quoted, so that readers keep their blanks, separators and line breaks. */
export function toCsv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(written).join(',')}\r\n`).join('')
}

function written(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell ?? '')
  return `"${escapeFormulas(cell).replaceAll('"', '""')}"`
}
