import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { CounterAddress } from '../../../../src/counters/counter-address.ts'
import { Keys } from '../../../../src/counters/keys/keys.ts'
import type { NewKeyRule } from '../../../../src/counters/keys/new-key-budgets.ts'
import type { Executor } from '../../../../src/database/database.ts'
import { stopClock } from '../../../harness/stopped-clock.ts'

/** The entries that a map with two generations of 10,000 may have. */
const MOST_REMEMBERED = 20_000

/** A database that has the names of the counters with even record ids. */
let asked = 0
const halfFull: Executor = {
  async execute(sql) {
    asked++
    const ids = [...new Set((/ IN \(([\d,]+)\)/.exec(sql)?.[1] ?? '').split(','))].map(BigInt)
    const even = ids.filter((id) => id % 2n === 0n)
    return { rows: even.map((record_id) => ({ record_type: 1, record_id: `${record_id}`, gone: 0 })), rowsAffected: 0 }
  },
}
const counter = (id: number): CounterAddress => ({ recordType: 1, recordId: BigInt(id), name: `/${id}` })
const isolate = (rule: NewKeyRule = { newKeys: 'known', newKeysPerMinute: 120 }) =>
  new Keys([halfFull], { rules: new Map([[1, rule]]), also: new Map(), hasQueue: false, deadlineMs: 3_000 })
const admits = (keys: Keys, id: number) => keys.admits(counter(id), { waitUntil: () => {} })

beforeEach(() => {
  asked = 0
  stopClock()
})

describe('What an isolate remembers of keys', () => {
  it.each([
    ['exist', 0, true],
    ['are refused', 1, false],
  ])('that %s is bounded, however many there are', async (_, first, exists) => {
    const keys = isolate()
    const ids = Array.from({ length: 1.5 * MOST_REMEMBERED }, (_, i) => first + 2 * i)
    const answers = new Set<boolean>()
    for (const id of ids) answers.add(await admits(keys, id))
    expect([...answers]).toEqual([exists])
    // From the end, so that asking again drops only what was looked at already.
    let remembered = 0
    for (const id of ids.toReversed()) {
      const before = asked
      await admits(keys, id)
      if (asked === before) remembered++
    }
    expect(remembered).toBeGreaterThan(0)
    expect(remembered).toBeLessThanOrEqual(MOST_REMEMBERED)
  })

  it('ends if the clock is set back', async () => {
    const keys = isolate()
    await admits(keys, 2)
    await admits(keys, 3)
    const before = asked
    vi.setSystemTime(Date.now() - 3_600_000)
    expect(keys.knows(counter(2))).toBe(false)
    await admits(keys, 3)
    expect(asked - before).toBe(1)
  })
})

it('A network that may not create keys may create them where there is no budget', async () => {
  const admitsAny = (newKeysPerMinute: number | null) =>
    isolate({ newKeys: 'any', newKeysPerMinute }).admits(counter(1), { mayBeNew: false, waitUntil: () => {} })
  expect([await admitsAny(120), await admitsAny(null)]).toEqual([false, true])
})
