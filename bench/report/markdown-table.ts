/** A table in Markdown, and a line break. */
export function renderTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return `${[line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n')}\n`
}
