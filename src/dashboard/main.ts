import { startCounter } from './counter.ts'
import { startOverview } from './overview.ts'

const { page, type = '', key = '' } = document.querySelector('main')?.dataset ?? {}
if (page === 'overview') startOverview(type)
if (page === 'counter') startCounter(type, key)
