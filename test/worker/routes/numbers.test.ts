import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expectProblem } from '../../harness/expect-problem.ts'
import { sessionCookie } from '../../harness/sign-in.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { tokenLines, tokenOf } from '../../harness/tokens.ts'
import { sharedWorker } from '../../harness/worker.ts'
import { bePatient } from '../patience.ts'
import { numbersOn } from '../shown-page.ts'

const COUNTERS = {
  page_view: { record_type: 1, public: true, allowed_origins: ['*'], url: 'https://example.com', also: 'visitor' },
  visitor: { record_type: 2, allowed_origins: ['*'], dedupe_seconds: 3_600 },
  site: { record_type: 4, prefixes: ['one.example/', 'two.example/'], also: 'reader' },
  reader: { record_type: 5, dedupe_seconds: 3_600, prefixes: ['one.example/'] },
  crowd: { record_type: 6, prefixes: ['many/'] },
}

interface Numbers {
  prefix: string | null
  total: number
  figures: { today: { count: number } }
  chart: {
    by: string
    count: number
    also?: { count: number }
    running: number | null
    points: { count: number | null; also?: number | null }[]
  }
  list: {
    counters: { key: string; count: number; also?: number }[]
    of: number | null
    ranked: boolean
    more: boolean
    searched?: object
  }
  also?: { total: number }
}

stopClockOfFile()
const { db, worker } = sharedWorker({ COUNTERS })
beforeAll(async () => {
  worker.env.API_TOKENS = await tokenLines({ limited: 'read:page_view', writer: 'count' })
  await worker.add('page_view', { '/a': 1, '/b': 2, '/b/c': 3 })
  await worker.add('visitor', { '/a': 5 })
  await worker.api('POST', '/v1/rollup')
})

const ask = async (query: string) => {
  const response = await worker.api('GET', `/numbers?${query}`)
  return { status: response.status, numbers: (await response.json()) as Numbers, headers: response.headers }
}

