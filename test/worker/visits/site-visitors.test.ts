import { beforeEach, describe, expect, inject, it } from 'vitest'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../../src/config/config.ts'
import { hash64 } from '../../../src/counters/ids.ts'
import { rangeOf } from '../../../src/counters/ranges.ts'
import { toText } from '../../../src/database/values.ts'
import { deliver, sumOf, TestQueue } from '../../harness/local-queues.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'

/** In seconds. */
const YEAR = 365 * 24 * 3_600
const OPEN = { public: true, allowed_origins: ['*'] }
const ONCE = { public: true, dedupe_seconds: YEAR }
const COUNTERS = {
  view: { record_type: 1, ...OPEN, also: 'visitor', counting_badge: true },
  visitor: { record_type: 2, ...ONCE, also: 'section' },
  section: {
    record_type: 3,
    ...ONCE,
    new_keys: 'known',
    visitors_of: 'prefix',
    prefixes: ['/blog/', '/blog/été/', '/docs/'],
    also: 'site',
  },
  site: { record_type: 4, ...ONCE, new_keys_per_minute: 0, visitors_of: 'site' },
  // Another type whose visitors are those of the same site, without visitors of its own.
  file: { record_type: 5, redirect_to: '/files/', also: 'site' },
  item: { record_type: 6, ...OPEN, also: 'site' },
  lone: { record_type: 7, ...OPEN, dedupe_seconds: YEAR },
}
const SETTINGS = { COUNTERS, PRUNING: { idempotency_hours: 365 * 24 } }
const RANGES = [1, 2].map((factor) => factor * inject('ranges'))
const PAGES = ['/', '/blog/', '/blog/a', '/blog/été/b', '/blog/été/c', '/docs/d', '/about', '/blog']
const VISITORS = 40

const db = emptiedDatabase()
let worker: TestWorker
const isolate = (overrides = {}) => new TestWorker(db.url, { ...SETTINGS, ...overrides })
const sharded = (ranges: number) => isolate({ SHARDING: { ranges }, PLAN: 'paid' })
beforeEach(() => {
  // No window ends during a test.
  stopClock()
  worker = isolate()
})

const from = (address: string) => ({ 'CF-Connecting-IP': address, 'User-Agent': 'Mozilla/5.0 Firefox/145.0' })
const view = async (address: string, key: string, on = worker) =>
  (await on.hit('view', key, from(address))).headers.get('X-Hit')
/** What is stored, read by an isolate that remembers nothing. */
const countOf = (type: string, key: string, ranges = inject('ranges')) => sharded(ranges).count(type, key)
const site = (ranges?: number) => countOf('site', 'site', ranges)

/** Which visitor reads which page: some read many, some one, none of them all. */
const reads = (visitor: number, page: number) => page === visitor % PAGES.length || (visitor * 5 + page * 3) % 7 < 2
const visits = Array.from({ length: VISITORS }, (_, visitor) =>
  PAGES.flatMap((key, page) => (reads(visitor, page) ? [{ address: `203.0.113.${visitor}`, key }] : [])),
).flat()
const visitorsOf = (belongs: (key: string) => boolean) =>
  new Set(visits.flatMap(({ address, key }) => (belongs(key) ? [address] : []))).size

/** Sends all visits at once, twice each, to isolates in turn. Returns how many were answered with each `X-Hit`. */
async function sendAll(isolates: readonly TestWorker[]): Promise<Record<string, number>> {
  const said = await Promise.all(
    [...visits, ...visits.toReversed()].map(({ address, key }, i) =>
      view(address, key, isolates[i % isolates.length]!),
    ),
  )
  return Object.fromEntries([...Map.groupBy(said, (one) => `${one}`)].map(([one, all]) => [one, all.length]))
}

/** Checks every counter, after so many views of each visit. */
async function checkCounts(views: number, ranges: number): Promise<void> {
  const reader = sharded(ranges)
  for (const key of PAGES) {
    const visitors = visitorsOf((read) => read === key)
    expect([key, await reader.count('view', key)]).toEqual([key, views * visitors])
    expect([key, await reader.count('visitor', key)]).toEqual([key, visitors])
  }
  for (const prefix of COUNTERS.section.prefixes) {
    const visitors = visitorsOf((read) => read.startsWith(prefix))
    expect([prefix, await reader.count('section', prefix)]).toEqual([prefix, visitors])
  }
  expect(await reader.count('site', 'site')).toBe(VISITORS)
}

