import { readView } from './address.ts'
import { toCsv } from './csv.ts'
import { byId, element, startWork } from './elements.ts'
import { showCount } from './formats.ts'
import type { Count, TypeNumbers } from './numbers-answer.ts'

/** The most rows of a file. */
const MAX_ROWS = 1_000

/** Starts the button that saves the list of counters, with more rows than the page has. */
export function startListCsv(name: string, ask: (rows: number) => Promise<TypeNumbers>): void {
  startWork(byId<HTMLButtonElement>('list-csv'), 'list-csv-message', async (say) => {
    say('Reading …')
    const { list, chart } = await ask(MAX_ROWS)
    const { counters, more } = list
    const hasVisitors = counters.some(({ also }) => also !== undefined)
    const fields = (['count', 'also', 'compared', 'before'] as const).filter((field) => hasVisitors || field !== 'also')
    saveCsv(
      `${name}-${readView().find || 'keys'}-${chart.first}-${chart.last}`,
      ['key', ...fields.map((field) => (field === 'also' ? 'visitors' : field))],
      counters.map((counter) => [counter.key, ...fields.map((field) => counter[field])]),
    )
    const rows = showCount(counters.length)
    return more ? `Saved the first ${rows} rows.` : `Rows saved: ${rows}.`
  })
}

/** Saves rows as a file: a text and counts each. */
export function saveCsv(
  name: string,
  columns: readonly string[],
  rows: readonly (readonly [text: string, ...counts: (Count | null | undefined)[]])[],
): void {
  // Counts beyond 2^53 are strings of digits.
  const exactly = (count: Count | null = null) => (typeof count === 'string' ? BigInt(count) : count)
  const csv = toCsv([columns, ...rows.map(([text, ...counts]) => [text, ...counts.map((count) => exactly(count))])])
  // Spreadsheets read UTF-8 only with a byte order mark.
  const url = URL.createObjectURL(new Blob(['\ufeff', csv], { type: 'text/csv;charset=utf-8' }))
  const file = `${name.replaceAll(/[^\p{L}\p{N}_.]+/gu, '-').slice(0, 100)}.csv`
  element('a', { href: url, download: file }).click()
  // The browser has taken the file by the next task.
  setTimeout(() => URL.revokeObjectURL(url))
}
