import { describe, expect, it } from 'vitest'
import { logged } from '../../harness/logged.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

const { db, worker } = sharedWorker({
  COUNTERS: {
    page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
    issue: { record_type: 2, public: true, allowed_origins: ['https://example.com'] },
    secret: { record_type: 3 },
  },
})
const sum = () => db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')

it('These tests run in workerd', () => {
  expect(navigator.userAgent).toBe('Cloudflare-Workers')
})

describe('POST /hit', () => {
  it('counts one, reports that in X-Hit, and needs no token', async () => {
    const response = await worker.hit('page_view', '/blog/hello')
    expect([response.status, response.headers.get('X-Hit')]).toEqual([204, 'counted'])
    const counts = { count: 1, total: 0, pending: 1, consistency: 'exact', rolledUpAt: null }
    expect(await worker.read('page_view', '/blog/hello')).toEqual({ type: 'page_view', key: '/blog/hello', ...counts })
  })

  it('counts every spelling of a path under one key, in the query, in the body and with the pixel', async () => {
    const query = (key: string) => new URLSearchParams({ type: 'page_view', key })
    await worker.fetch(`/hit?${query('/caf%C3%A9/%7Eme')}`, { method: 'POST' })
    await worker.hit('page_view', '/caf%c3%a9/~me')
    await worker.fetch(`/hit.gif?${query('/café/~me')}`)
    await worker.fetch('/hit.gif?type=page_view&key=/caf%C3%A9/%7Eme')
    expect(await worker.read('page_view', '/café/~me')).toMatchObject({ count: 4 })
    await worker.hit('page_view', '/a%2fb')
    expect(await worker.read('page_view', '/a%2Fb')).toMatchObject({ count: 1 })
  })

  it('accepts JSON sent as text/plain, which needs no preflight', async () => {
    const body = JSON.stringify({ type: 'page_view', key: '/beacon' })
    const response = await worker.fetch('/hit', { method: 'POST', body, headers: { Origin: 'https://any.example' } })
    expect([response.status, response.headers.get('X-Hit')]).toEqual([204, 'counted'])
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect(await worker.read('page_view', '/beacon')).toMatchObject({ count: 1 })
  })

  it('counts only for the allowed origins of a type, and gives the reason otherwise', async () => {
    const from = async (headers: Record<string, string>, type = 'issue') => {
      const response = await worker.hit(type, '42', headers)
      return [response.status, response.headers.get('X-Hit')]
    }
    const own = { Origin: 'https://example.com' }
    for (const headers of [own, { Referer: 'https://example.com/page' }]) {
      expect(await from(headers)).toEqual([204, 'counted'])
    }
    const [evil, opaque] = [{ Origin: 'https://evil.example' }, { Origin: 'null' }]
    for (const headers of [{}, evil, opaque, { Referer: 'https://example.com.evil/' }]) {
      expect(await from(headers)).toEqual([204, 'ignored; reason=origin'])
    }
    expect(await from(own, 'secret')).toEqual([204, 'ignored; reason=origin'])
    expect(await worker.read('issue', '42')).toMatchObject({ count: 2 })
  })

  it('answers a preflight', async () => {
    const response = await worker.fetch('/hit', {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://example.com',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type',
      },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('Access-Control-Allow-Methods')).toBe('POST')
  })
})

