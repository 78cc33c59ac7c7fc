// The script of the page of a counter: with its forms, one script for all pages would be too large.
import { showLastChange, startChangeForms } from './changes.ts'
import { byId, element, numberCell, setText } from './elements.ts'
import { showChange, showCount, showMoment } from './formats.ts'
import { startNumbers } from './live-numbers.ts'
import type { Adjustment, CounterNumbers } from './numbers-answer.ts'

const { type = '' } = byId('main').dataset
// From the URL, because HTML does not preserve every character.
const key = new URLSearchParams(location.search).get('key') ?? ''
const page = startNumbers<CounterNumbers>({ type, key }, (numbers) => {
  const { adjustments } = numbers
  setText('as-of', asOf(numbers))
  byId('adjustments').hidden = adjustments.length === 0
  byId('adjustment-rows').replaceChildren(...adjustments.map(adjustmentRow))
})
startChangeForms(type, key, page.refresh)
showLastChange()

function adjustmentRow({ at, kind, count }: Adjustment): HTMLTableRowElement {
  const when = showMoment(new Date(at))
  return element('tr', {}, element('td', {}, when), element('td', {}, kind), numberCell(showChange(count)))
}

function asOf({ rolled, pending, rolledUpAt, timeZone }: CounterNumbers): string {
  const at = rolledUpAt === null ? '' : ` on ${showMoment(new Date(rolledUpAt))}`
  const counted =
    pending === null
      ? `As of the last roll-up: ${showCount(rolled)}${at}. More is waiting than can be added up now.`
      : `Exact: ${showCount(rolled)} rolled up${at}, and ${showCount(pending)} waiting to be added up.`
  return `${counted} Days begin at midnight in ${timeZone}.`
}
