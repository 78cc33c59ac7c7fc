import { startCounterPage } from './counter-page.ts'
import { startOverviewPage } from './overview-page.ts'
import { startSetupPage } from './setup-page.ts'

const { page, type = '' } = document.querySelector('main')?.dataset ?? {}
if (page === 'setup') startSetupPage()
if (page === 'overview') startOverviewPage(type)
// The key comes from the URL, because HTML does not preserve every character.
if (page === 'counter') startCounterPage(type, new URLSearchParams(location.search).get('key') ?? '')