describe('The numbers of a page', () => {
  it.each(['today', '7d', '30d', '90d', '12m', 'all'])('are those of the period %s', async (period) => {
    const { numbers } = await ask(`type=page_view&period=${period}`)
    const first = { key: '/b/c', count: 3, page: 'https://example.com/b/c' }
    expect(numbers).toMatchObject({
      total: 6,
      figures: { today: { count: 6 } },
      chart: { count: 6 },
      list: { counters: [first, { key: '/b', count: 2 }, { key: '/a', count: 1 }] },
      also: { total: 5 },
    })
    expect(numbers.chart.points.reduce((sum, { count }) => sum + (count ?? 0), 0)).toBe(6)
    const found = (await ask(`type=page_view&period=${period}&find=/b&rows=1`)).numbers.list
    expect(found).toMatchObject({ counters: [{ key: '/b/c', count: 3 }], more: true, ranked: true })
  })

  it('have days, weeks or months, which add up to the same, and the visitors of each', async () => {
    for (const [query, by, most] of [
      ['30d', 'day', 30],
      ['30d&by=week', 'week', 6],
      ['30d&by=month', 'month', 3],
      ['90d&by=week', 'week', 14],
      ['12m', 'month', 12],
      ['12m&by=day', 'day', 366],
      ['12m&by=week', 'week', 54],
      ['today&by=week', 'hour', 25],
      ['all&by=day', 'month', 1],
    ] as const) {
      const { chart, list } = (await ask(`type=page_view&period=${query}&tz=America/New_York`)).numbers
      expect([query, chart.by, chart.count, chart.also!.count]).toEqual([query, by, 6, 5])
      expect(chart.points.length).toBeLessThanOrEqual(most)
      const sumOf = (of: 'count' | 'also') => chart.points.reduce((sum, point) => sum + (point[of] ?? 0), 0)
      expect([query, sumOf('count'), sumOf('also')]).toEqual([query, 6, 5])
      expect(list.counters.map(({ also }) => also)).toEqual([0, 0, 5])
    }
  })

  it('of all time begin with the first month, however long ago, and of more than 999 days have months', async () => {
    await worker.bring([{ type: 'crowd', key: '/old', day: '1999-05-20', count: 7 }])
    const all = (await ask('type=crowd&period=all')).numbers
    expect([all.total, all.chart.count, all.chart.points[0]]).toEqual([
      7,
      7,
      { start: '1999-05-01T00:00:00Z', count: 7 },
    ])
    const long = (await ask('type=crowd&period=custom&from=1999-05-25&to=2026-03-01')).numbers.chart
    expect([long.by, long.count, long.points[0]]).toEqual(['month', 7, { start: '1999-05-01T00:00:00Z', count: 7 }])
  })

  it('have no counts of hours to come', async () => {
    const { points, running } = (await ask('type=page_view&period=today')).numbers.chart
    expect(points.map(({ count }, hour) => (count === null) === hour > running!)).not.toContain(false)
  })

  it('find keys by any part, and say in how many, and with how much', async () => {
    const found = async (find: string) => {
      const { list } = (await ask(`type=page_view&find=${encodeURIComponent(find)}`)).numbers
      return [list.counters.map(({ key }) => key), list.of, list.searched]
    }
    expect(await found('')).toEqual([['/b/c', '/b', '/a'], 3, undefined])
    expect(await found('B/C')).toEqual([['/b/c'], null, { keys: 3, all: true, found: 1, sum: 3 }])
    expect(await found('/b')).toEqual([['/b/c', '/b'], null, { keys: 3, all: true, found: 2, sum: 5 }])
    expect(await found('nothing')).toEqual([[], null, { keys: 3, all: true, found: 0, sum: 0 }])
  })

  it('rank a prefix with too many keys as far as possible, and say so', async () => {
    const names = Array.from({ length: 10_001 }, (_, i) => `(6, ${i + 10}, 'many/${i}')`)
    await db.arrange(`INSERT INTO counters (record_type, record_id, name) VALUES ${names}`)
    await worker.add('crowd', { 'many/zz': 5, other: 9 })
    await worker.api('POST', '/v1/rollup')
    const { list, prefix } = (await ask('type=crowd&find=many/&rows=3')).numbers
    expect(prefix).toBe(null)
    expect(list).toMatchObject({ ranked: false, more: true, of: null })
    expect(list.counters.map(({ key, count }) => `${key}: ${count}`)).toEqual(['many/0: 0', 'many/1: 0', 'many/10: 0'])
    const { searched, counters } = (await ask('type=crowd&find=zz')).numbers.list
    // It is not among the first 10,000, and does not begin with the text.
    expect([searched, counters]).toEqual([{ keys: 10_000, all: false, found: 0, sum: 0 }, []])
    const beginning = (await ask('type=crowd&find=many/z')).numbers.list
    expect(beginning).toMatchObject({ searched: { all: false, found: 1 }, counters: [{ key: 'many/zz', count: 5 }] })
  })

  it('are those of a prefix that the type lists', async () => {
    await worker.add('site', { 'one.example/': 3, 'one.example/a': 4, 'two.example/': 20 })
    await worker.add('reader', { 'one.example/': 1, 'two.example/': 2 })
    await worker.api('POST', '/v1/rollup')
    for (const [find, prefix, total, also] of [
      ['', null, 27, 3],
      ['one.example/', 'one.example/', 7, 1],
      ['two.example/', 'two.example/', 20, undefined],
      ['one', null, 7, 1],
    ] as const) {
      const { numbers } = await ask(`type=site&find=${find}`)
      expect([find, numbers.prefix, numbers.total, numbers.also?.total]).toEqual([find, prefix, total, also])
      expect([numbers.chart.count, numbers.figures.today.count]).toEqual([total, total])
    }
  })

  it('are exact, and include what is pending: of a counter, of its type, in the chart and in the list', async () => {
    await worker.api('POST', '/v1/counters/page_view/%2Fa', { by: 10 })
    const { numbers } = await ask('type=page_view&key=/a')
    expect(numbers).toMatchObject({ total: 11, rolled: 1, pending: 10, chart: { count: 11 } })
    await worker.add('page_view', { '/new': 4 })
    for (const period of ['today', '30d', '12m', 'all']) {
      const { numbers } = await ask(`type=page_view&period=${period}`)
      const listed = numbers.list.counters.map(({ key, count }) => `${key}: ${count}`)
      expect([numbers.total, numbers.figures.today.count, numbers.chart.count], period).toEqual([20, 20, 20])
      expect(numbers.chart.points.reduce((sum, { count }) => sum + (count ?? 0), 0)).toBe(20)
      expect(listed).toEqual(['/a: 11', '/new: 4', '/b/c: 3', '/b: 2'])
    }
    // Nothing of it belongs to a day that is over.
    expect((await ask('type=page_view&period=yesterday')).numbers.chart.count).toBe(0)
  })

  it('have the same ETag while nothing was counted', async () => {
    const { headers } = await ask('type=visitor')
    const etag = headers.get('ETag')!
    const again = await worker.fetch('/numbers?type=visitor', {
      headers: { 'If-None-Match': etag, Cookie: await sessionCookie(worker) },
    })
    expect([again.status, again.headers.get('ETag'), await again.text()]).toEqual([304, etag, ''])
  })

  it.each([
    ['period=year', 'period'],
    ['period=custom', 'to'],
    ['period=custom&from=2026-02-30&to=2026-03-01', 'from'],
    ['period=custom&from=2026-03-02&to=2026-03-01', 'from'],
    ['period=custom&from=2999-01-01&to=2999-01-02', 'to'],
    ['tz=Europe/Nowhere', 'tz'],
    ['rows=0', 'rows'],
    ['rows=1001', 'rows'],
    ['by=year', 'by'],
    ['more=1', 'more'],
  ])('with %s are refused, by the name of the field', async (query, field) => {
    const response = await worker.api('GET', `/numbers?type=page_view&${query}`)
    const first = expect.objectContaining({ field })
    await expectProblem(response, 422, 'invalid_request', { errors: [first] })
  })

  it('are for those who may read, and of the types that they may read', async () => {
    expect((await worker.fetch('/numbers?type=page_view')).status).toBe(401)
    expect((await ask('type=nope')).status).toBe(404)
    const as = (name: string, query: string) =>
      worker.fetch(`/numbers?${query}`, { headers: { Authorization: `Bearer ${tokenOf(name)}` } })
    expect((await as('writer', 'type=page_view')).status).toBe(403)
    expect((await as('limited', 'type=visitor')).status).toBe(403)
    const limited = await as('limited', 'type=page_view')
    expect(limited.status).toBe(200)
    // They do not see the figures of the other type either.
    expect(await limited.json()).not.toHaveProperty('also')
  })
})

