import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { addressOfKey } from '../../../src/counters/keys/key-address.ts'
import { bytesSql } from '../../../src/counters/keys/prefix.ts'
import { countPeriods } from '../../harness/count-periods.ts'
import { sessionCookie } from '../../harness/sign-in.ts'
import { tokenLines, tokenOf } from '../../harness/tokens.ts'
import { sharedWorker, TestWorker, TOKEN } from '../../harness/worker.ts'
import { findAll } from '../shown-page.ts'

/** A Thursday. */
const NOW = '2026-11-26T10:30:00Z'
const HOSTILE = '<b>&"]]>\uFFFF\u0001'
const COUNTERS = {
  page_view: {
    record_type: 1,
    public: true,
    public_page: true,
    title: 'Views <of> pages',
    unit: 'views',
    unit_one: 'view',
  },
  invoice: { record_type: 2 },
  silent: { record_type: 3, public: true, public_page: true },
  download: { record_type: 4, public: true },
}

const { db, worker } = sharedWorker({ COUNTERS, SITE_NAME: 'Pages & more' })

/** Counts at noon of a day, as a roll-up then does. */
async function count(recordType: number, key: string, day: string, amount: number): Promise<void> {
  const { recordId } = await addressOfKey({ recordType }, key)
  await countPeriods(db, [{ recordType, recordId, amount: BigInt(amount) }], new Date(`${day}T12:00:00Z`))
  await db.arrange(
    `INSERT IGNORE INTO counters (record_type, record_id, name) VALUES (${recordType}, ${recordId}, ${bytesSql(key)})`,
  )
}

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(Date.parse(NOW))
  for (const [key, day, amount] of [
    ['/a', '2026-10-20', 1],
    ['/a', '2026-11-02', 1],
    ['/a', '2026-11-09', 100],
    ['/b', '2026-11-15', 40],
    // Monday and Sunday of the last whole week, and the present one.
    ['/a', '2026-11-16', 60],
    ['/b', '2026-11-22', 50],
    [HOSTILE, '2026-11-18', 30],
    ['/a', '2026-11-23', 999],
  ] as const) {
    await count(1, key, day, amount)
  }
  await count(2, 'secret', '2026-11-17', 5)
})
afterAll(() => void vi.useRealTimers())

const open = (type: string, headers: Record<string, string> = {}, on = worker) =>
  on.fetch(`/stats/${type}.atom`, { headers })
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const texts = async (feed: string, selector: string) => (await findAll(feed, selector)).map(({ text }) => text)

