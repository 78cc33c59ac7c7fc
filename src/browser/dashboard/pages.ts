// The script of all pages but that of a counter.
import { startCheckForm } from './check-form.ts'
import { TIME_ZONE } from './numbers.ts'
import { startOverviewPage } from './overview-page.ts'
import { startPublicPage } from './public-page.ts'
import { startSetupPage } from './setup-page.ts'
import { startPage } from './start-page.ts'

startPage(({ page, type = '' }) => {
  startCheckForm()
  if (page === 'setup') startSetupPage()
  if (page === 'public') startPublicPage(type)
  if (page === 'overview') startOverviewPage(type)
  // With the time zone, the page after signing in includes its numbers.
  const zone = document.querySelector<HTMLInputElement>('input[name=zone]')
  if (zone !== null) zone.value = TIME_ZONE
})
