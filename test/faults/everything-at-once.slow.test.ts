import { it } from 'vitest'
import { doEverythingAtOnce } from './everything-at-once.ts'

it.each(['REPEATABLE READ', 'READ COMMITTED'] as const)(
  'On a network that loses, delays and doubles statements, with everything at once, every ledger and every sum is right (%s)',
  { timeout: 300_000 },
  doEverythingAtOnce,
)
