import { type Cell, toCsv } from './csv.ts'
import { byId, element } from './elements.ts'
import type { Count } from './exact-json.ts'
import type { ChartNumbers, TypeNumbers } from './numbers.ts'

/** Starts the button that saves the chart's numbers in a file with a name. The function that it returns takes them. */
export function startChartCsv(name: string): (chart: ChartNumbers) => void {
  return startButton('history-csv', ({ points, first, last }) => {
    const compares = points.some(({ before }) => before !== undefined)
    saveCsv(`${name}-${first}-${last}`, [
      ['start', 'count', ...(compares ? ['before'] : [])],
      ...points.map(({ start, count, before = null }) => [
        start,
        ...[count, ...(compares ? [before] : [])].map(exactly),
      ]),
    ])
  })
}

/** Starts the button that saves the list of counters in the same way. */
export function startListCsv(name: string): (numbers: TypeNumbers) => void {
  return startButton('list-csv', ({ list, chart: { first, last } }) => {
    // `compared` is the part of `count` that is compared, `before` the same part of the period before.
    saveCsv(`${name}-keys-${first}-${last}`, [
      ['key', 'count', 'compared', 'before'],
      ...list.counters.map(({ key, count, compared, before }) => [key, ...[count, compared, before].map(exactly)]),
    ])
  })
}

function startButton<Shown>(id: string, save: (shown: Shown) => void): (shown: Shown) => void {
  let latest: Shown | undefined
  byId(id).addEventListener('click', () => {
    if (latest !== undefined) save(latest)
  })
  return (shown) => {
    latest = shown
  }
}

/** A count as a number: one beyond 2^53 is a string of digits. */
function exactly(count: Count | null): Cell {
  return typeof count === 'string' ? BigInt(count) : count
}

function saveCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  // With a byte order mark, spreadsheets read UTF-8.
  const url = URL.createObjectURL(new Blob(['\ufeff', toCsv(rows)], { type: 'text/csv;charset=utf-8' }))
  const file = `${name.replaceAll(/[^\p{L}\p{N}_.]+/gu, '-').slice(0, 100)}.csv`
  element('a', { href: url, download: file }).click()
  // The browser has taken the file by the next task.
  setTimeout(() => URL.revokeObjectURL(url))
}