describe('GET /hit.gif', () => {
  const pixel = (query: string, headers: Record<string, string> = {}, on = worker) =>
    on.fetch(`/hit.gif${query}`, { headers })
  /** Checks that a response is an image that browsers show but do not cache. Returns its X-Hit. */
  const said = async (response: Response) => {
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'image/gif'])
    expect(response.headers.get('Cache-Control')).toContain('no-store')
    const bytes = new Uint8Array(await response.arrayBuffer())
    // GIF89a, one pixel wide and high, up to the trailer.
    expect([...bytes.subarray(0, 10)]).toEqual([0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0])
    expect(bytes.at(-1)).toBe(0x3b)
    return response.headers.get('X-Hit')
  }

  it('counts one for any key, and is one transparent pixel', async () => {
    for (const key of ['/pixel', 'a b&c=d+e%', '★']) {
      const query = `?type=page_view&key=${encodeURIComponent(key)}`
      expect(await said(await pixel(query))).toBe('counted')
      expect(await said(await pixel(query))).toBe('counted')
      expect(await worker.read('page_view', key)).toMatchObject({ key, count: 2 })
    }
  })

  it('counts only for the allowed origins of a type', async () => {
    const query = '?type=issue&key=4711'
    expect(await said(await pixel(query, { Referer: 'https://example.com/page' }))).toBe('counted')
    expect(await said(await pixel(query, { Referer: 'https://evil.example/' }))).toBe('ignored; reason=origin')
    expect(await said(await pixel(query))).toBe('ignored; reason=origin')
    expect(await worker.read('issue', '4711')).toMatchObject({ count: 1 })
  })

  it.each(['v=2', 'by=2', '1732650000', 'v=%ff', '%ff', '__proto__=x&constructor=y'])(
    'ignores unknown parameters, and is remembered without them: ?%s',
    async (unknown) => {
      const key = `/unknown ${unknown}`
      for (let n = 1; n <= 2; n++) {
        const query = `?type=page_view&key=${encodeURIComponent(key)}&${unknown}`
        expect(await said(await pixel(query))).toBe('counted')
        expect(await worker.read('page_view', key)).toMatchObject({ count: n })
      }
    },
  )

  it('does not count a HEAD request', async () => {
    const response = await worker.fetch('/hit.gif?type=page_view&key=/head', { method: 'HEAD' })
    expect([response.status, response.headers.get('X-Hit')]).toEqual([200, 'ignored; reason=head'])
    expect(await worker.read('page_view', '/head')).toMatchObject({ count: 0 })
  })

  it.each([
    ['no parameters', '', 'ignored; reason=invalid_request'],
    ['no key', '?type=page_view', 'ignored; reason=invalid_request'],
    ['no type', '?key=/a', 'ignored; reason=invalid_request'],
    ['an unknown type', '?type=nope&key=/a', 'ignored; reason=type'],
    ['two keys', '?type=page_view&key=/a&key=/b', 'ignored; reason=invalid_request'],
    ['an empty key', '?type=page_view&key=', 'ignored; reason=invalid_request'],
    ['a key that is too long', `?type=page_view&key=${'x'.repeat(513)}`, 'ignored; reason=invalid_request'],
    ['a query that is not UTF-8', '?type=page_view&key=%ff', 'ignored; reason=malformed_query'],
  ])('with %s counts nothing, logs nothing, gives the reason, and is still an image', async (_, query, reason) => {
    const before = await sum()
    const lines = await logged(async () => {
      expect(await said(await pixel(query))).toBe(reason)
    })
    expect(lines).toEqual([])
    expect(await sum()).toBe(before)
  })

  it.each([
    ['does not answer', 2003, 'ignored; reason=database_unavailable'],
    ['lost the connection', 2013, 'unknown'],
    ['has no tables', 1146, 'ignored; reason=database_not_ready'],
    ['refuses the credentials', 1045, 'ignored; reason=database_unavailable'],
    ['cannot store a larger count', 1264, 'ignored; reason=count_out_of_range'],
  ])('is still an image if the database %s', async (_, errno, reason) => {
    // A new isolate, because the failures open its circuit breaker.
    const other = new TestWorker(db.url, { COUNTERS: worker.env.COUNTERS })
    await db.behave({ faults: [{ action: 'error', errno, match: '^INSERT', times: 100 }] })
    const response = await pixel('?type=page_view&key=/pixel', {}, other)
    await db.behave()
    expect(await said(response)).toBe(reason)
  })
})
