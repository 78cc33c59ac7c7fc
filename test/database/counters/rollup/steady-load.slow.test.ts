import { describe, expect, it } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { hash64 } from '../../../../src/counters/ids.ts'
import { ensureNames } from '../../../../src/counters/keys/names.ts'
import { prune } from '../../../../src/counters/old-rows.ts'
import { SlotPool } from '../../../../src/counters/write/flush-group.ts'
import { GroupCommit } from '../../../../src/counters/write/group-commit.ts'
import { PLANS } from '../../../../src/plans.ts'
import { freshDatabase } from '../../../harness/database.ts'
import { countsOf, rollUpAt } from '../../../harness/moves.ts'

const HOURS = 3
const MINUTES = 60
const KEYS = 10
/** The slots that isolates of a minute each leave behind in an hour. */
const SLOTS_OF_HOUR = MINUTES * KEYS
/** Old slots, as a version that kept them for a day leaves them behind. */
const OLD_SLOTS = 5_000

const ROLL_UP = PLANS.free.rollUp
const PRUNING = PLANS.free.pruning

describe('Under steady load from isolates that live for a minute', () => {
  it('the runs of the free plan leave at most the slots of two hours, also after a backlog', async () => {
    const db = await freshDatabase()
    const names = Array.from({ length: KEYS }, (_, key) => `/${key}`)
    const counters = await Promise.all(
      names.map(async (name): Promise<CounterAddress> => ({ recordType: 1, recordId: await hash64(name), name })),
    )
    await ensureNames(db, counters)
    const [first] = counters
    const old = Array.from({ length: OLD_SLOTS }, (_, slot) => `(1, ${first!.recordId}, ${slot + 1}, 0, 1, 1)`)
    await db.insert('slotted_counters', old.join(', '), [])
    const slots = () => db.number('SELECT COUNT(*) FROM slotted_counters')
    const background = async (minute: number) => {
      const { outcome } = await rollUpAt(db, new Date(), { ...ROLL_UP, lease: true })
      expect(outcome).toBe('complete')
      if (minute % 2 === 1) await prune(db, PRUNING)
    }

    const left: bigint[] = []
    for (let hour = 0; hour < HOURS; hour++) {
      for (let minute = 0; minute < MINUTES; minute++) {
        const isolate = new GroupCommit({
          db,
          deadlineMs: 3_000,
          classicSlots: new Map(),
          slots: new SlotPool(),
          idempotencyHours: 24,
          queue: null,
        })
        const increments = counters.map((counter) => ({ counter, by: 1n }))
        const leading: Promise<unknown>[] = []
        expect(await isolate.count(increments, { waitUntil: (work) => leading.push(work) })).toBe('counted')
        await Promise.all(leading)
        await background(minute)
      }
      left.push(await slots())
      // An hour passes.
      await db.execute('UPDATE slotted_counters SET kept_until = kept_until - 1 WHERE kept_until > 1')
    }
    // The hour of the real clock may end during the test. Then slots are deleted earlier.
    for (const rows of left.slice(1)) expect(rows).toBeLessThanOrEqual(BigInt(2 * SLOTS_OF_HOUR))
    expect(left.at(-1)).toBeGreaterThanOrEqual(BigInt(SLOTS_OF_HOUR))
    expect(await countsOf(db, counters)).toEqual(counters.map(() => BigInt(HOURS * MINUTES)))

    await db.execute('UPDATE slotted_counters SET kept_until = 1')
    await background(1)
    await background(1)
    expect(await slots()).toBe(0n)
    expect(await countsOf(db, counters)).toEqual(counters.map(() => BigInt(HOURS * MINUTES)))
  })
})
