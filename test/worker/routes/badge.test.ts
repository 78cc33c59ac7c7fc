import { beforeAll, describe, expect, it, vi } from 'vitest'
import { hash64 } from '../../../src/counters/ids.ts'
import { freshDatabase } from '../../harness/database.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { parseSvg } from '../../harness/svg.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

const COUNTERS = {
  page_view: { record_type: 1, public: true, allowed_origins: ['*'], unit: 'page views' },
  number: { record_type: 2, public: true },
  secret: { record_type: 3 },
}
const { db, worker } = sharedWorker({ COUNTERS })
beforeAll(async () => {
  await worker.api('POST', '/v1/counters/page_view/a', { by: 1_000 })
  await worker.api('POST', '/v1/rollup')
  await worker.api('POST', '/v1/counters/page_view/a', { by: 234 })
  await worker.api('POST', '/v1/counters/number/7', { by: 77 })
  await worker.api('POST', '/v1/counters/secret/a', { by: 5 })
})

/** The record type under which the counters of `number` are stored. */
const NUMBERS = 2

/** The accessible name of an SVG badge: "label: message". */
const said = async (response: Response) => {
  expect(response.headers.get('Content-Type')).toBe('image/svg+xml; charset=utf-8')
  return parseSvg(await response.text())[0]!.attributes['aria-label']
}
const svg = async (path: string) => said(await worker.fetch(`/badge/${path}`))
const json = async (path: string): Promise<object> => (await worker.fetch(`/badge/${path}`)).json()
/** Stores a total as a roll-up does. */
const storeTotal = async (key: string, count: bigint) =>
  db.arrange('INSERT INTO counters (record_type, record_id, name, count) VALUES (?, ?, ?, ?)', [
    NUMBERS,
    await hash64(key),
    key,
    count,
  ])

