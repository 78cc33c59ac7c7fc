import { basePath } from './address.ts'
import { startBuilder } from './builder.ts'
import { startChangeForms } from './change-forms.ts'
import { showChange, showCount } from './counts.ts'
import { byId, element, numberCell, startCopyButtons } from './elements.ts'
import { setText } from './figures.ts'
import { showMoment } from './format-time.ts'
import type { Adjustment, CounterNumbers } from './numbers.ts'
import { startNumbers } from './page-numbers.ts'
import { startRollUpState } from './roll-up-state.ts'
import { startShortcuts } from './shortcuts.ts'

export function startCounterPage(type: string, unit: string, key: string): void {
  const page = startNumbers<CounterNumbers>({
    type,
    key,
    show(numbers) {
      const { adjustments } = numbers
      setText('as-of', asOf(numbers))
      byId('adjustments').hidden = adjustments.length === 0
      byId('adjustment-rows').replaceChildren(...adjustments.map(adjustmentRow))
    },
  })
  startBuilder({ address: location.origin + basePath(), type, key, unit })
  startChangeForms(type, key, page.refresh)
  startCopyButtons()
  startRollUpState(page.refresh)
  startShortcuts(page.change)
}

function adjustmentRow({ at, kind, count }: Adjustment): HTMLTableRowElement {
  const when = showMoment(new Date(at))
  return element('tr', {}, element('td', {}, when), element('td', {}, kind), numberCell(showChange(count)))
}

function asOf({ rolled, pending, rolledUpAt, timeZone }: CounterNumbers): string {
  const at = rolledUpAt === null ? '' : ` on ${showMoment(new Date(rolledUpAt))}`
  return `Exact: ${showCount(rolled)} rolled up${at}, and ${showCount(pending)} waiting to be added up. Days begin at midnight in ${timeZone}.`
}
