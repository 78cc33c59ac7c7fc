import { expect, it } from 'vitest'
import { LIMIT_OF_FIVE } from '../../harness/limit-of-five.ts'
import { unusedNetwork } from '../../harness/unused-network.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'
import { inOnePeriod } from '../one-period.ts'

const IGNORED = 'ignored; reason=key'
const { db } = sharedWorker()
let attempts = 0
/** Each attempt has a type of its own, whose budget nothing else has used. */
const isolate = () => {
  const page = { record_type: attempts, public: true, allowed_origins: ['*'], new_keys_per_minute: 90 }
  return new TestWorker(db.url, { COUNTERS: { page }, NEW_KEY_LIMIT: LIMIT_OF_FIVE })
}

const from = (address: string, on: TestWorker) => async (key: string) =>
  (await on.hit('page', key, { 'CF-Connecting-IP': address })).headers.get('X-Hit')
const limitedTest = (work: (attempt: number, network: string) => Promise<void>) =>
  inOnePeriod(() => work(++attempts, unusedNetwork()))

it('A network may create some keys, across all isolates; its other hits for new keys are ignored', () =>
  limitedTest(async (attempt, network) => {
    await isolate().add('page', { [`/old/${attempt}`]: 1 })
    const on = isolate()
    const said = []
    for (let i = 0; i < 8; i++) said.push(await from(`${network}::1`, on)(`/new/${attempt}/${i}`))
    expect(said).toEqual([...Array(5).fill('counted'), ...Array(3).fill(IGNORED)])
    // Another /64 of the same line.
    expect(await from(`${network}:1::1`, isolate())(`/new/${attempt}`)).toBe(IGNORED)
    // What exists counts all the same.
    expect(await from(`${network}::1`, isolate())(`/old/${attempt}`)).toBe('counted')
    expect(await from(`${unusedNetwork()}::1`, on)(`/new/${attempt}`)).toBe('counted')
    expect(await from(`${network}::1`, on)(`/new/${attempt}`)).toBe('counted')
  }))

it('Fifty networks of a /48 do not use up the budget for the new pages of others', () =>
  limitedTest(async (attempt, network) => {
    const on = isolate()
    let counted = 0
    for (let line = 0; line < 50; line++) {
      const stranger = from(`${network}:${(line << 8).toString(16)}::1`, on)
      for (const key of ['a', 'b']) if ((await stranger(`/invented/${attempt}/${line}/${key}`)) === 'counted') counted++
    }
    // Ten times as many as for one network.
    expect(counted).toBe(50)
    expect(await from(`${unusedNetwork()}::1`, on)(`/honest/${attempt}`)).toBe('counted')
  }))

it('A new key that many request at once is one new key', () =>
  limitedTest(async (attempt, network) => {
    const on = isolate()
    const together = Array.from({ length: 50 }, () => from(`${network}::1`, on)(`/hot/${attempt}`))
    expect(await Promise.all(together)).toEqual(Array(50).fill('counted'))
    expect(await on.count('page', `/hot/${attempt}`)).toBe(50)
  }))
