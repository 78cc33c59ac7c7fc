import { startCounterPage } from './counter-page.ts'
import { TIME_ZONE } from './numbers.ts'
import { startOverviewPage } from './overview-page.ts'
import { startPublicPage } from './public-page.ts'
import { startSetupPage } from './setup-page.ts'

// The script is there before the page if it is cached. What takes long in it is done while the page's numbers are on their way.
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start)
else start()

function start(): void {
  const { page, type = '', unit = '' } = document.querySelector('main')?.dataset ?? {}
  if (page === 'setup') startSetupPage()
  if (page === 'public') startPublicPage(type, unit)
  if (page === 'overview') startOverviewPage(type, unit)
  // The key comes from the URL, because HTML does not preserve every character.
  if (page === 'counter') startCounterPage(type, unit, new URLSearchParams(location.search).get('key') ?? '')
  // With the time zone, the page that comes after signing in has its numbers with it.
  const zone = document.querySelector<HTMLInputElement>('input[name=zone]')
  if (zone !== null) zone.value = TIME_ZONE
}
