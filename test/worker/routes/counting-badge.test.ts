import { beforeEach, describe, expect, it } from 'vitest'
import { LIMIT_OF_FIVE } from '../../harness/limit-of-five.ts'
import { deliver, sumOf, TestQueue } from '../../harness/local-queues.ts'
import { logged } from '../../harness/logged.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { parseSvg } from '../../harness/svg.ts'
import { unusedNetwork } from '../../harness/unused-network.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'
import { inOnePeriod } from '../one-period.ts'

const YEAR = 365 * 24 * 3_600
const COUNTERS = {
  profile: { record_type: 1, public: true, counting_badge: true, unit: 'visits' },
  visited: { record_type: 2, public: true, counting_badge: true, also: 'visitor', dedupe_seconds: 60 },
  visitor: { record_type: 3, public: true, dedupe_seconds: YEAR - (YEAR % 60) },
  few: { record_type: 4, public: true, counting_badge: true, new_keys: ['/known/*'] },
  plain: { record_type: 5, public: true },
  secret: { record_type: 6 },
  number: { record_type: 7, public: true, counting_badge: true },
}
const SETTINGS = { COUNTERS, PRUNING: { idempotency_hours: 365 * 24 } }
const CAMO = { 'User-Agent': 'github-camo (876de43e)', 'CF-Connecting-IP': '203.0.113.1' }

const db = emptiedDatabase()
let worker: TestWorker
let attempts = 0
const isolate = (overrides = {}) => new TestWorker(db.url, { ...SETTINGS, ...overrides })
beforeEach(() => {
  worker = isolate()
})

/** Asks for a badge. Returns what it says, and its status and `X-Hit`. */
async function badge(path: string, { on = worker, headers = CAMO as Record<string, string>, method = 'GET' } = {}) {
  const response = await on.fetch(`/hit/${path}`, { headers, method })
  expect(response.headers.get('Content-Type')).toBe('image/svg+xml; charset=utf-8')
  expect(response.headers.get('Cache-Control')).toBe('no-cache, no-store, max-age=0, must-revalidate')
  expect(response.headers.get('ETag')).toBeNull()
  const text = await response.text()
  const says = text === '' ? '' : parseSvg(text)[0]!.attributes['aria-label']
  return { says, status: response.status, hit: response.headers.get('X-Hit') }
}
const sum = () => db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')

