import { startCounter } from './counter.ts'
import { startOverview } from './overview.ts'

const { page, type = '' } = document.querySelector('main')?.dataset ?? {}
if (page === 'overview') startOverview(type)
// From the address, because not every character of a key comes through HTML as it is.
if (page === 'counter') startCounter(type, new URLSearchParams(location.search).get('key') ?? '')
