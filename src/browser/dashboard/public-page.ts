import { setText } from './figures.ts'
import type { TypeNumbers } from './numbers.ts'
import { startNumbers } from './page-numbers.ts'
import { TopList } from './top-list.ts'

/** Starts the page of a type for everybody. */
export function startPublicPage(type: string, unit: string): void {
  const list = new TopList(null)
  startNumbers<TypeNumbers>({
    type,
    unit,
    show({ chart, list: { counters }, timeZone }, _, asked) {
      list.show(counters, chart.count, asked)
      setText('top-message', counters.length === 0 ? 'Nothing was counted in this period.' : '')
      setText('as-of', `As of the last roll-up. Days begin at midnight in ${timeZone}.`)
    },
  })
}
