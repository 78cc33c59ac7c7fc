import { describe, expect, it } from 'vitest'
import { sharedWorker } from '../../harness/worker.ts'

const { db, worker } = sharedWorker({
  COUNTERS: {
    page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
    issue: { record_type: 2, public: true, allowed_origins: ['https://example.com'] },
    secret: { record_type: 3 },
  },
})

describe('POST /v1/counters/:type/:key', () => {
  it('adds 1 by default, and returns the count if asked', async () => {
    const path = '/v1/counters/page_view/%2Fa'
    const a = { type: 'page_view', key: '/a' }
    expect(await (await worker.api('POST', path)).json()).toEqual({ ...a, added: 1 })
    expect(await (await worker.api('POST', path, { by: 41 })).json()).toEqual({ ...a, added: 41 })
    const response = await worker.api('POST', `${path}?return=count`, { by: -2 })
    expect(await response.json()).toEqual({ ...a, added: -2, count: 40 })
    expect(response.headers.get('X-Hit')).toBe('counted')
  })

  it('is exact beyond 2^31, and to the last digit beyond 2^53', async () => {
    const path = '/v1/counters/page_view/large?return=count'
    await worker.api('POST', path, { by: 2 ** 31 })
    expect(await (await worker.api('POST', path, { by: 2 ** 31 })).json()).toMatchObject({ count: 2 ** 32 })
    await worker.api('POST', path, { by: Number.MAX_SAFE_INTEGER })
    const text = await (await worker.api('POST', path, { by: Number.MAX_SAFE_INTEGER })).text()
    expect(text).toContain(`"count":${2n ** 32n + 2n * (2n ** 53n - 1n)}`)
  })

  it('returns a count of null if it has counted but cannot read the count', async () => {
    await worker.api('POST', '/v1/counters/page_view/unread')
    await db.behave({
      faults: [{ action: 'error', errno: 2013, match: '(FROM counters AS n|AS total, IF)', times: 3 }],
    })
    const response = await worker.api('POST', '/v1/counters/page_view/unread?return=count', { by: 4 })
    await db.behave()
    expect([response.status, response.headers.get('X-Hit')]).toEqual([200, 'counted'])
    expect(await response.json()).toEqual({ type: 'page_view', key: 'unread', added: 4, count: null })
    expect(await worker.read('page_view', 'unread')).toMatchObject({ count: 5 })
  })
})

describe('POST /v1/increments', () => {
  it('counts up to 1,000 increments of all types in one request', async () => {
    const increments = Array.from({ length: 998 }, (_, i) => ({ type: 'page_view', key: `/many/${i % 500}` }))
    const response = await worker.api('POST', '/v1/increments', {
      increments: [
        ...increments,
        { type: 'issue', key: '9223372036854775807', by: 7 },
        { type: 'secret', key: 's', by: -3 },
      ],
    })
    expect(await response.json()).toEqual({ accepted: 1_000 })
    expect(await worker.read('page_view', '/many/0')).toMatchObject({ count: 2 })
    expect(await worker.read('issue', '9223372036854775807')).toMatchObject({ count: 7 })
    expect(await worker.read('secret', 's')).toMatchObject({ count: -3 })
  })

  it('names every invalid increment and counts nothing', async () => {
    const before = await db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')
    const response = await worker.api('POST', '/v1/increments', {
      increments: [
        { type: 'page_view', key: '/good' },
        { type: 'nope', key: '/x' },
        { type: 'page_view', key: 'x'.repeat(513) },
        { type: 'issue', key: '\0' },
      ],
    })
    expect(response.status).toBe(422)
    const { code, errors } = (await response.json()) as { code: string; errors: { field: string }[] }
    expect(code).toBe('invalid_request')
    expect(errors.map(({ field }) => field)).toEqual(['increments.1.type', 'increments.2.key', 'increments.3.key'])
    expect(await db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')).toBe(before)
  })
})
