import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { freshDatabase } from '../../harness/database.ts'
import { LIMIT_OF_FIVE } from '../../harness/limit-of-five.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { unusedNetwork } from '../../harness/unused-network.ts'
import { sharedWorker, TestWorker, TOKEN } from '../../harness/worker.ts'
import { inOnePeriod } from '../one-period.ts'
import { findAll, numbersOn } from '../shown-page.ts'

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

const open = async (query = '', of = worker) => (await of.fetch(`/stats/page_view${query}`)).text()

describe('The public page of a type', () => {
  it('needs no token, may be cached, and has nothing to operate', async () => {
    const response = await worker.fetch('/stats/page_view')
    expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'public, max-age=30'])
    expect(response.headers.get('Content-Security-Policy')).toContain("default-src 'none'; script-src 'self'")
    expect(response.headers.get('Set-Cookie')).toBeNull()
    const page = await response.text()
    expect(page).toContain('<span class="brand">Pages &amp; more</span>')
    expect(page).toContain('<h1>Views &lt;of&gt; pages</h1>')
    expect(page).toContain('<meta name="robots" content="noindex">')
    expect(page).not.toMatch(/<form|<input|roll-up|Sign out|>Download|invoice|secret|csv=/i)
  })

  it('has its numbers, its chart, its list and a table in the page, and links to other periods', async () => {
    const page = await open()
    const { tiles, sum, units, list, zone } = await numbersOn(page)
    expect([zone, sum, list]).toMatchObject([
      'UTC',
      '9 views',
      [
        { key: '/a', count: 7 },
        { key: '/b', count: 2 },
      ],
    ])
    expect(Object.values(tiles).map(({ count }) => count)).toEqual([9, 9, 9, 9, 9])
    expect([units.length, units.at(-1)!.Views]).toEqual([30, '9 views'])
    const links = (await findAll(page, '.tile')).map(({ attributes }) => attributes.href)
    expect(links).toEqual(
      ['today', '7d', '', '12m', 'all'].map((name) => `/stats/page_view${name && `?period=${name}`}`),
    )
    for (const link of links) expect((await numbersOn(await (await worker.fetch(link!)).text())).sum).toBe('9 views')
  })

  it('has a title and a text for link previews', async () => {
    const page = await open()
    const meta = Object.fromEntries(
      [...page.matchAll(/<meta name="([^"]+)" content="([^"]*)">/g)].map(([, name, text]) => [name, text]),
    )
    expect(meta.description).toBe('9 views in 30 days, 9 in total.')
    expect(page).toContain('<title>Views &lt;of&gt; pages · Pages &amp; more</title>')
  })

  it('says what is wrong, and is not cached, if its numbers cannot be read', async () => {
    const away = await freshDatabase()
    await away.behave({ faults: [{ action: 'error', errno: 2003, times: 1_000 }] })
    const blind = new TestWorker(away.url, { COUNTERS })
    const response = await blind.fetch('/stats/page_view', { headers: { Accept: 'text/html' } })
    expect([response.status, response.headers.get('Cache-Control')]).toEqual([503, 'no-store'])
    expect(await response.text()).toContain('The database does not respond.')
  })

  it('shows the numbers of the type, and of no other, in the time zone that its script sends', async () => {
    const { zone, units, list } = await numbersOn(await open('?type=invoice&period=7d&tz=Europe/Berlin'))
    expect([zone, units.length]).toEqual(['Europe/Berlin', 7])
    expect(list.map(({ key }) => key)).toEqual(['/a', '/b'])
  })

  it('reads its numbers once, however many ask, and in whatever spelling of the time zone', async () => {
    const ask = (tz: string) => worker.fetch(`/stats/page_view?${new URLSearchParams({ period: '90d', tz })}`)
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
      expect((await worker.fetch(path, { headers })).status, path).toBe(404)
    }
  })

  it.each(['find=/b', 'key=/a', 'rows=1', 'page=2', 'sort=change', 'from=2026-01-01&to=2026-01-02'])(
    'does not look at what only the dashboard can do: ?%s',
    async (query) => {
      const { sum, list } = await numbersOn(await open(`?${query}`))
      expect([sum, list.length]).toEqual(['9 views', 2])
    },
  )

  it.each(['period=custom', 'period=always', 'tz=Nowhere/Town', `tz=${'x'.repeat(5_000)}`, 'period=7d&period=30d'])(
    'refuses ?%s',
    async (query) => {
      expect((await worker.fetch(`/stats/page_view?${query}`)).status).toBe(422)
    },
  )

  it('keeps the same numbers for 30 seconds', async () => {
    const began = Date.now()
    onTestFinished(() => void vi.setSystemTime(began))
    const read = (headers = {}) => worker.fetch('/stats/video?tz=Asia/Tokyo', { headers })
    const shown = async (response: Response) => (await numbersOn(await response.text())).tiles.all!.count
    await worker.add('video', { a: 1 })
    const first = await read()
    expect(first.headers.get('Cache-Control')).toBe('public, max-age=30')
    expect(await shown(first.clone() as unknown as Response)).toBe(1)
    await worker.add('video', { a: 1 })
    vi.setSystemTime(Date.now() + 20_000)
    const second = await read()
    expect(second.headers.get('Cache-Control')).toBe('public, max-age=10')
    expect(await shown(second)).toBe(1)
    expect((await read({ 'If-None-Match': first.headers.get('ETag')! })).status).toBe(304)
    vi.setSystemTime(Date.now() + 10_000)
    expect(await shown(await read())).toBe(2)
  })

  it('is limited as other readings are', () => {
    // The limit has its own clock.
    vi.useRealTimers()
    return inOnePeriod(async () => {
      const limited = new TestWorker(db.url, { COUNTERS, READER_LIMIT: LIMIT_OF_FIVE })
      const headers = { 'CF-Connecting-IP': `${unusedNetwork()}::1` }
      const read = async () => (await limited.fetch('/stats/page_view', { headers })).status
      const statuses: number[] = []
      for (let i = 0; i < 7; i++) statuses.push(await read())
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
    })
  })
})
