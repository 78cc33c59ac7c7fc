import { describe, expect, it } from 'vitest'
import { sessionCookie } from '../../harness/sign-in.ts'
import { sharedWorker } from '../../harness/worker.ts'

const { worker } = sharedWorker({ COUNTERS: { invoice: { record_type: 9 } } })

describe('A request from another site, with the cookie of a signed-in user,', () => {
  const FOREIGN: [string, Record<string, string>][] = [
    ['a browser that sends Sec-Fetch-Site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' }],
    ['a subdomain of the same domain', { 'Sec-Fetch-Site': 'same-site', Origin: 'http://shop.counter.test' }],
    ['an old browser, which sends only Origin', { Origin: 'https://evil.test' }],
    ['an opaque origin', { Origin: 'null' }],
    ['no header at all', {}],
    ['a typed address', { 'Sec-Fetch-Site': 'none' }],
    ['an origin that begins with our own', { Origin: 'https://counter.test.evil.test' }],
  ]

  it.each(FOREIGN)('cannot change anything: %s', async (_, headers) => {
    const signedIn = { Cookie: await sessionCookie(worker), ...headers }
    for (const [method, path, body] of [
      ['POST', '/v1/counters/invoice/victim', undefined],
      ['POST', '/v1/counters/invoice/victim', '{"by":5}'],
      ['POST', '/v1/increments', '{"increments":[{"type":"invoice","key":"victim"}]}'],
      ['PUT', '/v1/counters/invoice/victim', '{"count":5}'],
      ['DELETE', '/v1/counters/invoice/victim', undefined],
      ['POST', '/v1/imports', '{"counters":[{"type":"invoice","key":"victim","count":5}]}'],
      ['POST', '/v1/rollup', undefined],
    ] as const) {
      const response = await worker.fetch(path, {
        method,
        headers: { ...signedIn, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
        ...(body !== undefined && { body }),
      })
      expect(response.status, path).toBe(403)
      expect(await response.json()).toMatchObject({ code: 'cross_site_request' })
    }
    expect(await worker.count('invoice', 'victim')).toBe(0)
  })

  it('is allowed if it has the token, which browsers do not add', async () => {
    for (const [, headers] of FOREIGN) {
      const response = await worker.api('POST', '/v1/counters/invoice/token', { by: 1 }, headers)
      expect(response.status).toBe(200)
    }
  })

  it('cannot read either, because CORS does not allow it', async () => {
    const headers = { Cookie: await sessionCookie(worker), Origin: 'https://evil.test' }
    const response = await worker.fetch('/v1/counters/invoice/a', { headers })
    expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull()
    expect(response.headers.get('Access-Control-Allow-Credentials')).toBeNull()
  })
})