it('The feed has an entry for each of the last whole weeks, with its count, change and keys', async () => {
  const response = await open('page_view')
  expect(response.headers.get('Content-Type')).toBe('application/atom+xml; charset=utf-8')
  const feed = await response.text()
  expect(feed).toMatch(/^<\?xml version="1.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www.w3.org\/2005\/Atom"/)
  const self = 'https://counter.test/stats/page_view.atom'
  expect(await texts(feed, 'id')).toEqual([self, `${self}#2026-11-16`, `${self}#2026-11-09`])
  expect(await texts(feed, 'updated')).toEqual(['23', '23', '16'].map((day) => `2026-11-${day}T00:00:00Z`))
  expect(await texts(feed, 'title')).toEqual([
    'Views <of> pages · Pages & more',
    '140 views, 16 – 22 Nov 2026',
    '140 views, 9 – 15 Nov 2026',
  ])
  expect(await texts(feed, 'author name')).toEqual(['Pages & more'])
  const links = (await findAll(feed, 'feed > link')).map(({ attributes }) => [attributes.rel, attributes.href])
  expect(links).toEqual([
    ['self', self],
    ['alternate', 'https://counter.test/stats/page_view'],
  ])
  const [last, before] = await texts(feed, 'content')
  const hostile = '&lt;b&gt;&amp;&quot;]]&gt;\uFFFD\\u{1}'
  expect(last).toBe(
    `<p>140 views, 0% against 140 the week before</p><p>Highest counts:</p><ol><li>/a: 60</li><li>/b: 50</li><li>${hostile}: 30</li></ol><p>Biggest gains:</p><ol><li>${hostile}: +30</li><li>/b: +10</li></ol>`,
  )
  expect(before).toBe(
    '<p>140 views, ▲ ×140 against 1 the week before</p><p>Highest counts:</p><ol><li>/a: 100</li><li>/b: 40</li></ol><p>Biggest gains:</p><ol><li>/a: +99</li><li>/b: +40</li></ol>',
  )
  // No character that XML cannot have, and no markup of a key.
  expect(feed).not.toMatch(/[^\t\n\x20-\uFFFD]|<b>|&(?!(?:amp|lt|gt|quot|#39);)/)
  for (const key of ['%2Fa', '%2Fb']) {
    const query = 'by=week&from=2026-11-16&to=2026-11-23'
    const { points } = await (await worker.api('GET', `/v1/counters/page_view/${key}/history?${query}`)).json<{
      points: { count: number }[]
    }>()
    expect(last).toContain(`${decodeURIComponent(key)}: ${points[0]!.count}<`)
  }
})

it('A week is shown once its last roll-up must have ended', async () => {
  for (const [time, newest] of [
    ['2026-11-30T00:10:00Z', '2026-11-16'],
    ['2026-11-30T00:16:00Z', '2026-11-23'],
  ] as const) {
    vi.setSystemTime(Date.parse(time))
    const feed = await (await open('page_view', {}, new TestWorker(db.url, { COUNTERS }))).text()
    expect((await texts(feed, 'entry id'))[0]).toBe(`https://counter.test/stats/page_view.atom#${newest}`)
  }
  vi.setSystemTime(Date.parse(NOW))
})

it('A type without a count has a feed without entries', async () => {
  const feed = await (await open('silent')).text()
  expect([await texts(feed, 'entry'), await texts(feed, 'updated')]).toEqual([[], ['2026-11-23T00:00:00Z']])
})

it('It may be cached for an hour, and is kept as long', async () => {
  const first = await open('silent')
  expect(first.headers.get('Cache-Control')).toBe('public, max-age=3600')
  vi.setSystemTime(Date.parse(NOW) + 600_000)
  const sent = await db.recording(async () => {
    const again = await open('silent', { 'If-None-Match': first.headers.get('ETag')! })
    expect([again.status, again.headers.get('Cache-Control')]).toEqual([304, 'public, max-age=3000'])
  })
  expect(sent).toEqual([])
  vi.setSystemTime(Date.parse(NOW))
})

it('A type without a public page has one for a token that may read it, and none for strangers', async () => {
  const API_TOKENS = await tokenLines({ reader: 'read', other: 'read:page_view', adder: 'count' })
  const on = new TestWorker(db.url, { COUNTERS, API_TOKENS })
  for (const type of ['invoice', 'download', 'nope', 'constructor']) {
    const response = await open(type, {}, on)
    expect([type, response.status]).toEqual([type, 404])
    expect((await open(type, bearer('wrong'), on)).status).toBe(401)
  }
  expect((await open('nope', bearer(TOKEN), on)).status).toBe(404)
  expect((await open('invoice', bearer(tokenOf('other')), on)).status).toBe(403)
  expect((await open('invoice', bearer(tokenOf('adder')), on)).status).toBe(403)
  for (const headers of [bearer(tokenOf('reader')), bearer(TOKEN), { Cookie: await sessionCookie(on) }]) {
    const response = await open('invoice', headers, on)
    expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'private, max-age=3600'])
    const feed = await response.text()
    expect(await texts(feed, 'entry title')).toEqual(['5 counts, 16 – 22 Nov 2026'])
    expect((await findAll(feed, 'entry link'))[0]!.attributes.href).toBe('https://counter.test/?type=invoice')
  }
})

it('A message takes the place of a list with too many rows to rank', async () => {
  for (let first = 1; first < 40_000; first += 10_000) {
    const rows = Array.from({ length: 10_000 }, (_, n) => `(1, ${first + n}, 0, 1, '2026-11-10', 1)`)
    await db.arrange(
      `INSERT INTO counter_periods (record_type, record_id, bucket, period, period_start, count) VALUES ${rows.join()}`,
    )
  }
  const on = new TestWorker(db.url, { COUNTERS })
  const contents = async (headers = {}) => texts(await (await open('page_view', headers, on)).text(), 'content')
  const [last, before] = await contents()
  expect(last).toContain('<p>Highest counts:</p><ol><li>/a: 60</li>')
  expect(last).toContain('Biggest gains: there are too many keys to rank.')
  expect(before).toContain('Highest counts: there are too many keys to rank.')
  // With a token, more is added up.
  expect((await contents(bearer(TOKEN)))[1]).toContain('<p>Highest counts:</p><ol><li>/a: 100</li>')
})

it('The public page names the feed in its head, and links to it', async () => {
  const page = await (await worker.fetch('/stats/page_view')).text()
  const [link] = await findAll(page, 'link[type="application/atom+xml"]')
  expect(link!.attributes).toMatchObject({ rel: 'alternate', href: '/stats/page_view.atom' })
  expect((await findAll(page, '#as-of a')).map(({ attributes }) => attributes.href)).toEqual(['/stats/page_view.atom'])
})
