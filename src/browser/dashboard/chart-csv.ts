import { byId } from './elements.ts'
import type { ChartNumbers } from './numbers.ts'
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
