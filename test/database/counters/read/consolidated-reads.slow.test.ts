import { Client } from '@planetscale/database'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { countIn, readCounters } from '../../../../src/counters/read/read-counters.ts'
import { type Database, openDatabase } from '../../../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { countOn } from '../../../harness/moves.ts'

const COUNTER: CounterAddress = { recordType: 1, recordId: 2n ** 63n + 3n, name: '/3' }
/** So many that a read takes longer than a hit, unless the machine pauses. */
const SLOTS = 200_000
const STEP = 20_000
/** Rounds in which the first read was still running when the second one began. */
const ROUNDS = 5

// vttablet, and the local endpoint like it, lets a SELECT join an identical one that is running, and take its older result.
describe('A read of a counter that begins while the same read is running', () => {
  let db: TestDatabase
  let hits = 0

  beforeAll(async () => {
    db = await freshDatabase()
    for (let begin = 0; begin < SLOTS; begin += STEP) {
      const rows = Array.from({ length: STEP }, (_, i) => `(1,${COUNTER.recordId},${begin + i + 1},1,1,0)`)
      await db.insert('slotted_counters', rows)
    }
  })

  /**
   * Starts a slow read, counts a hit, and reads again. Returns by how much the second read differs from what it must be, and
   * whether the first one was still running when it began.
   */
  async function lag(on: Database): Promise<{ lag: bigint; overlapped: boolean }> {
    let running = true
    const slow = readCounters(on, [COUNTER], 2 * SLOTS).finally(() => {
      running = false
    })
    await countOn(db, COUNTER, 1n)
    hits++
    const overlapped = running
    const [reading] = await readCounters(on, [COUNTER], 2 * SLOTS)
    await slow
    return { lag: BigInt(SLOTS + hits) - countIn(reading!), overlapped }
  }

  it('includes every hit that was acknowledged before it began', async () => {
    for (let overlapping = 0; overlapping < ROUNDS; ) {
      const round = await lag(db)
      expect(round.lag).toBe(0n)
      if (round.overlapped) overlapping++
    }
  })

  it('would lack such a hit without the directive that src/database/database.ts adds', async () => {
    const client = new Client({ url: db.url })
    const consolidated: Database = {
      ...openDatabase({ url: db.url, deadlineMs: 60_000 }),
      async execute(sql, args) {
        const { rows, rowsAffected } = await client.execute(sql, args ? [...args] : null)
        return { rows: rows as Record<string, unknown>[], rowsAffected }
      },
    }
    // Until a read has joined another one. Without joining, this never ends.
    let round: Awaited<ReturnType<typeof lag>>
    do round = await lag(consolidated)
    while (round.lag === 0n)
    expect(round.lag).toBe(1n)
  })
})
