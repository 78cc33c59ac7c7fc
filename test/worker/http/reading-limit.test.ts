import { env as configured } from 'cloudflare:workers'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { problemDocument } from '../../../scripts/openapi/problems.ts'
import { networkOf } from '../../../src/visits/network.ts'
import type { RateLimit } from '../../../src/visits/rate-limit.ts'
import { LIMIT_OF_FIVE } from '../../harness/limit-of-five.ts'
import { sessionCookie } from '../../harness/sign-in.ts'
import { unusedNetwork } from '../../harness/unused-network.ts'
import { sharedWorker, TestWorker, TOKEN } from '../../harness/worker.ts'
import { inOnePeriod } from '../one-period.ts'

const COUNTERS = { page: { record_type: 1, public: true, allowed_origins: ['*'] }, secret: { record_type: 2 } }

const { db, worker: limited } = sharedWorker({ COUNTERS, READER_LIMIT: LIMIT_OF_FIVE })
let network = ''
/** Runs a test from a new network, within one period of the limits. */
const limitedTest = (work: () => Promise<void>) =>
  inOnePeriod(() => {
    network = unusedNetwork()
    return work()
  })

/** Reads from the IPv6 network of the test. */
const read = (path: string, headers: Record<string, string> = {}, on = limited) =>
  on.fetch(path, { headers: { 'CF-Connecting-IP': `${network}::${++hosts}`, ...headers } })
let hosts = 0
const statuses = async (count: number, path: string, headers: Record<string, string> = {}, on = limited) => {
  const found: number[] = []
  for (let i = 0; i < count; i++) found.push((await read(path, headers, on)).status)
  return found
}
const FIVE = Array(5).fill(200)

