import { beforeEach, describe, expect, it } from 'vitest'
import { expectProblem } from '../../harness/expect-problem.ts'
import { LIMIT_OF_FIVE } from '../../harness/limit-of-five.ts'
import { unusedIpv4Network, unusedNetwork } from '../../harness/unused-network.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'
import { inOnePeriod } from '../one-period.ts'

const SETTINGS = {
  COUNTERS: {
    page: { record_type: 1, public: true, allowed_origins: ['*'] },
    bots: { record_type: 2, public: true, allowed_origins: ['*'], count_bots: true },
    automated: { record_type: 4, public: true, allowed_origins: ['*'], count_automated: true },
    private: { record_type: 3, public: true, allowed_origins: ['*'], respect_do_not_track: true },
  },
}
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
const GOOGLE = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

const db = emptiedDatabase()
let worker: TestWorker
const isolate = (overrides = {}) => new TestWorker(db.url, { ...SETTINGS, ...overrides })
beforeEach(() => {
  worker = isolate()
})

/** Sends a hit in each way, and returns the X-Hit of each. */
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

describe('A hit', () => {
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
  ])('is not counted because of %s, and says so in X-Hit: type %s with %j', async (reason, type, headers) => {
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
  ])('is counted: type %s with %j', async (type, headers) => {
    expect(await hit(type, headers)).toEqual(three('counted'))
    expect(await sum()).toBe(3n)
  })

  it('of a browser that a program controls is not counted, unless the type says so', async () => {
    const sent = (type: string, automated: string) => {
      const query = `?type=${type}&key=/a&automated=${automated}`
      return [worker.fetch(`/hit${query}`, { method: 'POST' }), worker.fetch(`/hit.gif${query}`)]
    }
    const said = async (answers: Promise<Response>[]) =>
      (await Promise.all(answers)).map(({ headers }) => headers.get('X-Hit'))
    const inBody = (type: string, automated: unknown) =>
      worker.fetch('/hit', { method: 'POST', body: JSON.stringify({ type, key: '/a', automated }) })
    const AUTOMATED = 'ignored; reason=automated'
    expect(await said([...sent('page', '1'), inBody('page', true)])).toEqual(three(AUTOMATED))
    expect(await sum()).toBe(0n)
    expect(await said([...sent('page', '0'), inBody('page', false)])).toEqual(three('counted'))
    expect(await said([...sent('automated', '1'), inBody('automated', true)])).toEqual(three('counted'))
    expect(await sum()).toBe(6n)
  })

  it.each(['', 'true', '2', '1&automated=1'])('with automated=%s is refused', async (automated) => {
    const response = await worker.fetch(`/hit?type=page&key=/a&automated=${automated}`, { method: 'POST' })
    const errors = [{ field: 'automated', message: expect.any(String) }]
    await expectProblem(response, 422, 'invalid_request', { errors })
    for (const wrong of ['1', 1, null]) {
      const body = JSON.stringify({ type: 'page', key: '/a', automated: wrong })
      expect((await worker.fetch('/hit', { method: 'POST', body })).status).toBe(422)
    }
    expect(await sum()).toBe(0n)
  })

  it('by the API is counted for any user agent and purpose', async () => {
    const headers = { 'User-Agent': GOOGLE, Purpose: 'prefetch' }
    const response = await worker.api('POST', '/v1/counters/page/%2Fa', undefined, headers)
    expect([response.status, await sum()]).toEqual([200, 1n])
  })
})

describe('With a rate limit', () => {
  const limited = () => isolate({ VISITOR_LIMIT: LIMIT_OF_FIVE })
  const from = (address: string, on: TestWorker) => hit('page', { 'CF-Connecting-IP': address }, on)

  const newAddress = () => `${unusedIpv4Network()}.1`

  it('the hits of a visitor beyond the limit are not counted, and those of others are', () =>
    inOnePeriod(async () => {
      const on = limited()
      const [one, other] = [newAddress(), newAddress()]
      const before = await sum()
      expect(await from(one, on)).toEqual(three('counted'))
      expect(await from(one, on)).toEqual(['counted', 'counted', 'ignored; reason=rate'])
      expect(await from(one, on)).toEqual(three('ignored; reason=rate'))
      expect(await from(other, on)).toEqual(three('counted'))
      expect((await sum()) - before).toBe(8n)
    }))

  it('the addresses of one IPv6 network are one visitor', () =>
    inOnePeriod(async () => {
      const on = limited()
      const network = unusedNetwork()
      const said = []
      for (const host of ['0::1', '0::2', 'ff::1']) said.push(...(await from(`${network}:${host}`, on)))
      expect(said.filter((one) => one === 'counted').length).toBe(5)
      expect(await from(`${network}:100::1`, on)).toEqual(three('counted'))
    }))

  it.each<[string, () => string, (network: number) => string]>([
    ['an IPv4 /24', unusedIpv4Network, (network) => `.${network}`],
    ['an IPv6 /48', unusedNetwork, (network) => `:${(network << 8).toString(16)}::1`],
  ])('all networks of %s together have ten times the limit', (_, unused, rest) =>
    inOnePeriod(async () => {
      const wide = unused()
      const on = limited()
      const said = []
      for (let network = 1; network <= 20; network++) said.push(...(await from(wide + rest(network), on)))
      expect(said).toEqual([...Array(50).fill('counted'), ...Array(10).fill('ignored; reason=rate')])
    }),
  )

  it('the hits of a bot do not use up the limit', () =>
    inOnePeriod(async () => {
      const on = limited()
      const address = newAddress()
      const bot = { 'CF-Connecting-IP': address, 'User-Agent': GOOGLE }
      for (let i = 0; i < 3; i++) expect(await hit('page', bot, on)).toEqual(three('ignored; reason=bot'))
      expect(await from(address, on)).toEqual(three('counted'))
    }))

  it('all hits are counted while the rate limit fails', async () => {
    const broken = { limit: () => Promise.reject(new Error('refused by the test')) }
    expect(await from('203.0.113.7', isolate({ VISITOR_LIMIT: broken }))).toEqual(three('counted'))
  })
})
