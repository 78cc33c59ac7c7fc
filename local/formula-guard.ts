// Spreadsheets take cells that begin with these for formulas, also in their full-width forms, and keys come from strangers.
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/

/**
 * A text as a cell that no spreadsheet takes for a formula: with an apostrophe in front if it could. A text that is such a
 * cell already gets another one, so that nothing is lost.
 */
export function guardCell(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

/** The text that a cell stands for. */
export function unguardCell(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell
}
