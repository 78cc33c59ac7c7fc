import { expect, it } from 'vitest'
import { onVitess } from '../harness/on-vitess.ts'
import { countUnderFaults } from './count-under-faults.ts'
import { KillableServer, STARTS_OVER } from './killable-server.ts'

/** Requests that are counted after a start of the server before it is killed. */
const BETWEEN_KILLS = 400

// It starts a private server, without a vtgate.
it.skipIf(onVitess)(
  'When the database server is killed with -9 and restarted, with faults of all other kinds too, every counter ends up right',
  { timeout: 300_000, retry: STARTS_OVER },
  async () => {
    const server = await KillableServer.start()
    let kills = 0
    await countUnderFaults(server.db, {
      increments: 4_000,
      more: async ({ over }, { number }) => {
        for (;;) {
          const before = number.counted
          while (!over() && number.counted < before + BETWEEN_KILLS) {
            await new Promise((resolve) => setTimeout(resolve, 50))
          }
          if (over()) return
          await server.kill()
          await server.restart()
          kills++
        }
      },
    })
    // On a busy machine, requests are refused for so long after the first kill that the load ends.
    expect(kills).toBeGreaterThan(0)
  },
)