describe('An SVG badge', () => {
  it('shows the exact count, labelled with the unit of its type', async () => {
    expect(await svg('page_view/a.svg')).toBe('page views: 1,234')
    expect(await svg('number/7.svg')).toBe('counts: 77')
  })

  it('shows 0 for a counter that was never incremented', async () => {
    expect(await svg('page_view/never.svg')).toBe('page views: 0')
    expect(await svg('page_view/never.svg?period=month')).toBe('page views: 0/month')
  })

  it('has the requested label, format, style and colors', async () => {
    expect(await svg('page_view/a.svg?label=Read+%26+seen&compact=true')).toBe('Read & seen: 1.2k')
    expect(await svg('page_view/a.svg?label=')).toBe('1,234')
    expect(await svg('page_view/a.svg?style=for-the-badge')).toBe('PAGE VIEWS: 1,234')
    const response = await worker.fetch('/badge/page_view/a.svg?color=123456&label_color=%23321&style=flat-square')
    const fills = parseSvg(await response.text()).flatMap(({ attributes }) => attributes.fill ?? [])
    expect(fills).toEqual(expect.arrayContaining(['#123456', '#321']))
  })

  it('takes its format from the path, never from the key', async () => {
    for (const key of ['a.svg', 'v1.2.tar.gz', '/blog/hello.json', 'é/😀.', '.svg', '100%']) {
      await worker.add('page_view', { [key]: 3 })
      expect(await svg(`page_view/${encodeURIComponent(key)}.svg`)).toBe('page views: 3')
      expect(await json(`page_view/${encodeURIComponent(key)}.json`)).toMatchObject({ count: 3 })
    }
    const plain = await worker.fetch('/badge/page_view/a')
    expect([plain.status, plain.headers.get('Content-Type')]).toEqual([404, 'application/problem+json'])
  })

  it('is harmless as a document, and may be embedded and cached', async () => {
    const { status, headers } = await worker.fetch('/badge/page_view/a.svg')
    expect([status, Object.fromEntries(headers)]).toMatchObject([
      200,
      {
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'cross-origin',
        'access-control-allow-origin': '*',
        'cache-control': 'public, max-age=60, stale-while-revalidate=300, stale-if-error=86400',
      },
    ])
  })

  it('with HEAD gives only the headers', async () => {
    const response = await worker.fetch('/badge/page_view/a.svg', { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
    expect(response.headers.get('Content-Type')).toBe('image/svg+xml; charset=utf-8')
  })
})

describe('A parameter that a badge does not know', () => {
  const LOOK = 'label=seen&color=0a0&style=for-the-badge'
  it.each([
    'v=2',
    '1732650000',
    'v=1&v=2',
    'cacheSeconds=60&logo=github',
    '__proto__=x&constructor=y&toString=z',
    'v=%ff',
    '%ff=v',
    '%',
    'Label=x',
    '&&=&=x',
    'prefix=x',
    'v=a%20b+c',
  ])('is ignored, and the look stays: ?%s', async (unknown) => {
    for (const format of ['svg', 'json']) {
      const plain = await worker.fetch(`/badge/page_view/a.${format}?${LOOK}`)
      const wanted = [200, await plain.text()]
      for (const query of [`${unknown}&${LOOK}`, `${LOOK}&${unknown}`]) {
        const response = await worker.fetch(`/badge/page_view/a.${format}?${query}`)
        expect([response.status, await response.text()]).toEqual(wanted)
      }
    }
  })

  it('hides no error of those that it knows', async () => {
    expect(await svg('page_view/a.svg?v=2&color=blurple')).toMatch(/^counter: color must be/)
    expect(await svg('page_view/a.svg?v=2&label=%ff')).toBe('counter: The query string is not percent-encoded UTF-8')
    expect(await svg('page_view.svg?prefix=a&v=2&prefix=b')).toBe('counter: prefix must not be repeated')
  })
})

describe('A JSON badge', () => {
  it('is what shields.io accepts, and the count', async () => {
    const always = { schemaVersion: 1, cacheSeconds: 300, count: 1_234 }
    const plain = { ...always, label: 'page views', message: '1,234', color: 'blue' }
    expect(await json('page_view/a.json')).toEqual(plain)
    const look = { label: 'x', message: '1.2k', color: 'f00', labelColor: 'red', style: 'for-the-badge' }
    const query = 'label=x&color=%23F00&label_color=Red&style=for-the-badge&compact=true'
    expect(await json(`page_view/a.json?${query}`)).toEqual({ ...always, ...look })
  })

  it('contains for shields.io only the fields of its schema', async () => {
    const response = await worker.fetch('/badge/page_view/a.json', { headers: { 'User-Agent': 'Shields.io/1a2b3c4' } })
    const fields = ['schemaVersion', 'label', 'message', 'color', 'cacheSeconds']
    expect(Object.keys((await response.json()) as object)).toEqual(fields)
    expect(response.headers.get('Vary')).toContain('User-Agent')
  })

  it('contains all digits of the count', async () => {
    await storeTotal('8', 9_007_199_254_740_993n)
    expect(await (await worker.fetch('/badge/number/8.json')).text()).toContain('"count":9007199254740993}')
  })
})

describe('A badge of a period', () => {
  it('shows what was counted in the period, rolled up or not', async () => {
    const key = '4711'
    const recordId = await hash64(key)
    // Today, and the first days of a week, of a month and before it.
    const rows = ['2026-11-20', '2026-11-14', '2026-10-22', '2026-10-21'].map(
      (day, at) => `(${NUMBERS}, ${recordId}, 1, '${day}', ${10 ** at})`,
    )
    await db.arrange(
      `INSERT INTO counter_periods (record_type, record_id, period, period_start, count) VALUES ${rows.join(', ')}`,
    )
    await storeTotal(key, 1_111n)
    await worker.api('POST', `/v1/counters/number/${key}`, { by: 20_000 })
    stopClock()
    const counts = async (at: string) => {
      vi.setSystemTime(Date.parse(at))
      const read = ['day', 'week', 'month', 'all'].map(
        async (period) => ((await json(`number/${key}.json?period=${period}`)) as { count: number }).count,
      )
      return Promise.all(read)
    }
    expect(await counts('2026-11-21T00:00:00.000Z')).toEqual([20_000, 20_001, 20_011, 21_111])
    expect(await counts('2026-11-20T00:00:00.000Z')).toEqual([20_001, 20_011, 20_111, 21_111])
    expect(await counts('2026-11-20T23:59:59.999Z')).toEqual([20_001, 20_011, 20_111, 21_111])
    expect(await svg(`number/${key}.svg?period=week`)).toBe('counts: 20,011/week')
    expect(await svg(`number/${key}.svg?period=day&compact=true&label=seen`)).toBe('seen: 20k/day')
    expect(await json(`number/${key}.json?period=month`)).toMatchObject({ label: 'counts', message: '20,111/month' })
  })
})

describe('An unchanged badge', () => {
  it.each(['svg', 'json'])('is answered 304 until the count or the look changes: %s', async (format) => {
    const path = `/badge/page_view/etag.${format}`
    const first = await worker.fetch(path)
    const ask = (path: string, method = 'GET') =>
      worker.fetch(path, { method, headers: { 'If-None-Match': first.headers.get('ETag')! } })
    for (const unchanged of [await ask(path), await ask(path, 'HEAD')]) {
      expect([unchanged.status, await unchanged.text()]).toEqual([304, ''])
      for (const name of ['ETag', 'Cache-Control']) expect(unchanged.headers.get(name)).toBe(first.headers.get(name))
      expect(unchanged.headers.get('Access-Control-Allow-Origin')).toBe('*')
    }
    expect((await ask(`${path}?label=other`)).status).toBe(200)
    await worker.hit('page_view', 'etag')
    expect((await ask(path)).status).toBe(200)
  })
})

describe('An error of a badge', () => {
  const label = 'label must have at most 80 characters, none of them a control character'
  const color = 'must be a color name such as "blue", or 3 or 6 hexadecimal digits'
  const CASES: [string, string, number, string][] = [
    ['an unknown type', 'nope/a', 404, 'The counter type is not configured'],
    ['a type that is not public', 'secret/a', 404, 'The counter type is not configured'],
    ['an object method as a type', 'constructor/a', 404, 'The counter type is not configured'],
    ['slashes in a key', 'page_view/blog/hello', 404, 'write / in the key as %2F'],
    ['no key', 'page_view/', 422, 'key must not be empty'],
    ['a key that is not UTF-8', 'page_view/%ff', 400, 'The key in the path is not percent-encoded UTF-8'],
    ['a stray percent sign', 'page_view/50%', 400, 'The key in the path is not percent-encoded UTF-8'],
    ['a key of 513 bytes', `page_view/${'x'.repeat(513)}`, 422, 'key must have at most 512 bytes of UTF-8, not 513'],
    ['a query that is not UTF-8', 'page_view/a?label=%ff', 400, 'The query string is not percent-encoded UTF-8'],
    ['a parameter given twice', 'page_view/a?label=x&label=y', 422, 'label must not be repeated'],
    ['a label of 81 characters', `page_view/a?label=${'x'.repeat(81)}`, 422, label],
    ['a control character', 'page_view/a?label=%01', 422, label],
    ['an invalid color', 'page_view/a?color=url(%23x)', 422, `color ${color}`],
    ['an invalid label color', 'page_view/a?label_color=', 422, `label_color ${color}`],
    ['an invalid period', 'page_view/a?period=year', 422, 'period must be one of all, day, week, month'],
    ['compact that is neither true nor false', 'page_view/a?compact=1', 422, 'compact must be true or false'],
  ]

  it.each(CASES)('is shown in the badge: %s', async (_, path, status, message) => {
    const [pathname, query] = path.split('?')
    const at = (format: string) => `/badge/${pathname}.${format}${query === undefined ? '' : `?${query}`}`
    const image = await worker.fetch(at('svg'))
    expect([image.status, await said(image)]).toEqual([status, `counter: ${message}`])
    expect(image.headers.get('Cache-Control')).toBe('public, max-age=60')
    expect(image.headers.get('Content-Security-Policy')).toContain("default-src 'none'")
    const endpoint = await worker.fetch(at('json'))
    expect([endpoint.status, endpoint.headers.get('Access-Control-Allow-Origin')]).toEqual([status, '*'])
    const problem = { schemaVersion: 1, label: 'counter', message, color: 'red', isError: true, cacheSeconds: 300 }
    expect(await endpoint.json()).toEqual(problem)
  })

  it('lists the styles', async () => {
    const rule = 'style must be one of flat, flat-square, for-the-badge'
    expect(await svg('page_view/a.svg?style=plastic')).toBe(`counter: ${rule}`)
    expect(await json('page_view/a.json?style=social')).toMatchObject({ message: rule })
  })

  it('is a problem document for other methods', async () => {
    const response = await worker.fetch('/badge/page_view/a.svg', { method: 'POST' })
    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })
})

describe('Without a database', () => {
  it.each(['', '?period=day'])('a badge says that it is unavailable, and is not cached%s', async (query) => {
    const away = await freshDatabase()
    await away.behave({ faults: [{ action: 'error', errno: 2003, times: 1_000 }] })
    const blind = new TestWorker(away.url, { COUNTERS })
    const image = await blind.fetch(`/badge/page_view/a.svg${query}`)
    expect([image.status, await said(image)]).toEqual([503, 'counter: The database is unavailable'])
    expect([image.headers.get('Cache-Control'), image.headers.get('Retry-After')]).toEqual(['no-store', '5'])
    const endpoint = await blind.fetch(`/badge/page_view/a.json${query}`)
    expect([endpoint.status, endpoint.headers.get('Cache-Control')]).toEqual([503, 'no-store'])
    expect(await endpoint.json()).toMatchObject({ message: 'The database is unavailable', isError: true })
  })
})

describe('Requesting a badge', () => {
  it('changes no row, for known and unknown keys', async () => {
    const rows = async () =>
      Promise.all(
        ['slotted_counters', 'counters', 'counter_history'].map(
          async (table) => (await db.execute(`SELECT * FROM ${table} ORDER BY 1, 2, 3`)).rows,
        ),
      )
    const before = await rows()
    for (const format of ['svg', 'json']) {
      for (const key of ['a', 'never-seen', 'x'.repeat(600)]) {
        for (const period of ['all', 'day', 'week', 'month']) {
          const response = await worker.fetch(`/badge/page_view/${key}.${format}?period=${period}`)
          expect(response.headers.has('X-Hit')).toBe(false)
        }
      }
    }
    const statements = await db.recording(() => worker.fetch('/badge/page_view/unseen.svg?period=week'))
    expect(statements.map(({ sql }) => sql.slice(0, 6))).toEqual(['SELECT'])
    expect(await rows()).toEqual(before)
  })
})
