import { beforeEach, describe, expect, it } from 'vitest'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../../src/config/config.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'

/** In seconds. */
const YEAR = 365 * 24 * 3_600
const OPEN = { public: true, allowed_origins: ['*'] }
const COUNTERS = {
  view: { record_type: 1, ...OPEN, also: 'visitor', new_keys_per_minute: 5 },
  file: { record_type: 2, ...OPEN, redirect_to: '/files/', also: 'visitor', dedupe_seconds: YEAR },
  // Its own rules are for its own hits: those of `view` come by way of that type's.
  visitor: { record_type: 3, public: true, dedupe_seconds: YEAR, new_keys: 'known', respect_do_not_track: true },
  item: { record_type: 4, ...OPEN, also: 'buyer' },
  buyer: { record_type: 5, dedupe_seconds: YEAR, slots: 2 },
}
const SETTINGS = { COUNTERS, PRUNING: { idempotency_hours: 365 * 24 } }
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const DUPLICATE = 'ignored; reason=duplicate'

const db = emptiedDatabase()
let worker: TestWorker
const isolate = (overrides = {}) => new TestWorker(db.url, { ...SETTINGS, ...overrides })
beforeEach(() => {
  // No window ends during a test.
  stopClock()
  worker = isolate()
})

const from = (address: string, more = {}) => ({ 'CF-Connecting-IP': address, 'User-Agent': AGENT, ...more })
const said = async (response: Promise<Response>) => (await response).headers.get('X-Hit')
const view = (address: string, key: unknown = '/a', on = worker, more = {}) =>
  said(on.hit('view', key, from(address, more)))
const countOf = (type: string, key = '/a') => isolate().count(type, key)
/** The counts of both types. */
const pair = async (key = '/a') => [await countOf('view', key), await countOf('visitor', key)]

describe('A hit of a type that names another', () => {
  it('counts in both, and a repeat in the first one only, whichever isolate it reaches', async () => {
    const other = isolate()
    for (const on of [worker, worker, other, other]) expect(await view('203.0.113.1', '/a', on)).toBe('counted')
    expect(await pair()).toEqual([4, 1])
    expect(await view('203.0.113.2', '/a', other)).toBe('counted')
    expect(await pair()).toEqual([5, 2])
    await worker.cron(ROLL_UP_CRON)
    await worker.cron(PRUNING_CRON)
    expect(await view('203.0.113.1', '/a', isolate())).toBe('counted')
    expect(await pair()).toEqual([6, 2])
  })

  it('is one statement', async () => {
    await view('203.0.113.1')
    const sent = await db.recording(() => view('203.0.113.2'))
    expect(sent.map(({ sql }) => sql)).toEqual([
      expect.stringMatching(/INSERT INTO slotted_counters [^;]*\(1,\d+,[^;]*\(3,\d+,/),
    ])
  })

  it('counts by the image, and with the name of the key in both', async () => {
    const pixel = () => said(worker.fetch('/hit.gif?type=view&key=%2Fa', { headers: from('203.0.113.1') }))
    expect([await pixel(), await pixel()]).toEqual(['counted', 'counted'])
    expect(await pair()).toEqual([2, 1])
    const buy = (key: unknown) => said(worker.hit('item', key, from('203.0.113.1')))
    for (const key of ['42', '42', '9223372036854775807']) expect(await buy(key)).toBe('counted')
    expect([await countOf('item', '42'), await countOf('buyer', '42')]).toEqual([2, 1])
    expect(await countOf('buyer', '9223372036854775807')).toBe(1)
    for (const type of ['view', 'visitor']) {
      const search = await worker.api('GET', `/v1/search/${type}?prefix=/`)
      expect(await search.json()).toMatchObject({ counters: [{ key: '/a' }] })
    }
  })

  it('counts a visitor once with the hits of the other type, which has rules of its own', async () => {
    expect(await said(worker.hit('visitor', '/a', from('203.0.113.1')))).toBe('ignored; reason=origin')
    const open = isolate({ COUNTERS: { ...COUNTERS, visitor: { ...COUNTERS.visitor, allowed_origins: ['*'] } } })
    expect(await said(open.hit('visitor', '/b', from('203.0.113.1')))).toBe('ignored; reason=key')
    await view('203.0.113.1')
    expect(await said(open.hit('visitor', '/a', from('203.0.113.1')))).toBe('counted')
    expect(await said(open.hit('visitor', '/a', from('203.0.113.2')))).toBe('counted')
    expect(await pair()).toEqual([1, 2])
    expect(await view('203.0.113.2')).toBe('counted')
    expect(await pair()).toEqual([2, 2])
  })

  it('counts in neither if the first type ignores it, and in both if only the other one would', async () => {
    expect(await view('203.0.113.1', '/a', worker, { 'User-Agent': 'Googlebot/2.1' })).toBe('ignored; reason=bot')
    expect(await view('203.0.113.1', '/a', worker, { 'Sec-Purpose': 'prefetch' })).toBe('ignored; reason=prefetch')
    expect(await pair()).toEqual([0, 0])
    expect(await view('203.0.113.1', '/a', worker, { DNT: '1' })).toBe('counted')
    expect(await pair()).toEqual([1, 1])
  })

  it('takes one key from the budget, and what that refuses is in neither', async () => {
    const answers = []
    for (let i = 0; i < 8; i++) answers.push(await view('203.0.113.1', `/${i}`))
    const counted = answers.filter((one) => one === 'counted').length
    expect(counted).toBeGreaterThanOrEqual(5)
    expect(answers.filter((one) => one !== 'counted').every((one) => one === 'ignored; reason=key')).toBe(true)
    expect(await db.number('SELECT SUM(taken) FROM new_key_budgets')).toBe(BigInt(counted))
    expect(await db.number('SELECT COUNT(*) FROM counters')).toBe(BigInt(2 * counted))
    for (let i = 0; i < 8; i++) {
      const is = answers[i] === 'counted' ? 1 : 0
      expect(await pair(`/${i}`)).toEqual([is, is])
    }
  })

  it('that is itself counted once a visitor is a duplicate in both', async () => {
    const hit = (on: TestWorker) => said(on.hit('file', 'a.zip', from('203.0.113.1')))
    expect([await hit(worker), await hit(worker)]).toEqual(['counted', DUPLICATE])
    // Another isolate does not know the visitor. The database does.
    expect(await hit(isolate())).toBe('counted')
    // A download is the same visit. It does not always wait for its count.
    await isolate().fetch('/d/file/a.zip', { headers: from('203.0.113.1') })
    expect([await countOf('file', 'a.zip'), await countOf('visitor', 'a.zip')]).toEqual([1, 1])
  })

  it('is not what the API does', async () => {
    await worker.api('POST', '/v1/counters/view/%2Fa', { by: 3 }, from('203.0.113.1'))
    await worker.api('POST', '/v1/increments', { increments: [{ type: 'view', key: '/a' }] }, from('203.0.113.1'))
    expect(await pair()).toEqual([4, 0])
  })
})

describe('When the database fails', () => {
  const refuse = () => db.behave({ faults: [{ action: 'error', errno: 2003, match: '^INSERT', times: 1_000_000 }] })

  it('a hit is in neither, and its visitor is new afterwards', async () => {
    await view('203.0.113.9')
    await refuse()
    expect((await worker.hit('view', '/a', from('203.0.113.1'))).status).toBe(503)
    await db.behave()
    expect(await pair()).toEqual([1, 1])
    expect(await view('203.0.113.1', '/a', isolate())).toBe('counted')
    expect(await pair()).toEqual([2, 2])
  })
})
