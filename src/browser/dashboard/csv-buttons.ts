import { counted, has } from './chart-table.ts'
import { type Cell, toCsv } from './csv.ts'
import { byId, element } from './elements.ts'
import type { Count } from './exact-json.ts'
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

/** Starts the button that saves the list of counters, which the function that it returns takes. */
export function startListCsv(name: string): (numbers: TypeNumbers) => void {
  return startButton('list-csv', ({ list, chart: { first, last } }) => {
    saveCsv(`${name}-keys-${first}-${last}`, [
      ['key', 'count', 'compared', 'before'],
      ...list.counters.map(({ key, count, compared, before }) => [key, ...[count, compared, before].map(exactly)]),
    ])
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
