import { beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { TestWorker } from '../harness/worker.ts'

const SETTINGS = {
  COUNTERS: {
    page: { record_type: 1, public: true, allowed_origins: ['*'] },
    bots: { record_type: 2, public: true, allowed_origins: ['*'], count_bots: true },
    private: { record_type: 3, public: true, allowed_origins: ['*'], respect_do_not_track: true },
  },
}
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const GOOGLE = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

let db: TestDatabase
let worker: TestWorker
const isolate = (overrides = {}) => new TestWorker(db.url, { ...SETTINGS, ...overrides })
beforeEach(async () => {
  db = await freshDatabase()
  worker = isolate()
})

/** What each way of counting says, and how much is there in the end. */
async function hit(type: string, headers: Record<string, string>, on = worker) {
  const all = { 'User-Agent': BROWSER, ...headers }
  const query = `?type=${type}&key=/a`
  const answers = [
    await on.hit(type, '/a', all),
    await on.fetch(`/hit${query}`, { method: 'POST', headers: all }),
    await on.fetch(`/hit.gif${query}`, { headers: all }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 200])
  for (const answer of answers) await answer.arrayBuffer()
  return answers.map(({ headers }) => headers.get('X-Hit'))
}
const sum = () => db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')
const three = (said: string) => [said, said, said]

describe('what is not counted, and says so', () => {
  it.each<[string, string, Record<string, string>]>([
    ['bot', 'page', { 'User-Agent': GOOGLE }],
    ['bot', 'page', { 'User-Agent': 'curl/8.5.0' }],
    ['prefetch', 'page', { 'Sec-Purpose': 'prefetch' }],
    ['prefetch', 'page', { 'Sec-Purpose': 'prefetch;prerender' }],
    ['prefetch', 'page', { Purpose: 'prefetch' }],
    ['prefetch', 'page', { 'X-Purpose': 'preview' }],
    ['prefetch', 'page', { 'X-Moz': 'prefetch' }],
    ['prefetch', 'bots', { 'User-Agent': GOOGLE, 'Sec-Purpose': 'prefetch' }],
    ['dnt', 'private', { DNT: '1' }],
    ['dnt', 'private', { 'Sec-GPC': '1' }],
  ])('for %s: type %s with %j', async (reason, type, headers) => {
    expect(await hit(type, headers)).toEqual(three(`ignored; reason=${reason}`))
    expect(await sum()).toBe(0n)
  })

  it.each<[string, Record<string, string>]>([
    ['page', {}],
    ['page', { 'User-Agent': '' }],
    ['page', { DNT: '1', 'Sec-GPC': '1' }],
    ['bots', { 'User-Agent': GOOGLE }],
    ['private', { DNT: '0' }],
    ['page', { 'Sec-Purpose': 'something-else' }],
  ])('is not type %s with %j', async (type, headers) => {
    expect(await hit(type, headers)).toEqual(three('counted'))
    expect(await sum()).toBe(3n)
  })

  it('is nothing that the API is told, whoever tells it', async () => {
    const response = await worker.api('POST', '/v1/counters/page/%2Fa', undefined, {
      'User-Agent': GOOGLE,
      Purpose: 'prefetch',
    })
    expect([response.status, await sum()]).toEqual([200, 1n])
  })
})

describe('with a rate limit', () => {
  /** Lets each through a few times, as the platform's does. */
  class Limit {
    readonly asked = new Map<string, number>()
    async limit({ key }: { key: string }) {
      const times = (this.asked.get(key) ?? 0) + 1
      this.asked.set(key, times)
      return { success: times <= 2 }
    }
  }

  it('a visitor who sends too much is not counted any more, and others are', async () => {
    const limited = isolate({ VISITOR_LIMIT: new Limit() })
    const from = (address: string) => hit('page', { 'CF-Connecting-IP': address }, limited)
    expect(await from('203.0.113.7')).toEqual(['counted', 'counted', 'ignored; reason=rate'])
    expect(await from('203.0.113.7')).toEqual(three('ignored; reason=rate'))
    expect(await from('203.0.113.8')).toEqual(['counted', 'counted', 'ignored; reason=rate'])
    expect(await sum()).toBe(4n)
  })

  it('the addresses of one IPv6 network are one visitor', async () => {
    const limit = new Limit()
    const limited = isolate({ VISITOR_LIMIT: limit })
    for (const host of ['1', '2', '3']) await hit('page', { 'CF-Connecting-IP': `2001:db8:1:2::${host}` }, limited)
    expect([...limit.asked]).toEqual([['2001:db8:1:2::/64', 9]])
    expect(await sum()).toBe(2n)
  })

  it('what a bot sends does not use it up', async () => {
    const limit = new Limit()
    await hit('page', { 'CF-Connecting-IP': '203.0.113.7', 'User-Agent': GOOGLE }, isolate({ VISITOR_LIMIT: limit }))
    expect(limit.asked.size).toBe(0)
  })

  it('everything is counted while it does not work', async () => {
    const broken = { limit: () => Promise.reject(new Error('refused by the test')) }
    const limited = isolate({ VISITOR_LIMIT: broken })
    expect(await hit('page', { 'CF-Connecting-IP': '203.0.113.7' }, limited)).toEqual(three('counted'))
  })
})
