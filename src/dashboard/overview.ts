import { ask, type History, type KeyCount, messageOf, path } from './api.ts'
import { Chart } from './chart.ts'
import { byId, counterLink, onChoice, row } from './dom.ts'
import { startLive } from './live.ts'
import { showCount } from './numbers.ts'
import { repeat } from './repeat.ts'
import { startSearch } from './search.ts'
import { historyParameters, rangeOf, TIME_ZONE } from './time.ts'
import { showToday } from './today.ts'

const EVERY_MS = 10_000
const TOP = 10

/** The page of a type: all its counters together. */
export function startOverview(type: string): void {
  const chart = new Chart('history')
  let range = 'day'
  let period = 'day'

  const history = repeat(EVERY_MS, async () => {
    const shown = range
    const wanted = rangeOf(shown, new Date())
    return said('history-message', async () => {
      await showToday(type)
      const { points } = await ask<History>('GET', path(['types', type, 'history'], historyParameters(wanted)))
      if (shown === range) chart.show({ by: wanted.by, points })
      return `As of the last roll-up; times are those of ${TIME_ZONE}.`
    })
  })
  const top = repeat(EVERY_MS, () => {
    const shown = period
    return said('top-message', async () => {
      const { counters } = await ask<{ counters: KeyCount[] }>(
        'GET',
        path(['top', type], { period: shown, limit: String(TOP) }),
      )
      if (shown !== period) return ''
      byId('top').replaceChildren(...counters.map(({ key, count }) => row(counterLink(type, key), showCount(count))))
      if (counters.length === 0) return 'Nothing has been rolled up in this time yet.'
      return shown === 'all' ? 'As of the last roll-up.' : 'As of the last roll-up; days begin at midnight UTC.'
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
  startSearch(type)
  startLive(() => {
    history.now()
    top.now()
  })
}

/**
 * Does something and says in the page what became of it.
 *
 * @param work resolves to what there is to say
 * @returns whether it went well
 */
async function said(id: string, work: () => Promise<string>): Promise<boolean> {
  const say = (text: string) => {
    // The same again would be read out again.
    if (byId(id).textContent !== text) byId(id).textContent = text
  }
  try {
    say(await work())
    return true
  } catch (error) {
    say(messageOf(error))
    return false
  }
}
