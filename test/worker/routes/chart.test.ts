import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freshDatabase } from '../../harness/database.ts'
import { parseSvg } from '../../harness/svg.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

const DAY_MS = 86_400_000
// No month begins between these days, and no kept chart becomes too old.
const NOW = Date.UTC(2026, 10, 27, 9, 30)
beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }))
afterAll(() => void vi.useRealTimers())

const COUNTERS = {
  page_view: {
    record_type: 1,
    public: true,
    allowed_origins: ['*'],
    unit: 'page <views>',
    unit_one: 'page <view>',
    prefixes: ['/blog/'],
  },
  number: { record_type: 2, public: true },
  secret: { record_type: 3 },
}
const { worker } = sharedWorker({ COUNTERS })
const dayText = (ago: number) => new Date(NOW - ago * DAY_MS).toISOString().slice(0, 10)

beforeAll(async () => {
  const days = [0, 3, 29, 30, 89, 200, 330, 400]
  const counts = { '/blog/a': (at: number) => 10 ** at, '/b': () => 1 }
  for (const [key, countOf] of Object.entries(counts)) {
    const counters = days.map((ago, at) => ({ type: 'page_view', key, count: countOf(at), day: dayText(ago) }))
    const { status } = await worker.api('POST', '/v1/imports', { counters }, { 'Idempotency-Key': key })
    expect(status).toBe(200)
  }
  await worker.add('page_view', { '/blog/a': 5_000 })
})

/** The name and the description of a chart, and its bars. */
async function chart(path: string) {
  const response = await worker.fetch(`/chart/${path}`)
  expect([path, response.status]).toEqual([path, 200])
  expect(response.headers.get('Content-Type')).toBe('image/svg+xml; charset=utf-8')
  const elements = parseSvg(await response.text())
  const named = (name: string) => elements.find((element) => element.name === name)!
  expect(elements[0]!.attributes).toMatchObject({ viewBox: '0 0 640 200', width: '640', height: '200', role: 'img' })
  expect(elements[0]!.attributes['aria-label']).toBe(named('title').text)
  const [, , units] = elements.findLast(({ name }) => name === 'svg')!.attributes.viewBox!.split(' ')
  return {
    title: named('title').text,
    about: named('desc').text,
    texts: elements.filter(({ name }) => name === 'text').map(({ text }) => text),
    units: Number(units),
  }
}

