import { beforeAll, describe, expect, it } from 'vitest'
import { stopClock } from '../../harness/stopped-clock.ts'
import { sharedWorker } from '../../harness/worker.ts'

const { worker } = sharedWorker({
  COUNTERS: { page_view: { record_type: 1, public: true, allowed_origins: ['*'] }, secret: { record_type: 3 } },
})
beforeAll(async () => {
  await worker.api('POST', '/v1/counters/page_view/a', { by: 3 })
  await worker.api('POST', '/v1/rollup')
  await worker.api('POST', '/v1/counters/page_view/a', { by: 2 })
})

describe('Reading', () => {
  it('a counter that was never incremented gives zeros', async () => {
    const response = await worker.fetch('/v1/counters/page_view/never')
    expect(response.status).toBe(200)
    const zeros = { count: 0, total: 0, pending: 0, consistency: 'exact', rolledUpAt: null }
    expect(await response.json()).toEqual({ type: 'page_view', key: 'never', ...zeros })
  })

  it('gives total and pending, exact or as of the last roll-up', async () => {
    // However long it takes to read.
    stopClock()
    const exact = await worker.fetch('/v1/counters/page_view/a')
    const rolledUpAt = expect.stringMatching(/^\d{4}-.*Z$/)
    expect(await exact.json()).toMatchObject({ count: 5, total: 3, pending: 2, rolledUpAt })
    expect(exact.headers.get('Cache-Control')).toBe('public, no-cache')
    const rolled = await worker.fetch('/v1/counters/page_view/a?consistency=rolled')
    expect(await rolled.json()).toMatchObject({ count: 3, total: 3, pending: null })
    expect(rolled.headers.get('Cache-Control')).toBe('public, max-age=30')
  })

  it('several keys keeps their order', async () => {
    const response = await worker.fetch('/v1/counters/page_view?key=b&key=a&key=b')
    expect(await response.json()).toMatchObject({
      counters: [
        { key: 'b', count: 0 },
        { key: 'a', count: 5 },
        { key: 'b', count: 0 },
      ],
    })
    const head = await worker.fetch('/v1/counters/page_view?key=b', { method: 'HEAD' })
    expect(head.status).toBe(200)
  })

  it('is open to scripts of other sites for public types, and needs the token for private types', async () => {
    const open = await worker.fetch('/v1/counters/page_view/a')
    expect(open.headers.get('Access-Control-Allow-Origin')).toBe('*')
    const closed = await worker.fetch('/v1/counters/secret/a')
    expect([closed.status, closed.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer realm="slotted-counter"'])
    expect((await worker.fetch('/v1/counters/secret?key=a')).status).toBe(401)
    const allowed = await worker.api('GET', '/v1/counters/secret/a')
    expect(allowed.status).toBe(200)
    expect(allowed.headers.get('Cache-Control')).toBe('private, no-cache')
    expect(allowed.headers.get('Access-Control-Allow-Origin')).toBeNull()
  })

  it('with an ETag answers 304 if the count has not changed, and 200 if it has', async () => {
    const etag = (await worker.fetch('/v1/counters/page_view/a')).headers.get('ETag')!
    const again = () => worker.fetch('/v1/counters/page_view/a', { headers: { 'If-None-Match': etag } })
    expect((await again()).status).toBe(304)
    await worker.api('POST', '/v1/counters/page_view/a')
    expect((await again()).status).toBe(200)
  })

  it('lets scripts of other sites see errors and 304 responses of public types', async () => {
    const etag = (await worker.fetch('/v1/counters/page_view/a')).headers.get('ETag')!
    const unchanged = await worker.fetch('/v1/counters/page_view/a', { headers: { 'If-None-Match': etag } })
    expect(unchanged.status).toBe(304)
    const wrong = await worker.fetch('/v1/counters/page_view/a?consistency=maybe')
    expect(wrong.status).toBe(422)
    for (const { headers } of [unchanged, wrong]) {
      expect(headers.get('Access-Control-Allow-Origin')).toBe('*')
      expect(headers.get('Access-Control-Expose-Headers')).toContain('ETag')
      expect(headers.has('X-Request-Id')).toBe(true)
    }
    const preflight = (type: string, method = 'GET') =>
      worker.fetch(`/v1/counters/${type}/a`, {
        method: 'OPTIONS',
        headers: { Origin: 'https://any.example', 'Access-Control-Request-Method': method },
      })
    expect((await preflight('page_view')).headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect((await preflight('secret')).headers.get('Access-Control-Allow-Origin')).toBeNull()
    // Browsers send a POST without regard to Access-Control-Allow-Methods, which would include the token.
    expect((await preflight('page_view', 'POST')).headers.get('Access-Control-Allow-Origin')).toBeNull()
  })

  it.each(['/v1/counters/page_view/a', '/v1/shown', '/badge/page_view/a.svg', '/chart/page_view/a.svg'])(
    'lets scripts of other sites send no token, and no header but what reading needs: %s',
    async (path) => {
      const { headers } = await worker.fetch(path, {
        method: 'OPTIONS',
        headers: {
          Origin: 'https://any.example',
          'Access-Control-Request-Method': 'GET',
          'Access-Control-Request-Headers': 'authorization, if-none-match, x-other',
        },
      })
      expect(headers.get('Access-Control-Allow-Origin')).toBe('*')
      const allowed = headers.get('Access-Control-Allow-Headers')?.toLowerCase().split(',')
      expect(allowed).toEqual(['cache-control', 'if-none-match', 'x-request-id'])
    },
  )

  it('decodes plus signs and percent-encoding in the query', async () => {
    await worker.api('POST', '/v1/counters/page_view/a%20b%2B')
    const response = await worker.fetch('/v1/counters/page_view?key=a+b%2B')
    expect(await response.json()).toMatchObject({ counters: [{ key: 'a b+', count: 1 }] })
    await worker.api('POST', '/v1/rollup')
  })

  it('with HEAD gives only the headers', async () => {
    const response = await worker.fetch('/v1/counters/page_view/a', { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })
})
