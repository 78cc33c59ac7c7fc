import { expect } from 'vitest'
import { keyOfEachRange } from '../harness/keys-of-ranges.ts'
import { hitOf, send } from './client.ts'
import type { ExpectedCounts } from './expected-counts.ts'
import { type FaultyDatabase, rollUpAll } from './faulty-database.ts'
import type { Increment } from './increment.ts'
import { type Isolate, isIdle } from './isolate.ts'
import type { LateNetwork } from './late-network.ts'
import { quiet } from './server-connections.ts'
import { checkRolledUp } from './stored-counts.ts'

/** Everything that took part in a test. */
export interface Scene {
  db: FaultyDatabase
  isolates: readonly Isolate[]
  network?: LateNetwork
  expected: ExpectedCounts
}

/** Milliseconds within which each isolate must become idle. */
const IDLE_MS = 90_000

/** Waits until nothing is in flight. Then checks all counters, rolls them up, and checks them again. */
export async function settleAndCheck({ db, isolates, network, expected }: Scene): Promise<void> {
  // Sent to each isolate until it is idle: the next request of a range takes over what a dead one has left behind.
  const last = (await keyOfEachRange('/last')).map((key): Increment => ({ type: 'page_view', key, by: 1 }))
  await Promise.all(
    isolates.map(async (isolate) => {
      const giveUpAt = Date.now() + IDLE_MS
      do {
        if (Date.now() > giveUpAt) throw new Error(`an isolate is still busy: ${JSON.stringify(await isolate.load())}`)
        for (const increment of last) expected.record([increment], await send(isolate.url, hitOf(increment)))
      } while (!isIdle(await isolate.load()))
    }),
  )
  await network?.settle()
  await quiet(db)
  // What follows is many statements, one after the other.
  await db.behave()
  await expected.check(db)
  // These isolates have no queue.
  expect(expected.number.queued).toBe(0)
  await rollUpAll(db)
  await expected.check(db)
  await checkRolledUp(db)
}
