import { hitOf, send } from './client.ts'
import { quiet } from './connections.ts'
import { type FaultyDatabase, rollUpAll } from './database.ts'
import { type Isolate, isIdle } from './isolate.ts'
import type { LateNetwork } from './late-network.ts'
import type { Part } from './part.ts'
import { checkRolledUp, type Receipts } from './receipts.ts'

/** What was at work. */
export interface Scene {
  db: FaultyDatabase
  isolates: readonly Isolate[]
  network?: LateNetwork
  receipts: Receipts
}

/** Sent to each isolate until it is idle: what a request that died has left is taken over by the next one. */
const LAST: Part = { type: 'page_view', key: '/last', by: 1 }

/** Milliseconds in which that must have happened. */
const IDLE_MS = 40_000

/** Waits until nothing is on its way, and checks all counters: as they are, and rolled up, with nothing left pending. */
export async function reckon({ db, isolates, network, receipts }: Scene): Promise<void> {
  await Promise.all(
    isolates.map(async (isolate) => {
      const giveUpAt = Date.now() + IDLE_MS
      do {
        if (Date.now() > giveUpAt) throw new Error(`an isolate is still busy: ${JSON.stringify(await isolate.load())}`)
        receipts.book([LAST], await send(isolate.url, hitOf(LAST)))
      } while (!isIdle(await isolate.load()))
    }),
  )
  await network?.settle()
  await quiet(db)
  await receipts.check(db)
  await rollUpAll(db)
  await receipts.check(db)
  await checkRolledUp(db)
}