describe('A counting badge', () => {
  it('counts every request, by anybody, and shows the count including it', async () => {
    for (let n = 1; n <= 5; n++) {
      expect(await badge('profile/me.svg')).toEqual({ says: `visits: ${n}`, status: 200, hit: 'counted' })
    }
    expect((await badge('profile/me.svg', { on: isolate() })).says).toBe('visits: 6')
    expect((await badge('number/7.svg')).says).toBe('counts: 1')
    const answers = await Promise.all(Array.from({ length: 40 }, () => badge('profile/me.svg')))
    const shown = answers.map(({ says }) => Number(says!.replace('visits: ', '')))
    expect(Math.min(...shown)).toBeGreaterThan(6)
    expect(Math.max(...shown)).toBe(46)
  })

  it('has the parameters and styles of other badges, and ignores unknown ones', async () => {
    expect((await badge('profile/me.svg?label=Visits&style=for-the-badge&color=green')).says).toBe('VISITS: 1')
    const unknown = 'v=2&1732650000&%ff&by=5&key=other&__proto__=x'
    const query = `label=&period=week&compact=true&label_color=000&${unknown}`
    expect((await badge(`profile/me.svg?${query}`)).says).toBe('2/week')
    const wrong = await badge('profile/me.svg?color=blurple')
    expect([wrong.status, wrong.hit]).toEqual([422, 'ignored; reason=invalid_request'])
    expect(await sum()).toBe(2n)
  })

  it('takes its format from the path, never from the key', async () => {
    for (const key of ['a.svg', '/blog/hello', 'é/😀.', '.svg', '100%']) {
      expect((await badge(`profile/${encodeURIComponent(key)}.svg`)).says).toBe('visits: 1')
    }
    for (const path of ['/hit/profile/a', '/hit/profile/a.json', '/hit/profile', '/hit/profile/']) {
      const response = await worker.fetch(path, { headers: CAMO })
      expect([response.status, response.headers.get('Content-Type')], path).toEqual([404, 'application/problem+json'])
    }
    const post = await worker.fetch('/hit/profile/a.svg', { method: 'POST' })
    expect([post.status, post.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
    expect(await sum()).toBe(5n)
  })

  it.each<[string, Record<string, string>]>([
    ['head', {}],
    ['bot', { 'User-Agent': 'Googlebot-Image/1.0' }],
    ['bot', { 'User-Agent': 'curl/8.17.0' }],
    ['prefetch', { ...CAMO, 'Sec-Purpose': 'prefetch' }],
    ['own', { ...CAMO, 'CF-Connecting-IP': '198.51.100.9' }],
  ])('shows the count without counting: %s %j', async (reason, headers) => {
    const on = isolate({ EXCLUDE: { networks: ['198.51.100.0/24'] } })
    await badge('profile/me.svg')
    const [method, says] = reason === 'head' ? ['HEAD', ''] : ['GET', 'visits: 1']
    const answer = await badge('profile/me.svg', { on, headers, method })
    expect(answer).toEqual({ says, status: 200, hit: `ignored; reason=${reason}` })
    expect(await sum()).toBe(1n)
  })

  it('is never de-duplicated, although its type is. A type that its own names counts the proxy once', async () => {
    // No window ends meanwhile.
    stopClock()
    for (let n = 1; n <= 3; n++) {
      expect(await badge('visited/a.svg')).toEqual({ says: `counts: ${n}`, status: 200, hit: 'counted' })
    }
    expect(await worker.count('visitor', 'a')).toBe(1)
  })

  it('is for new keys of the type only, and for as many as others', async () => {
    expect(await badge('few/%2Finvented.svg')).toEqual({ says: 'counts: 0', status: 200, hit: 'ignored; reason=key' })
    expect((await badge('few/%2Fknown%2Fa.svg')).hit).toBe('counted')
    await inOnePeriod(async () => {
      const attempt = ++attempts
      const on = isolate({ NEW_KEY_LIMIT: LIMIT_OF_FIVE })
      const headers = { ...CAMO, 'CF-Connecting-IP': `${unusedNetwork()}::1` }
      const hits = []
      for (let i = 0; i < 8; i++) hits.push((await badge(`profile/${attempt}-${i}.svg`, { headers, on })).hit)
      expect(hits.filter((hit) => hit === 'counted')).toHaveLength(5)
    })
  })

  it('is limited as hits are', () =>
    inOnePeriod(async () => {
      const counting = isolate({ VISITOR_LIMIT: LIMIT_OF_FIVE })
      const key = `${++attempts}`
      const headers = { ...CAMO, 'CF-Connecting-IP': `${unusedNetwork()}::1` }
      const before = await sum()
      const hits = []
      for (let i = 0; i < 8; i++) hits.push(await badge(`profile/${key}.svg`, { on: counting, headers }))
      const [five, three] = [Array(5).fill('counted'), Array(3).fill('ignored; reason=rate')]
      expect(hits.map(({ hit }) => hit)).toEqual([...five, ...three])
      expect(hits.at(-1)!.says).toBe('visits: 5')
      expect((await sum()) - before).toBe(5n)
    }))

  it('is limited as badges are', async () => {
    const reading = isolate({ READER_LIMIT: { limit: async () => ({ success: false }) } })
    const hit = 'ignored; reason=too_many_requests'
    const refused = { says: 'counter: Too many requests from this network', status: 429, hit }
    expect(await badge('profile/me.svg', { on: reading })).toEqual(refused)
    expect(await sum()).toBe(0n)
  })

  it.each([
    ['plain/a', 404, 'counting_badge is not set', 'not_found'],
    ['secret/a', 404, 'The counter type is not configured', 'unknown_type'],
    ['nope/a', 404, 'The counter type is not configured', 'unknown_type'],
    ['constructor/a', 404, 'The counter type is not configured', 'unknown_type'],
    ['profile/a/b', 404, 'write / in the key as %2F', 'not_found'],
    ['profile/', 422, 'key must not be empty', 'invalid_request'],
    ['profile/%ff', 400, 'The key in the path is not percent-encoded UTF-8', 'malformed_key'],
    ['profile/a.svg?label=x&label=y&', 422, 'label must not be repeated', 'invalid_request'],
  ])('says in the image what is wrong with %s', async (path, status, message, reason) => {
    const full = path.includes('?') ? path : `${path}.svg`
    expect(await badge(full)).toEqual({ says: `counter: ${message}`, status, hit: `ignored; reason=${reason}` })
    expect(await sum()).toBe(0n)
  })
})

describe('While the database does not answer, a counting badge', () => {
  const away = () => db.behave({ faults: [{ action: 'error', errno: 2003, times: 1_000_000 }] })

  it('shows the last known count, or says that there is none, and is 200', async () => {
    await badge('profile/me.svg')
    await away()
    await logged(async () => {
      const answer = { status: 200, hit: 'ignored; reason=database_unavailable' }
      expect(await badge('profile/me.svg')).toEqual({ ...answer, says: 'visits: 1' })
      expect(await badge('profile/other.svg')).toEqual({ ...answer, says: 'visits: unavailable' })
    })
    await db.behave()
    expect((await badge('profile/me.svg', { on: isolate() })).says).toBe('visits: 2')
  })

  it('counts through the queue', async () => {
    const queueing = isolate({ BATCHES: TestQueue.batches.binding })
    await badge('profile/me.svg', { on: queueing })
    await away()
    await logged(async () => {
      const answer = { says: 'visits: 1', status: 200, hit: 'queued' }
      expect(await badge('profile/me.svg', { on: queueing })).toEqual(answer)
    })
    await db.behave()
    await deliver(queueing, await TestQueue.batches.take((some) => sumOf(some) >= 1n))
    expect((await badge('profile/me.svg', { on: isolate() })).says).toBe('visits: 3')
  })

  it('waits no longer than proxies do, and is counted afterwards', async () => {
    await badge('profile/me.svg')
    await db.behave({ latencyMs: 4_000 })
    const began = Date.now()
    const late = worker.fetch('/hit/profile/me.svg', { headers: CAMO })
    // The harness waits for the work behind the answer; that it goes on shows the sum.
    const answer = await late
    expect([answer.status, answer.headers.get('X-Hit')]).toEqual([200, 'unknown'])
    expect(parseSvg(await answer.text())[0]!.attributes['aria-label']).toBe('visits: 1')
    expect(Date.now() - began).toBeGreaterThan(2_900)
    await db.behave()
    await expect.poll(sum).toBe(2n)
  })
})