describe('The rate limit of public reading', () => {
  it.each([
    '/v1/counters/page/a',
    '/v1/counters/page/a?consistency=rolled',
    '/v1/counters/page?key=a&key=b',
    '/v1/shown?of=page+a&of=page+b',
    '/v1/counters/page/a/history',
    '/v1/types/page/history',
    '/v1/top/page',
    '/badge/page/a.svg',
    '/badge/page/a.json',
    '/chart/page.svg',
    '/healthz',
  ])('holds for %s', (path) =>
    limitedTest(async () => {
      expect(await statuses(7, path)).toEqual([...FIVE, 429, 429])
    }),
  )

  it.each(['key', 'k%65y'])('counts each hundred keys as one reading, written as %s', (name) =>
    limitedTest(async () => {
      const path = `/v1/counters/page?${Array.from({ length: 250 }, (_, i) => `${name}=${i}`).join('&')}`
      expect(await statuses(3, path)).toEqual([200, 429, 429])
    }),
  )

  it('counts each total on a page as one reading, but not the same one twice', () =>
    limitedTest(async () => {
      const total = Array(50).fill('of=page*+').join('&')
      expect(await statuses(4, `/v1/shown?of=page+a&${total}`)).toEqual([200, 200, 429, 429])
    }))

  it('answers with a problem that scripts of other sites can read, and with when to come back', () =>
    limitedTest(async () => {
      await statuses(5, '/v1/counters/page/a')
      const response = await read('/v1/counters/page/a', { Origin: 'https://any.example' })
      expect([response.status, Object.fromEntries(response.headers)]).toMatchObject([
        429,
        { 'retry-after': '60', 'access-control-allow-origin': '*', 'cache-control': 'no-store' },
      ])
      expect(v.parse(problemDocument, await response.json())).toMatchObject({ status: 429, code: 'too_many_requests' })
    }))

  it('answers with a badge where an image is shown, which nothing caches', () =>
    limitedTest(async () => {
      await statuses(5, '/badge/page/a.svg')
      const image = await read('/badge/page/a.svg')
      expect([image.status, Object.fromEntries(image.headers)]).toMatchObject([
        429,
        { 'content-type': 'image/svg+xml; charset=utf-8', 'cache-control': 'no-store', 'retry-after': '60' },
      ])
      expect(await image.text()).toContain('Too many requests from this network')
      const json = await read('/badge/page/a.json')
      expect(await json.json()).toMatchObject({ isError: true, message: 'Too many requests from this network' })
    }))

  it('is checked before the database is asked', () =>
    limitedTest(async () => {
      await statuses(5, '/v1/counters/page/a')
      const sent = await db.recording(async () => {
        for (const path of [
          '/v1/counters/page/a',
          '/badge/page/a.svg',
          '/chart/page/a.svg',
          '/v1/types/page/history',
          '/v1/top/page',
        ]) {
          expect((await read(path)).status).toBe(429)
        }
      })
      expect(sent).toEqual([])
    }))

  it('applies to one network: another one can still read', () =>
    limitedTest(async () => {
      expect(await statuses(6, '/v1/counters/page/a')).toEqual([...FIVE, 429])
      network = unusedNetwork()
      expect(await statuses(5, '/v1/counters/page/a')).toEqual(FIVE)
    }))

  it('does not apply to the token or a session, nor count their requests', () =>
    limitedTest(async () => {
      const Cookie = await sessionCookie(limited)
      expect(await statuses(8, '/v1/counters/page/a', { Authorization: `Bearer ${TOKEN}` })).toEqual(Array(8).fill(200))
      expect(await statuses(8, '/v1/counters/secret/a', { Cookie })).toEqual(Array(8).fill(200))
      expect(await statuses(6, '/v1/counters/page/a')).toEqual([...FIVE, 429])
    }))

  it('applies to a wrong token, and to types that are not public', () =>
    limitedTest(async () => {
      expect(await statuses(7, '/v1/counters/page/a', { Authorization: 'Bearer wrong' })).toEqual([...FIVE, 429, 429])
      network = unusedNetwork()
      expect(await statuses(7, '/v1/counters/secret/a')).toEqual([...Array(5).fill(401), 429, 429])
    }))

  it('does not apply to this machine, from which no visitor of a deployed Worker comes', () =>
    limitedTest(async () => {
      for (const address of ['127.0.0.1', '::1']) {
        expect(await statuses(8, '/v1/counters/page/a', { 'CF-Connecting-IP': address })).toEqual(Array(8).fill(200))
      }
    }))

  it('lets everything through while the platform’s rate limit fails', () =>
    limitedTest(async () => {
      const broken = { limit: () => Promise.reject(new Error('refused by the test')) }
      const on = new TestWorker(db.url, { COUNTERS, READER_LIMIT: broken })
      expect(await statuses(6, '/v1/counters/page/a', {}, on)).toEqual([...FIVE, 200])
    }))
})

describe('As shipped', () => {
  /** With the bindings of wrangler.toml, which other tests switch off. */
  const shipped = () => {
    const { VISITOR_LIMIT, READER_LIMIT, NEW_KEY_LIMIT } = configured as Record<string, unknown>
    return new TestWorker(db.url, { COUNTERS, VISITOR_LIMIT, READER_LIMIT, NEW_KEY_LIMIT })
  }

  it('the limits are on: a page of 50 badges shows them all, a loop is stopped', () =>
    limitedTest(async () => {
      const on = shipped()
      const address = `${network}::1`
      const { VISITOR_LIMIT, READER_LIMIT } = configured as unknown as Record<string, RateLimit>
      const useUp = (limit: RateLimit, requests: number) =>
        Promise.all(Array.from({ length: requests }, () => limit.limit({ key: networkOf(address, 'subscriber')! })))
      const said = async () => (await on.hit('page', 'a', { 'CF-Connecting-IP': address })).headers.get('X-Hit')
      expect(await statuses(50, '/badge/page/a.svg', {}, on)).toEqual(Array(50).fill(200))
      await useUp(READER_LIMIT!, 1_149)
      expect(await statuses(2, '/badge/page/a.svg', {}, on)).toEqual([200, 429])
      await useUp(VISITOR_LIMIT!, 599)
      expect([await said(), await said()]).toEqual(['counted', 'ignored; reason=rate'])
    }))
})
