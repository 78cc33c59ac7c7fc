import { startChartCsv } from './csv-buttons.ts'
import { byId } from './elements.ts'
import { setText, showFigures } from './figures.ts'
import type { TypeNumbers } from './numbers.ts'
import { startNumbers } from './page-numbers.ts'
import { TopList } from './top-list.ts'

/** Starts the page of a type for everybody. */
export function startPublicPage(type: string, unit: string): void {
  const list = new TopList(null, byId('top'))
  const keepForCsv = startChartCsv(type)
  startNumbers<TypeNumbers>({
    type,
    unit,
    show({ chart, list: { counters }, also, timeZone }, _, asked) {
      if (also !== undefined) showFigures(also, 'also')
      list.show(counters, chart.count, asked)
      keepForCsv(chart)
      setText('top-message', counters.length === 0 ? 'Nothing was counted in this period.' : '')
      setText('as-of', `As of the last roll-up. Days begin at midnight in ${timeZone}.`)
    },
  })
}
