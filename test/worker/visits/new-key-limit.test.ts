import { expect, it } from 'vitest'
import { LIMIT_OF_FIVE } from '../../harness/limit-of-five.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'
import { inOnePeriod } from '../one-period.ts'

const IGNORED = 'ignored; reason=key'
const { db } = sharedWorker()
/** Begins with something that no test has used. */
let attempts = 0
/** Each attempt has a type of its own, whose budget nothing else has used. */
const isolate = () => {
  const page = { record_type: attempts, public: true, allowed_origins: ['*'], new_keys_per_minute: 90 }
  return new TestWorker(db.url, { COUNTERS: { page }, NEW_KEY_LIMIT: LIMIT_OF_FIVE })
}

const from = (address: string, on: TestWorker) => async (key: string) =>
  (await on.hit('page', key, { 'CF-Connecting-IP': address })).headers.get('X-Hit')
const limitedTest = (work: (unused: string) => Promise<void>) => inOnePeriod(() => work((++attempts).toString(16)))

it('A network brings some keys into being, in all isolates together; its other hits of new keys are ignored', () =>
  limitedTest(async (unused) => {
    await isolate().add('page', { [`/old/${unused}`]: 1 })
    const on = isolate()
    const said = []
    for (let i = 0; i < 8; i++) said.push(await from(`2001:db8:${unused}::1`, on)(`/new/${unused}/${i}`))
    expect(said).toEqual([...Array(5).fill('counted'), ...Array(3).fill(IGNORED)])
    // Another /64 of the same line.
    expect(await from(`2001:db8:${unused}:1::1`, isolate())(`/new/${unused}`)).toBe(IGNORED)
    // What exists counts all the same.
    expect(await from(`2001:db8:${unused}::1`, isolate())(`/old/${unused}`)).toBe('counted')
    expect(await from(`2001:db9:${unused}::1`, on)(`/new/${unused}`)).toBe('counted')
    expect(await from(`2001:db8:${unused}::1`, on)(`/new/${unused}`)).toBe('counted')
  }))

it('Fifty networks of a /48 do not use up the budget for the new pages of others', () =>
  limitedTest(async (unused) => {
    const on = isolate()
    let counted = 0
    for (let network = 0; network < 50; network++) {
      const stranger = from(`2001:dba:${unused}:${(network << 8).toString(16)}::1`, on)
      for (const key of ['a', 'b'])
        if ((await stranger(`/invented/${unused}/${network}/${key}`)) === 'counted') counted++
    }
    // Ten times as many as for one network.
    expect(counted).toBe(50)
    expect(await from(`2001:dbb:${unused}::1`, on)(`/honest/${unused}`)).toBe('counted')
  }))

it('A new key that many request at once is one new key', () =>
  limitedTest(async (unused) => {
    const on = isolate()
    const together = Array.from({ length: 50 }, () => from(`2001:dbc:${unused}::1`, on)(`/hot/${unused}`))
    expect(await Promise.all(together)).toEqual(Array(50).fill('counted'))
    expect(await on.count('page', `/hot/${unused}`)).toBe(50)
  }))
