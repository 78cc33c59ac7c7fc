import { readView } from './address.ts'
import { showLastChange } from './change-done.ts'
import { startCheckForm } from './check-form.ts'
import { startCounterPage } from './counter-page.ts'
import { byId, element } from './elements.ts'
import { setText } from './figures.ts'
import { TIME_ZONE, type TypeNumbers } from './numbers.ts'
import { startOverviewPage } from './overview-page.ts'
import { startNumbers } from './page-numbers.ts'
import { startSetupPage } from './setup-page.ts'
import { TopList } from './top-list.ts'

// A cached script is loaded before the page. Its slow parts then run while the page's numbers are still to come.
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start)
else start()

function start(): void {
  const { page, type = '', unit = '' } = document.querySelector('main')?.dataset ?? {}
  startCheckForm()
  if (page === 'setup') startSetupPage()
  if (page === 'public') startPublicPage(type)
  if (page === 'overview') startOverviewPage(type)
  // The key comes from the URL, because HTML does not preserve every character.
  if (page === 'counter') startCounterPage(type, unit, new URLSearchParams(location.search).get('key') ?? '')
  if (document.getElementById('done') !== null) showLastChange()
  // With the time zone, the page after signing in includes its numbers.
  const zone = document.querySelector<HTMLInputElement>('input[name=zone]')
  if (zone !== null) zone.value = TIME_ZONE
}

function startPublicPage(type: string): void {
  const list = new TopList(null)
  // Somebody may have made the address from one of the dashboard.
  const { from, find } = readView()
  if (from !== '' || find !== '') {
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
