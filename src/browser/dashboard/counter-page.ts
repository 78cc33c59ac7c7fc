import { startChangeForms } from './change-counter.ts'
import { adjustmentRow } from './chart.ts'
import { startCopyButtons } from './copy-buttons.ts'
import { byId } from './elements.ts'
import { setText } from './figures.ts'
import { showChange, showCount } from './format-counts.ts'
import { showMoment } from './format-time.ts'
import { startMoveForms } from './move-counter.ts'
import type { CounterNumbers } from './numbers.ts'
import { startNumbers } from './page-numbers.ts'
import { startRollUpState } from './roll-up-state.ts'

/** Starts the page of a counter. */
export function startCounterPage(type: string, unit: string, key: string): void {
  const page = startNumbers<CounterNumbers>({
    type,
    key,
    unit,
    adjustments: ({ adjustments }) => adjustments,
    show({ rolled, pending, rolledUpAt, adjustments }) {
      setText('total', showCount(rolled))
      setText('pending-count', showCount(pending))
      setText(
        'count-message',
        rolledUpAt === null ? 'Not rolled up yet.' : `Last rolled up ${showMoment(new Date(rolledUpAt))}.`,
      )
      byId('adjustments').hidden = adjustments.length === 0
      byId('adjustment-rows').replaceChildren(...adjustments.map((adjustment) => adjustmentRow(adjustment, showChange)))
    },
  })
  startChangeForms(type, key, page.refresh)
  startMoveForms(type, key)
  startCopyButtons()
  startRollUpState(page.refresh)
}
