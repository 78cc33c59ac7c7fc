import { readView } from './address.ts'
import { messageOf } from './api-error.ts'
import { counted, has } from './chart-table.ts'
import type { Count } from './counts.ts'
import { showCount } from './counts.ts'
import { type Cell, toCsv } from './csv.ts'
import { byId, element } from './elements.ts'
import { setText } from './figures.ts'
import type { ChartNumbers, TypeNumbers } from './numbers.ts'

/** Starts the button that saves the chart's numbers, which the function that it returns takes. */
export function startChartCsv(name: string): (chart: ChartNumbers) => void {
  return startButton('history-csv', ({ points, first, last }) => {
    const columns = ['count', ...(['before', 'also'] as const).filter((column) => has(points, column))] as const
    saveCsv(`${name}-${first}-${last}`, [
      ['start', ...columns],
      ...counted(points).map((point) => [point.start, ...columns.map((column) => exactly(point[column] ?? null))]),
    ])
  })
}

/** The most rows of a file. */
const MAX_ROWS = 1_000

/**
 * Starts the button that saves the list of counters, with more rows than the page has.
 * @param ask reads the numbers of the page's view
 */
export function startListCsv(name: string, ask: (rows: number) => Promise<TypeNumbers>): void {
  const button = byId<HTMLButtonElement>('list-csv')
  button.addEventListener('click', async () => {
    button.disabled = true
    setText('list-csv-message', 'Reading …')
    try {
      const { list, chart } = await ask(MAX_ROWS)
      const { counters, more } = list
      const hasVisitors = counters.some(({ also }) => also !== undefined)
      const { find } = readView()
      saveCsv(`${name}-${find || 'keys'}-${chart.first}-${chart.last}`, [
        ['key', 'count', ...(hasVisitors ? ['visitors'] : []), 'compared', 'before'],
        ...counters.map(({ key, count, also = null, compared, before }) => [
          key,
          ...[count, ...(hasVisitors ? [also] : []), compared, before].map(exactly),
        ]),
      ])
      const rows = showCount(counters.length)
      setText('list-csv-message', more ? `Saved the first ${rows} rows.` : `Rows saved: ${rows}.`)
    } catch (error) {
      setText('list-csv-message', messageOf(error))
    }
    button.disabled = false
  })
}

function startButton<Shown>(id: string, save: (shown: Shown) => void): (shown: Shown) => void {
  let saveLatest = () => {}
  byId(id).addEventListener('click', () => saveLatest())
  return (shown) => {
    saveLatest = () => save(shown)
  }
}

/** Counts beyond 2^53 are strings of digits. */
function exactly(count: Count | null): Cell {
  return typeof count === 'string' ? BigInt(count) : count
}

function saveCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  // Spreadsheets read UTF-8 only with a byte order mark.
  const url = URL.createObjectURL(new Blob(['\ufeff', toCsv(rows)], { type: 'text/csv;charset=utf-8' }))
  const file = `${name.replaceAll(/[^\p{L}\p{N}_.]+/gu, '-').slice(0, 100)}.csv`
  element('a', { href: url, download: file }).click()
  // The browser has taken the file by the next task.
  setTimeout(() => URL.revokeObjectURL(url))
}
