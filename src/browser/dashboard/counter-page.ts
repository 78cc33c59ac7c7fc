import { ask, type Counter, type History, messageOf, path } from './api.ts'
import { startChangeForms } from './change-counter.ts'
import { adjustmentRow, Chart } from './chart.ts'
import { startCopyButtons } from './copy-buttons.ts'
import { byId, onChoice } from './elements.ts'
import { showCount, sum } from './format-counts.ts'
import { showMoment } from './format-time.ts'
import { startMoveForms } from './move-counter.ts'
import { poll } from './polling.ts'
import { fromDayInput, historyParameters, type Range, rangeOf, toDayInput } from './ranges.ts'
import { startRollUpBar } from './roll-up-bar.ts'

const COUNT_EVERY_MS = 3_000
const HISTORY_EVERY_MS = 10_000

/** Starts the page of a counter. */
export function startCounterPage(type: string, key: string): void {
  const chart = new Chart('history')
  let wanted: () => Range = () => rangeOf('day', new Date())
  let asked = 0

  const count = poll(COUNT_EVERY_MS, async () => {
    try {
      // In the query, because a path cannot hold every key.
      const { counters } = await ask<{ counters: Counter[] }>('GET', path(['counters', type], { key }))
      showNumbers(counters[0]!)
      return true
    } catch (error) {
      byId('count-message').textContent = messageOf(error)
      return false
    }
  })

  const history = poll(HISTORY_EVERY_MS, async () => {
    const mine = ++asked
    const range = wanted()
    try {
      const answer = await ask<History>('GET', path(['counters', type, key, 'history'], historyParameters(range)))
      if (mine === asked) showHistory(chart, range, answer)
      return true
    } catch (error) {
      if (mine === asked) byId('history-message').textContent = messageOf(error)
      return false
    }
  })

  const form = byId<HTMLFormElement>('days')
  const from = form.elements.namedItem('from') as HTMLInputElement
  const to = form.elements.namedItem('to') as HTMLInputElement
  const by = form.elements.namedItem('by') as HTMLSelectElement
  const fill = () => {
    const range = wanted()
    from.value = toDayInput(range.from)
    to.value = toDayInput(new Date())
    by.value = range.by
  }
  fill()
  const release = onChoice('range', 'day', (name) => {
    wanted = () => rangeOf(name, new Date())
    fill()
    history.now()
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    to.setCustomValidity(to.value < from.value ? 'Must not be before the first day.' : '')
    if (!form.reportValidity()) return
    release()
    const range = { from: fromDayInput(from.value), to: fromDayInput(to.value, 1), by: by.value as Range['by'] }
    wanted = () => range
    history.now()
  })
  to.addEventListener('input', () => to.setCustomValidity(''))
  from.addEventListener('input', () => to.setCustomValidity(''))

  const refresh = () => {
    count.now()
    history.now()
  }
  startChangeForms(type, key, refresh)
  startMoveForms(type, key)
  startCopyButtons()
  startRollUpBar(refresh)
}

function showNumbers({ count, total, pending, rolledUpAt }: Counter): void {
  byId('count').textContent = showCount(count)
  byId('total').textContent = showCount(total)
  byId('pending-count').textContent = showCount(pending)
  const message = rolledUpAt === null ? 'Not rolled up yet.' : `Last rolled up ${showMoment(new Date(rolledUpAt))}.`
  if (byId('count-message').textContent !== message) byId('count-message').textContent = message
}

function showHistory(chart: Chart, { by }: Range, { points, adjustments = [] }: History): void {
  chart.show({ by, points, adjustments })
  byId('history-message').textContent = ''
  byId('sum').textContent = `${showCount(sum(points))} counted in this period`
  byId('adjustments').hidden = adjustments.length === 0
  byId('adjustment-rows').replaceChildren(...adjustments.map(adjustmentRow))
}
