import { expect, it } from 'vitest'
import { beside } from '../../harness/beside.ts'
import { freshDatabase } from '../../harness/database.ts'
import { nameCounter } from '../../harness/moves.ts'
import { type Action, COUNTERS, TIMEOUT_MS, World } from './exact-world.ts'

it('Every counter is exact with eight roll-ups at a time, beside writers, repeats, readers and pruning', {
  timeout: TIMEOUT_MS,
}, async () => {
  const world = new World(await freshDatabase(), 1)
  for (const counter of world.ledger.counters) await nameCounter(world.db, counter)
  let batch = 0
  // Goes on until enough of everything has happened, however the machine shares its time.
  const enough = () => batch >= 4_000 && Math.min(world.ledger.checked, world.pages, world.overtaken) > 100
  const writer = async () => {
    while (!enough()) {
      const n = batch++
      const parts = [
        { counter: n % COUNTERS, by: (n % 7) - 2 || 1 },
        { counter: 0, by: 1 },
      ]
      await world.run({ kind: 'increment', parts, resends: n % 10 === 0 ? 2 : 0, later: n % 100 === 0 })
    }
  }
  const act = (action: Action) => () => world.run(action)
  await beside(
    Promise.all(Array.from({ length: 12 }, writer)),
    ...Array.from({ length: 8 }, () => act({ kind: 'rollUp', runs: 1, pageSlots: 7 })),
    ...Array.from({ length: 4 }, () => act({ kind: 'read' })),
    act({ kind: 'set', counter: 1, to: 50, sends: 2, cut: null }),
    act({ kind: 'prune' }),
  )
  await world.settle()
  const { pages, overtaken, ledger } = world
  console.log(`${batch} batches, ${pages} pages moved, ${overtaken} overtaken, ${ledger.checked} readings checked`)
  expect(ledger.checked).toBeGreaterThan(100)
  expect(pages).toBeGreaterThan(100)
  expect(overtaken).toBeGreaterThan(100)
})
