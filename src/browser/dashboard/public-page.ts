import { readView } from './address.ts'
import { byId, element } from './elements.ts'
import { setText } from './figures.ts'
import type { TypeNumbers } from './numbers.ts'
import { startNumbers } from './page-numbers.ts'
import { TopList } from './top-list.ts'

/** Starts the page of a type for everybody. */
export function startPublicPage(type: string): void {
  const list = new TopList(null)
  // Somebody may have made the address from one of the dashboard.
  const { from, find, by } = readView()
  if (from || find || by) {
    history.replaceState(null, '', location.pathname)
    const notice = 'Only the dashboard shows the days or the keys of this address. These are 30 days of all keys.'
    byId('main').before(element('p', { class: 'notice' }, notice))
  }
  startNumbers<TypeNumbers>({
    type,
    show({ list: { counters }, timeZone, checked }, _, asked) {
      list.show(counters, asked)
      setText('top-message', counters.length === 0 ? 'Nothing was counted in this period.' : '')
      setText('as-of', `As of the last roll-up. Days begin at midnight in ${timeZone}. ${checked ?? ''}`)
    },
  })
}
