import { byId } from './elements.ts'
import type { ChartNumbers, ListedCounter } from './numbers.ts'
import { saveCsv } from './save-csv.ts'

/**
 * Starts the button that saves the chart's numbers.
 *
 * @param name what the numbers are of, for the name of the file
 * @returns a function that takes what the chart shows
 */
export function startChartCsv(name: string): (chart: ChartNumbers) => void {
  let shown: ChartNumbers | undefined
  byId('history-csv').addEventListener('click', () => {
    if (shown === undefined) return
    const { points, first, last } = shown
    const compares = points.some(({ before }) => before !== undefined)
    saveCsv(`${name}-${first}-${last}`, [
      ['start', 'count', ...(compares ? ['before'] : [])],
      ...points.map(({ start, count, before = null }) => [start, count, ...(compares ? [before] : [])]),
    ])
  })
  return (chart) => {
    shown = chart
  }
}

/**
 * Starts the button that saves the list of counters.
 *
 * @param name what the list is of, for the name of the file
 * @returns a function that takes what the list shows, and the chart of its period
 */
export function startListCsv(name: string): (counters: readonly ListedCounter[], chart: ChartNumbers) => void {
  let shown: { counters: readonly ListedCounter[]; days: string } | undefined
  byId('list-csv').addEventListener('click', () => {
    if (shown === undefined) return
    // A change compares the part of the period that is over with the same part of the period before.
    saveCsv(`${name}-keys-${shown.days}`, [
      ['key', 'count', 'compared', 'before'],
      ...shown.counters.map(({ key, count, compared, before }) => [key, count, compared, before]),
    ])
  })
  return (counters, { first, last }) => {
    shown = { counters, days: `${first}-${last}` }
  }
}
