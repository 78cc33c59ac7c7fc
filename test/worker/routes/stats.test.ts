import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { freshDatabase } from '../../harness/database.ts'
import { LIMIT_OF_FIVE } from '../../harness/limit-of-five.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { unusedNetwork } from '../../harness/unused-network.ts'
import { sharedWorker, TestWorker, TOKEN } from '../../harness/worker.ts'
import { inOnePeriod } from '../one-period.ts'

const COUNTERS = {
  page_view: { record_type: 1, public: true, public_page: true, title: 'Views <of> pages', unit: 'views' },
  download: { record_type: 2, public: true },
  invoice: { record_type: 3 },
  video: { record_type: 4, public: true, public_page: true },
}

stopClockOfFile()
const { db, worker } = sharedWorker({ COUNTERS, SITE_NAME: 'Pages & more' })
beforeAll(async () => {
  await worker.add('page_view', { '/a': 7, '/b': 2 })
  await worker.add('invoice', { secret: 5 })
  await worker.api('POST', '/v1/rollup')
})

const numbers = async (query = '') => (await worker.fetch(`/stats/page_view/numbers${query}`)).json()

describe('The public page of a type', () => {
  it('needs no token, may be cached, and has nothing to operate', async () => {
    const response = await worker.fetch('/stats/page_view')
    expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'public, max-age=60'])
    expect(response.headers.get('Content-Security-Policy')).toContain("default-src 'none'; script-src 'self'")
    expect(response.headers.get('Set-Cookie')).toBeNull()
    const page = await response.text()
    expect(page).toContain('<span class="brand">Pages &amp; more</span>')
    expect(page).toContain('<h1>Views &lt;of&gt; pages</h1>')
    expect(page).toContain('<meta name="robots" content="noindex">')
    expect(page).not.toMatch(/<form|<input|roll-up|Sign out|download|invoice|secret/i)
  })

  it('has numbers and a list without its script, and a title and a text for link previews', async () => {
    const page = await (await worker.fetch('/stats/page_view')).text()
    const withoutScripts = /<noscript>(.*)<\/noscript>/s.exec(page)![1]!
    expect(withoutScripts.match(/<b>\d+<\/b>/g)).toEqual(Array(5).fill('<b>9</b>'))
    expect(withoutScripts).toContain('<img src="/chart/page_view.svg" alt="Chart: views, ')
    expect(withoutScripts).toMatch(
      /<bdi>\/a<\/bdi><\/th><td class="number">7<\/td>.*<bdi>\/b<\/bdi><\/th><td class="number">2</s,
    )
    const meta = Object.fromEntries(
      [...page.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)">/g)].map(([, name, text]) => [name, text]),
    )
    expect(meta).toMatchObject({
      'og:site_name': 'Pages &amp; more',
      'og:title': 'Views &lt;of&gt; pages · Pages &amp; more',
      'og:description': '9 views in 30 days, 9 in all.',
      description: '9 views in 30 days, 9 in all.',
      'og:url': 'https://counter.test/stats/page_view',
    })
  })

  it('is sent without numbers, and not cached, if they cannot be read', async () => {
    const away = await freshDatabase()
    await away.behave({ faults: [{ action: 'error', errno: 2003, times: 1_000 }] })
    const blind = new TestWorker(away.url, { COUNTERS })
    const response = await blind.fetch('/stats/page_view')
    expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'no-store'])
    expect(await response.text()).toContain('The numbers cannot be read now.')
  })

  it('shows the numbers of the type, and of no other', async () => {
    expect(await numbers('?type=page_view&period=7d&tz=Europe/Berlin')).toMatchObject({
      timeZone: 'Europe/Berlin',
      figures: { today: { count: 9 }, '7d': { count: 9 }, '30d': { count: 9 } },
      total: 9,
      chart: { by: 'day', count: 9 },
      list: {
        counters: [
          { key: '/a', count: 7 },
          { key: '/b', count: 2 },
        ],
        more: false,
      },
    })
    expect(await numbers('?type=invoice')).toMatchObject({ total: 9 })
    for (const period of ['today', '30d', '90d', '12m', 'all']) {
      expect(await numbers(`?period=${period}`), period).toMatchObject({ total: 9, chart: { count: 9 } })
    }
  })

  it('reads its numbers once, however many ask, and in whatever spelling of the time zone', async () => {
    const ask = (tz: string) => worker.fetch(`/stats/page_view/numbers?${new URLSearchParams({ period: '90d', tz })}`)
    const once = await db.recording(async () => void (await ask('America/New_York')))
    const often = await db.recording(async () => {
      const zones = ['Asia/Tokyo', 'asia/TOKYO', 'ASIA/tokyo', 'Asia/Tokyo']
      const answers = await Promise.all(zones.map(ask))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    })
    expect(often).toHaveLength(once.length)
    expect((await ask('+05:30')).status).toBe(200)
    expect((await ask('+05:37')).status).toBe(422)
  })

  it.each([
    '/stats/download',
    '/stats/invoice',
    '/stats/nope',
    '/stats/constructor',
    '/stats/__proto__',
    '/stats/',
    '/stats',
  ])('is not found at %s, with a token neither', async (path) => {
    for (const headers of [{}, { Authorization: `Bearer ${TOKEN}` }]) {
      for (const each of [path, `${path}/numbers`]) {
        expect((await worker.fetch(each, { headers })).status, each).toBe(404)
      }
    }
  })

  it.each([
    'find=/a',
    'key=/a',
    'rows=100',
    'period=custom&from=2026-01-01&to=2026-01-02',
    'from=2026-01-01',
    'period=always',
    'tz=Nowhere/Town',
    `tz=${'x'.repeat(5_000)}`,
    'period=7d&period=30d',
  ])('refuses ?%s', async (query) => {
    const response = await worker.fetch(`/stats/page_view/numbers?${query}`)
    expect(response.status, await response.clone().text()).toBeGreaterThanOrEqual(400)
    expect(response.status).toBeLessThan(500)
  })

  it('keeps the same numbers for 30 seconds', async () => {
    const began = Date.now()
    onTestFinished(() => void vi.setSystemTime(began))
    const read = (headers = {}) => worker.fetch('/stats/video/numbers?tz=Asia/Tokyo', { headers })
    const count = async () => {
      await worker.add('video', { a: 1 })
      await worker.api('POST', '/v1/rollup')
    }
    await count()
    const first = await read()
    expect(first.headers.get('Cache-Control')).toBe('public, max-age=30')
    expect(await first.json()).toMatchObject({ total: 1 })
    await count()
    vi.setSystemTime(Date.now() + 20_000)
    const second = await read()
    expect(second.headers.get('Cache-Control')).toBe('public, max-age=10')
    expect(await second.json()).toMatchObject({ total: 1 })
    expect((await read({ 'If-None-Match': first.headers.get('ETag')! })).status).toBe(304)
    vi.setSystemTime(Date.now() + 10_000)
    expect(await (await read()).json()).toMatchObject({ total: 2 })
  })

  it('says that the database is away', async () => {
    const dead = new TestWorker('http://user:password@127.0.0.1:9', { COUNTERS })
    expect((await dead.fetch('/stats/page_view')).status).toBe(200)
    expect((await dead.fetch('/stats/page_view/numbers')).status).toBe(503)
  })

  it('is limited as other readings are', () => {
    // The limit has its own clock.
    vi.useRealTimers()
    return inOnePeriod(async () => {
      const limited = new TestWorker(db.url, { COUNTERS, READER_LIMIT: LIMIT_OF_FIVE })
      const headers = { 'CF-Connecting-IP': `${unusedNetwork()}::1` }
      const read = async () => (await limited.fetch('/stats/page_view/numbers', { headers })).status
      const statuses: number[] = []
      for (let i = 0; i < 7; i++) statuses.push(await read())
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
    })
  })
})
