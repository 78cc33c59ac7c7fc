import { it } from 'vitest'
import { doEverythingAtOnce } from './everything-at-once.ts'

it.each([1, 2])(
  'On a network that loses, delays and doubles statements, with everything at once, every ledger and every sum is right (%i)',
  { timeout: 300_000 },
  doEverythingAtOnce,
)
