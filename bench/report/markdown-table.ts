/** A table in Markdown, and a line break. */
export function renderTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return `${[line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n')}\n`
}

/** A table without columns that have a dash in every row: they were not measured. */
export function withoutEmptyColumns(headings: string[], rows: string[][]): { headings: string[]; rows: string[][] } {
  const isKept = (_: string, column: number) => rows.some((row) => row[column] !== '–')
  return { headings: headings.filter(isKept), rows: rows.map((row) => row.filter(isKept)) }
}