describe('A chart', () => {
  it('of a counter shows its days in UTC with their sum, what is pending included', async () => {
    const { title, about, texts, units } = await chart('page_view/%2Fblog%2Fa.svg')
    expect(title).toBe('5,111 page <views>, 29 Oct – 27 Nov 2026')
    expect(about).toBe('By day, in UTC. The last day is incomplete.')
    expect(texts).toEqual([
      '5,111 page <views>',
      '29 Oct – 27 Nov 2026',
      ...['0', '2K', '4K', '6K'],
      ...['2 Nov', '9 Nov', '16 Nov', '23 Nov'],
    ])
    expect(units).toBe(30)
  })

  it.each([
    ['90d', 90, '16,111 page <views>, 30 Aug – 27 Nov 2026'],
    ['12m', 12, '1,116,111 page <views>, 1 Dec 2025 – 27 Nov 2026'],
  ])('has the period that is asked for: %s', async (period, units, title) => {
    expect(await chart(`page_view/%2Fblog%2Fa.svg?period=${period}`)).toMatchObject({ title, units })
  })

  it('of months names them, January by its year, and the highest one', async () => {
    const { texts, about } = await chart('page_view/%2Fblog%2Fa.svg?period=12m')
    const months = ['Dec', '2026', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov']
    expect(texts.slice(-12)).toEqual(months)
    expect(about).toBe('By month, in UTC. The last month is incomplete.')
  })

  it('of a type or a prefix shows the sum as of the last roll-up', async () => {
    expect((await chart('page_view.svg')).title).toBe('114 page <views>, 29 Oct – 27 Nov 2026')
    expect((await chart('page_view.svg?prefix=/blog/&period=90d')).title).toContain('11,111 page <views>')
  })

  it('of an unknown key is empty', async () => {
    const { title, units } = await chart('number/7.svg')
    expect([title, units]).toEqual(['0 counts, 29 Oct – 27 Nov 2026', 30])
  })

  it('of one view names it in the singular', async () => {
    await worker.add('page_view', { '/once': 1 })
    expect((await chart('page_view/%2Fonce.svg')).title).toBe('1 page <view>, 29 Oct – 27 Nov 2026')
    await worker.add('number', { 1: 1 })
    expect((await chart('number/1.svg')).title).toBe('counts: 1, 29 Oct – 27 Nov 2026')
  })

  it('draws negative counts below the axis', async () => {
    await worker.api('POST', '/v1/counters/number/8', { by: -30 })
    expect((await chart('number/8.svg')).texts).toEqual(expect.arrayContaining(['-30 counts', '-30', '0']))
  })

  it('is one file for light and dark that loads nothing', async () => {
    const response = await worker.fetch('/chart/page_view.svg?v=2&v=3&%ff')
    const text = await response.text()
    expect(text).toContain('@media(prefers-color-scheme:dark)')
    expect(text).not.toMatch(/<script|<image|<a |href|@import|url\((?!#hatch\))/)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=60, stale-while-revalidate=300, stale-if-error=86400',
    })
  })
})

describe('The same chart', () => {
  it('is read once a minute for everybody, and is answered 304', async () => {
    const path = '/chart/page_view/%2Fshared.svg'
    const first = await worker.fetch(path)
    await worker.add('page_view', { '/shared': 3 })
    const known = { 'If-None-Match': first.headers.get('ETag')! }
    for (const method of ['GET', 'HEAD']) {
      const again = await worker.fetch(path, { method, headers: known })
      expect([again.status, await again.text()]).toEqual([304, ''])
    }
    expect((await worker.api('GET', path)).status).toBe(200)
  })

  it('is read again after a minute', async () => {
    const path = 'page_view/%2Flater.svg'
    expect((await chart(path)).title).toMatch(/^0 /)
    await worker.add('page_view', { '/later': 3 })
    expect((await chart(path)).title).toMatch(/^0 /)
    vi.setSystemTime(NOW + 60_000)
    expect((await chart(path)).title).toMatch(/^3 /)
  })
})

describe('An error of a chart', () => {
  const periods = 'counter: period must be one of 30d, 90d, 12m'
  it.each([
    ['an unknown type', 'nope/a.svg', 404, 'counter: The counter type is not configured'],
    ['a type that is not public', 'secret.svg', 404, 'counter: The counter type is not configured'],
    ['a key that is not UTF-8', 'page_view/%ff.svg', 400, 'counter: The key in the path is not percent-encoded UTF-8'],
    ['slashes in a key', 'page_view/a/b.svg', 404, 'counter: write / in the key as %2F'],
    ['a key of 513 bytes', `page_view/${'x'.repeat(513)}.svg`, 422, expect.stringContaining('512 bytes')],
    ['the period of a badge', 'page_view/a.svg?period=month', 422, periods],
    ['a period given twice', 'page_view.svg?period=30d&period=30d', 422, 'counter: period must not be repeated'],
    ['a prefix that is not listed', 'page_view.svg?prefix=/b', 422, 'counter: prefix is not public'],
  ])('is an image that says what is wrong: %s', async (_, path, status, said) => {
    const response = await worker.fetch(`/chart/${path}`)
    const [image] = parseSvg(await response.text())
    expect([response.status, image!.attributes['aria-label']]).toEqual([status, said])
    expect(response.headers.get('Cache-Control')).toBe('public, max-age=60')
  })

  it('is a problem document for other formats and methods', async () => {
    expect((await worker.fetch('/chart/page_view/a.json')).status).toBe(404)
    const response = await worker.fetch('/chart/page_view/a.svg', { method: 'POST' })
    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  it('is not cached without a database', async () => {
    const away = await freshDatabase()
    await away.behave({ faults: [{ action: 'error', errno: 2003, times: 1_000 }] })
    const response = await new TestWorker(away.url, { COUNTERS }).fetch('/chart/page_view.svg')
    const [image] = parseSvg(await response.text())
    expect([response.status, image!.attributes['aria-label']]).toEqual([503, 'counter: The database is unavailable'])
    expect([response.headers.get('Cache-Control'), response.headers.get('Retry-After')]).toEqual(['no-store', '5'])
  })
})
