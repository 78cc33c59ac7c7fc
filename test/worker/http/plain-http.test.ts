import { describe, expect, it } from 'vitest'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

const COUNTERS = { page: { record_type: 1, public: true, allowed_origins: ['*'] } }
const { db, worker } = sharedWorker({ COUNTERS })
const STRANGER = { 'CF-Connecting-IP': '203.0.113.7' }

describe('Plain http', () => {
  it.each([
    ['GET', '/v1/counters/page/a'],
    ['POST', '/hit?type=page&key=a'],
    ['GET', '/hit.gif?type=page&key=a'],
    ['GET', '/d/page/a.zip?http:'],
    ['GET', '/'],
  ])('is answered with a redirect to https that keeps the method: %s %s', async (method, path) => {
    const { status, headers } = await worker.fetchAt('http://count.example', path, { method, headers: STRANGER })
    expect([status, headers.get('Location')]).toEqual([308, `https://count.example${path}`])
    expect(await db.number('SELECT COUNT(*) FROM slotted_counters')).toBe(0n)
  })

  it('is redirected below a base path', async () => {
    const mounted = new TestWorker(db.url, { COUNTERS, BASE_PATH: '/counter' })
    const answer = await mounted.fetchAt('http://blog.example', '/counter/v1/counters/page/a', { headers: STRANGER })
    expect(answer.headers.get('Location')).toBe('https://blog.example/counter/v1/counters/page/a')
  })

  it.each([
    ['http://127.0.0.1:8787', STRANGER],
    ['http://localhost:8787', STRANGER],
    ['http://localhost', STRANGER],
    ['http://[::1]:8787', STRANGER],
    ['http://count.example', { 'CF-Connecting-IP': '127.0.0.1' }],
    ['http://count.example', { 'CF-Connecting-IP': '::1' }],
  ])('is answered on this machine: %s for %j', async (origin, headers) => {
    expect((await worker.fetchAt(origin, '/v1/counters/page/a', { headers })).status).toBe(200)
  })

  it('is answered between Workers of an account', async () => {
    expect((await worker.fetchAt('http://counter', '/v1/counters/page/a')).status).toBe(200)
  })

  it.each(['http://localhost.evil.example', 'http://127.0.0.1.evil.example'])(
    '%s is not this machine',
    async (origin) => {
      expect((await worker.fetchAt(origin, '/v1/counters/page/a', { headers: STRANGER })).status).toBe(308)
    },
  )
})
