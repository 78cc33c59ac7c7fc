import { basePath } from './base-path.ts'
import { startBuilder } from './builder.ts'
import { startChangeForms } from './change-counter.ts'
import { adjustmentRow } from './chart.ts'
import { startCopyButtons } from './copy-buttons.ts'
import { startChartCsv } from './csv-buttons.ts'
import { byId } from './elements.ts'
import { setText, showFigures } from './figures.ts'
import { showChange, showCount } from './format-counts.ts'
import { showMoment } from './format-time.ts'
import { startMoveForms } from './move-counter.ts'
import type { CounterNumbers } from './numbers.ts'
import { startNumbers } from './page-numbers.ts'
import { startRollUpState } from './roll-up-state.ts'

/** Starts the page of a counter. */
export function startCounterPage(type: string, unit: string, key: string): void {
  const keepForCsv = startChartCsv(`${type}-${key}`)
  const page = startNumbers<CounterNumbers>({
    type,
    key,
    unit,
    adjustments: ({ adjustments }) => adjustments,
    show({ adjustments, chart, also, ...numbers }) {
      keepForCsv(chart)
      if (also !== undefined) showFigures(also, 'also')
      setText('as-of', asOf(numbers))
      byId('adjustments').hidden = adjustments.length === 0
      byId('adjustment-rows').replaceChildren(...adjustments.map((adjustment) => adjustmentRow(adjustment, showChange)))
    },
  })
  startBuilder({ address: location.origin + basePath(), type, key, unit })
  startChangeForms(type, key, page.refresh)
  startMoveForms(type, key)
  startCopyButtons()
  startRollUpState(page.refresh)
}

function asOf({
  rolled,
  pending,
  rolledUpAt,
  timeZone,
}: Omit<CounterNumbers, 'adjustments' | 'chart' | 'also'>): string {
  const at = rolledUpAt === null ? '' : ` on ${showMoment(new Date(rolledUpAt))}`
  return `Exact: ${showCount(rolled)} rolled up${at}, and ${showCount(pending)} pending. Days begin at midnight in ${timeZone}.`
}
