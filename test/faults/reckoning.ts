import { quiet } from './connections.ts'
import { type FaultyDatabase, rollUpAll } from './database.ts'
import type { Isolate } from './isolate.ts'
import type { LateNetwork } from './late-network.ts'
import { checkRolledUp, type Receipts } from './receipts.ts'

/** What was at work. */
export interface Scene {
  db: FaultyDatabase
  isolates: readonly Isolate[]
  network?: LateNetwork
  receipts: Receipts
}

/** Waits until nothing is on its way, and checks all counters: as they are, and rolled up, with nothing left pending. */
export async function reckon({ db, isolates, network, receipts }: Scene): Promise<void> {
  await Promise.all(isolates.map((isolate) => isolate.idle()))
  await network?.settle()
  await quiet(db)
  await receipts.check(db)
  await rollUpAll(db)
  await receipts.check(db)
  await checkRolledUp(db)
}