describe.each(RANGES)('With ranges = %i, visitors who read several pages', (ranges) => {
  it('are one each for the site and for each prefix, however often they come, to whichever isolate, at the same time', async () => {
    const isolates = [1, 2, 3].map(() => sharded(ranges))
    expect(await sendAll(isolates)).toEqual({ counted: 2 * visits.length })
    await checkCounts(2, ranges)
    await isolates[0]!.cron(ROLL_UP_CRON)
    await isolates[0]!.cron(PRUNING_CRON)
    expect(await sendAll([sharded(ranges), isolates[1]!])).toEqual({ counted: 2 * visits.length })
    await checkCounts(4, ranges)
    expect(await (await isolates[0]!.api('POST', '/v1/verify')).json()).toMatchObject({ wrong: [] })
  })
})

describe('A hit that counts for a site', () => {
  it('is one statement in each range, and only the view if its visitor is known', async () => {
    await view('203.0.113.1', '/blog/été/b')
    for (const [address, types] of [
      ['203.0.113.2', [1, 2, 3, 3, 4]],
      ['203.0.113.2', [1]],
    ] as const) {
      const sent = (await db.recording(() => view(address, '/blog/été/b'))).map(({ sql }) => sql)
      expect(sent.every((sql) => sql.startsWith('INSERT INTO slotted_counters'))).toBe(true)
      const rows = sent.flatMap((sql) => [...sql.matchAll(/\((\d+),(\d+),/g)])
      expect(rows.map(([, type]) => Number(type)).sort()).toEqual(types)
      expect(sent).toHaveLength(new Set(rows.map(([, , id]) => rangeOf(BigInt(id!), inject('ranges')))).size)
    }
  })

  it('counts for each prefix that its key begins with, and for none if there is none', async () => {
    await view('203.0.113.1', '/blog/été/b')
    await view('203.0.113.2', '/blog')
    await view('203.0.113.3', '/Blog/x')
    const { prefixes } = COUNTERS.section
    expect(await Promise.all(prefixes.map((key) => countOf('section', key)))).toEqual([1, 1, 0])
    expect(await site()).toBe(3)
    const search = await worker.api('GET', '/v1/search/section')
    expect(await search.json()).toMatchObject({ counters: [{ key: '/blog/' }, { key: '/blog/été/' }] })
  })

  it('counts in each prefix that the key begins with, as it is spelled', async () => {
    const same_key = ['trailing_slash']
    const blog = isolate({
      COUNTERS: {
        view: { record_type: 1, ...OPEN, same_key, also: 'section' },
        section: { record_type: 3, ...ONCE, same_key, visitors_of: 'prefix', prefixes: ['/blog', '/'] },
      },
    })
    for (const key of ['/blog/a/', '/blog/']) expect(await view('203.0.113.1', key, blog)).toBe('counted')
    expect([await blog.count('section', '/blog/'), await blog.count('section', '/')]).toEqual([1, 1])
    // A visitor without an address counts each time.
    for (const key of ['/blog/a/', '/blog/']) await blog.hit('view', key)
    expect([await blog.count('section', '/blog/'), await blog.count('section', '/')]).toEqual([3, 3])
  })

  it('counts once with downloads and counting badges, and with hits of other types that name the same', async () => {
    await worker.fetch('/d/file/app.zip', { headers: from('203.0.113.1') })
    await worker.fetch('/d/file/app.zip', { headers: from('203.0.113.1') })
    await isolate().fetch('/hit/view/me.svg', { headers: from('203.0.113.1') })
    expect((await worker.hit('item', '42', from('203.0.113.1'))).headers.get('X-Hit')).toBe('counted')
    expect([await countOf('file', 'app.zip'), await countOf('view', 'me'), await countOf('item', '42')]).toEqual([
      1, 1, 1,
    ])
    expect(await site()).toBe(1)
    expect((await worker.hit('item', '43', from('203.0.113.2'))).headers.get('X-Hit')).toBe('counted')
    expect(await site()).toBe(2)
  })

  it('has as many visitors in each type, if each counts a visitor once, in windows of different lengths', async () => {
    const types = {
      file: { record_type: 1, redirect_to: '/files/', also: 'daily' },
      daily: { record_type: 2, dedupe_seconds: 86_400, also: 'yearly' },
      yearly: { record_type: 3, ...ONCE, visitors_of: 'site' },
    }
    const isolates = [1, 2, 3].map(() => isolate({ COUNTERS: types }))
    const download = (i: number) => ({
      headers: { ...from('203.0.113.9'), 'User-Agent': `Mozilla/5.0 Firefox/${i % 200}.0` },
    })
    await Promise.all(Array.from({ length: 600 }, (_, i) => isolates[i % 3]!.fetch('/d/file/a.zip', download(i))))
    const visitors = await isolates[0]!.count('yearly', 'site')
    expect(visitors).toBeGreaterThan(10)
    expect([await isolates[0]!.count('file', 'a.zip'), await isolates[0]!.count('daily', 'a.zip')]).toEqual([
      visitors,
      visitors,
    ])
  })

  it('has a site whose total, history, list and badge are those of a counter', async () => {
    for (const [i, key] of PAGES.entries()) await view(`203.0.113.${i % 3}`, key)
    await worker.cron(ROLL_UP_CRON)
    const json = async (path: string) => (await worker.fetch(path)).json()
    expect(await json('/v1/types/site')).toMatchObject({ count: 3 })
    expect(await json('/v1/top/site')).toMatchObject({ counters: [{ key: 'site', count: 3 }] })
    const { points } = (await json('/v1/counters/site/site/history?by=day')) as { points: { count: number }[] }
    expect(points.at(-1)!.count).toBe(3)
    expect(await (await worker.fetch('/badge/site/site.svg')).text()).toContain('>3<')
  })

  it('cannot be counted by strangers under another key, and its keys take nothing from a budget', async () => {
    const limited = isolate({ COUNTERS: { ...COUNTERS, view: { ...COUNTERS.view, new_keys_per_minute: 1 } } })
    expect((await limited.hit('site', 'invented', from('203.0.113.1'))).headers.get('X-Hit')).toBe(
      'ignored; reason=origin',
    )
    expect(await view('203.0.113.1', '/docs/a', limited)).toBe('counted')
    expect(await view('203.0.113.2', '/docs/b', limited)).toBe('ignored; reason=key')
    expect(await db.number('SELECT SUM(taken) FROM new_key_budgets')).toBe(1n)
    const { rows } = await db.execute('SELECT record_type, name FROM counters')
    expect(rows.map(({ record_type, name }) => `${record_type} ${toText(name)}`).sort()).toEqual([
      '1 /docs/a',
      '2 /docs/a',
      '3 /docs/',
      '4 site',
    ])
    expect(await site()).toBe(1)
  })

  it('counts again after its counter was deleted', async () => {
    await view('203.0.113.1', '/a')
    expect((await worker.api('DELETE', '/v1/counters/site/site')).status).toBe(200)
    expect(await site()).toBe(0)
    await view('203.0.113.2', '/a')
    expect(await view('203.0.113.3', '/a', isolate())).toBe('counted')
    expect(await site()).toBe(2)
  })
})

describe('When a range cannot be written', () => {
  it('the outcome of a hit is unknown, and its visitor counts once for page and site with the next one', async () => {
    const ranges = RANGES[1]!
    const siteId = await hash64('site')
    const ids = await Promise.all(PAGES.map(hash64))
    const page = PAGES[ids.findIndex((id) => rangeOf(id, ranges) !== rangeOf(siteId, ranges))]!
    const ranged = sharded(ranges)
    await view('203.0.113.9', page, ranged)
    const match = `INSERT INTO slotted_counters.*\\(4,${siteId},`
    await db.behave({ faults: [{ action: 'error', errno: 1290, match, times: 1_000_000 }] })
    const response = await ranged.hit('view', page, from('203.0.113.1'))
    expect([response.status, response.headers.get('X-Hit')]).toEqual([503, 'unknown'])
    await db.behave()
    expect([await countOf('view', page, ranges), await site(ranges)]).toEqual([2, 1])
    for (const on of [ranged, sharded(ranges)]) expect(await view('203.0.113.1', page, on)).toBe('counted')
    const counts = ['view', 'visitor'].map((type) => countOf(type, page, ranges))
    expect(await Promise.all(counts)).toEqual([4, 2])
    expect(await site(ranges)).toBe(2)
  })
})

describe('When the database fails', () => {
  it('the queue has the hit with the name of the site, and counts it once', async () => {
    const queueing = isolate({ BATCHES: TestQueue.batches.binding })
    // It knows the day's salt, and the page from a request of the API, but not the site.
    await queueing.hit('lone', '/a', from('203.0.113.9'))
    await queueing.api('POST', '/v1/increments', {
      increments: ['view', 'visitor'].map((type) => ({ type, key: '/a' })),
    })
    await db.behave({ faults: [{ action: 'error', errno: 2003, match: '', times: 1_000_000 }] })
    expect(await view('203.0.113.1', '/a', queueing)).toBe('queued')
    expect(await view('203.0.113.1', '/a', queueing)).toBe('queued')
    await db.behave()
    const taken = await TestQueue.batches.take((some) => sumOf(some) >= 4n)
    await deliver(queueing, taken)
    await deliver(queueing, taken)
    expect([await countOf('view', '/a'), await countOf('visitor', '/a'), await site()]).toEqual([3, 2, 1])
    const search = await worker.api('GET', '/v1/search/site')
    expect(await search.json()).toMatchObject({ counters: [{ key: 'site' }] })
    expect(await view('203.0.113.1', '/b', isolate())).toBe('counted')
    expect(await site()).toBe(1)
  })
})
