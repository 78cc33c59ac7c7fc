// Spreadsheets treat a cell that begins with one of these as a formula, full-width forms included. Keys come from strangers.
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/

/**
 * Escapes a text so that no spreadsheet treats it as a formula: it gets an apostrophe in front if necessary. A text that
 * already looks escaped gets another apostrophe, so that `unescapeFormula` returns every text unchanged.
 */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

/** Reverses `escapeFormula`. */
export function unescapeFormula(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell
}
