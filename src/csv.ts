type Cell = string | number | bigint | null

/** Puts an apostrophe before each formula, also before an escaped one: strangers make keys, and cells may split at ;, tab or |. */
export function escapeFormulas(text: string): string {
  return text.replace(/(?<=^|[;\t|])(?='*[=+\-@\t\r\n＝＋－＠])/g, "'")
}

/** Reverses `escapeFormulas`. */
export function unescapeFormulas(text: string): string {
  return text.replace(/(?<=^|[;\t|])'(?='*[=+\-@\t\r\n＝＋－＠])/g, '')
}

/** Writes rows as CSV (RFC 4180). Texts are quoted, so that readers keep their blanks, separators and line breaks. */
export function toCsv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(written).join(',')}\r\n`).join('')
}

function written(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell ?? '')
  return `"${escapeFormulas(cell).replaceAll('"', '""')}"`
}
