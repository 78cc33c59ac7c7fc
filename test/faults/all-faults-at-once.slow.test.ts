import { it } from 'vitest'
import { countUnderFaults } from './count-under-faults.ts'
import { freshDatabase } from './faulty-database.ts'
import { canKill, killConnections } from './server-connections.ts'

it('With faults of all kinds, roll-ups and pruning all the time, every counter ends up right while the server ends connections', {
  timeout: 300_000,
}, async () => {
  const db = await freshDatabase()
  await countUnderFaults(db, {
    increments: 6_000,
    ...(canKill && { more: ({ random, over }) => killConnections(db, random, over) }),
  })
})
