import { startCheckForm } from './check-form.ts'
import { startCounterPage } from './counter-page.ts'
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
  // With the time zone, the page after signing in includes its numbers.
  const zone = document.querySelector<HTMLInputElement>('input[name=zone]')
  if (zone !== null) zone.value = TIME_ZONE
}

function startPublicPage(type: string): void {
  const list = new TopList(null)
  startNumbers<TypeNumbers>({
    type,
    show({ chart, list: { counters }, timeZone }, _, asked) {
      list.show(counters, chart.count, asked)
      setText('top-message', counters.length === 0 ? 'Nothing was counted in this period.' : '')
      setText('as-of', `As of the last roll-up. Days begin at midnight in ${timeZone}.`)
    },
  })
}
