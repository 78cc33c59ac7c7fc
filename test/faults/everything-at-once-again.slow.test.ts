import { it } from 'vitest'
import { doEverythingAtOnce } from './everything-at-once.ts'

it(
  'On a network that loses, delays and doubles statements, with everything at once, every ledger and every sum is right (again)',
  { timeout: 300_000 },
  () => doEverythingAtOnce(Math.random() < 0.5 ? 'READ COMMITTED' : 'REPEATABLE READ'),
)
