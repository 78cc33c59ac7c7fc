import { ask, type History, type KeyCount, messageOf, path } from './api.ts'
import { Chart } from './chart.ts'
import { startCopyButtons } from './copy-buttons.ts'
import { byId, counterLink, onChoice, row } from './elements.ts'
import { startFirstRun } from './first-run.ts'
import { showCount } from './format-counts.ts'
import { poll } from './polling.ts'
import { historyParameters, rangeOf, TIME_ZONE } from './ranges.ts'
import { startRollUpBar } from './roll-up-bar.ts'
import { startSearch } from './search.ts'
import { showTodayAndYesterday } from './today-and-yesterday.ts'

const EVERY_MS = 10_000
const TOP = 10

/** Starts the page of a type: the sum of its counters, a ranking, and a search. */
export function startOverviewPage(type: string): void {
  const chart = new Chart('history')
  let range = 'day'
  let period = 'day'

  const history = poll(EVERY_MS, async () => {
    const shown = range
    const wanted = rangeOf(shown, new Date())
    return report('history-message', async () => {
      await showTodayAndYesterday(type)
      const { points } = await ask<History>('GET', path(['types', type, 'history'], historyParameters(wanted)))
      if (shown === range) chart.show({ by: wanted.by, points })
      return `As of the last roll-up. Times are in ${TIME_ZONE}.`
    })
  })
  const top = poll(EVERY_MS, () => {
    const shown = period
    return report('top-message', async () => {
      const { counters } = await ask<{ counters: KeyCount[] }>(
        'GET',
        path(['top', type], { period: shown, limit: String(TOP) }),
      )
      if (shown !== period) return ''
      byId('top').replaceChildren(...counters.map(({ key, count }) => row(counterLink(type, key), showCount(count))))
      if (counters.length === 0) return 'Nothing has been rolled up in this period yet.'
      return shown === 'all' ? 'As of the last roll-up.' : 'As of the last roll-up. Days begin at midnight UTC.'
    })
  })

  onChoice('range', range, (value) => {
    range = value
    history.now()
  })
  onChoice('period', period, (value) => {
    period = value
    top.now()
  })
  const refresh = () => {
    history.now()
    top.now()
  }
  startCopyButtons()
  const search = startSearch(type, () =>
    startFirstRun(type, () => {
      search()
      refresh()
    }),
  )
  startRollUpBar(refresh)
}

/**
 * Runs some work, and shows its message or its error on the page.
 *
 * @param id the id of the message's element
 * @param work resolves to the message
 * @returns whether the work succeeded
 */
async function report(id: string, work: () => Promise<string>): Promise<boolean> {
  const show = (text: string) => {
    // A screen reader would read an unchanged message again.
    if (byId(id).textContent !== text) byId(id).textContent = text
  }
  try {
    show(await work())
    return true
  } catch (error) {
    show(messageOf(error))
    return false
  }
}