describe('A page', () => {
  beforeEach(bePatient)

  it('has its numbers in the time zone that the browser last sent, which a cookie keeps until it signs out', async () => {
    const Cookie = await sessionCookie(worker)
    const open = (zone: string, tz = '') =>
      worker.fetch(`/?type=page_view&period=7d${tz}`, { headers: { Cookie: `${Cookie}; __Host-zone=${zone}` } })
    const zoneOf = async (response: Awaited<ReturnType<typeof open>>) => (await numbersOn(await response.text())).zone
    expect(await zoneOf(await open(''))).toBe('UTC')
    expect(await zoneOf(await open('Europe/Nowhere'))).toBe('UTC')
    expect(await zoneOf(await open('Europe/Berlin'))).toBe('Europe/Berlin')
    const told = await open('Europe/Berlin', '&tz=Asia/Tokyo')
    expect(told.headers.get('Set-Cookie')).toMatch(/^__Host-zone=Asia%2FTokyo; .*HttpOnly; (Secure; )?SameSite=Lax/)
    expect(await zoneOf(told)).toBe('Asia/Tokyo')
    expect((await open('Asia/Tokyo', '&tz=Asia/Tokyo')).headers.get('Set-Cookie')).toBe(null)
  })

  it('shows a key as text, whatever it is', async () => {
    await worker.add('visitor', { '</script><b>': 1 })
    const html = await (
      await worker.fetch('/?type=visitor', { headers: { Cookie: await sessionCookie(worker) } })
    ).text()
    expect(html).toContain('<bdi>&lt;/script&gt;&lt;b&gt;</bdi>')
    expect(html).not.toContain('</script><b>')
  })
})
