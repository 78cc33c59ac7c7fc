import { beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { TestWorker } from '../harness/worker.ts'

let db: TestDatabase
let worker: TestWorker
beforeAll(async () => {
  db = await freshDatabase()
  worker = new TestWorker(db.url, {
    COUNTERS: {
      page_view: { record_type: 1, public: true },
      issue: { record_type: 2, key: 'integer', public: true },
    },
  })
})
const count = async (key: string, type = 'page_view') => {
  const response = await worker.fetch(`/v1/counters/${type}/${key}`)
  return ((await response.json()) as { count: number }).count
}
const add = (key: string, by: number) => worker.api('POST', `/v1/counters/page_view/${key}`, { by })
const set = (key: string, count: unknown, headers = {}) =>
  worker.api('PUT', `/v1/counters/page_view/${key}`, { count }, headers)
const changed = () =>
  db.number('SELECT (SELECT COUNT(*) FROM counter_adjustments) + (SELECT COUNT(*) FROM counter_totals)')

describe('PUT and DELETE /v1/counters/:type/:key', () => {
  it('set a counter and reset it, and say so', async () => {
    await add('%2Fa%2Fb', 3)
    const put = await set('%2Fa%2Fb', 100)
    expect([put.status, await put.json()]).toEqual([200, { type: 'page_view', key: '/a/b', count: 100 }])
    expect(await count('%2Fa%2Fb')).toBe(100)
    await add('%2Fa%2Fb', 3)
    await worker.api('POST', '/v1/rollup')
    expect(await count('%2Fa%2Fb')).toBe(103)
    const reset = await worker.api('DELETE', '/v1/counters/page_view/%2Fa%2Fb')
    expect([reset.status, await reset.json()]).toEqual([200, { type: 'page_view', key: '/a/b', count: 0 }])
    expect(await count('%2Fa%2Fb')).toBe(0)
  })

  it.each([0, -5, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])('take %i', async (value) => {
    expect((await set('values', value)).status).toBe(200)
    expect(await count('values')).toBe(value)
  })

  it('know integer keys', async () => {
    expect((await worker.api('PUT', '/v1/counters/issue/18446744073709551615', { count: 4 })).status).toBe(200)
    expect(await count('18446744073709551615', 'issue')).toBe(4)
  })

  it('with an Idempotency-Key happen once, whatever happened since', async () => {
    const key = { 'Idempotency-Key': 'set-once' }
    expect((await set('once', 10, key)).headers.has('Idempotent-Replayed')).toBe(false)
    await add('once', 1)
    await set('once', 500)
    await worker.api('POST', '/v1/rollup')
    const again = await set('once', 10, key)
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, 'true'])
    expect(await again.json()).toEqual({ type: 'page_view', key: 'once', count: 10 })
    expect(await count('once')).toBe(500)
    // Another counter is another matter, and so is an increment.
    await set('twice', 10, key)
    await worker.api('POST', '/v1/counters/page_view/once', { by: 2 }, key)
    expect([await count('once'), await count('twice')]).toEqual([502, 10])
  })

  it.each([
    ['no count', {}, 422, 'invalid_request'],
    ['a fraction', { count: 1.5 }, 422, 'invalid_request'],
    ['text', { count: '5' }, 422, 'invalid_request'],
    ['more than JSON carries', { count: 2 ** 53 }, 422, 'invalid_request'],
    ['something unknown beside it', { count: 5, by: 1 }, 422, 'invalid_request'],
    ['null', null, 422, 'invalid_request'],
    ['a list', [5], 422, 'invalid_request'],
  ])('refuse %s, naming the field, and change nothing', async (_, body, status, code) => {
    const before = await changed()
    const response = await worker.api('PUT', '/v1/counters/page_view/refused', body)
    expect([response.status, await response.json()]).toEqual([
      status,
      expect.objectContaining({ code, errors: expect.any(Array) }),
    ])
    expect(await changed()).toBe(before)
  })

  it('refuse who has no token, types and keys that are none, parameters, and oversized bodies', async () => {
    const before = await changed()
    const status = async (path: string, init: RequestInit) => (await worker.fetch(path, init)).status
    for (const method of ['PUT', 'DELETE']) {
      expect(await status('/v1/counters/page_view/a', { method, body: '{"count":1}' })).toBe(401)
      expect((await worker.api(method, '/v1/counters/nope/a', { count: 1 })).status).toBe(404)
      expect((await worker.api(method, '/v1/counters/page_view/%ff', { count: 1 })).status).toBe(400)
      expect((await worker.api(method, '/v1/counters/issue/007', { count: 1 })).status).toBe(422)
      expect((await worker.api(method, '/v1/counters/page_view/a?x=1', { count: 1 })).status).toBe(422)
      expect(
        (await worker.api(method, '/v1/counters/page_view/a', { count: 1 }, { 'Idempotency-Key': 'x'.repeat(256) }))
          .status,
      ).toBe(422)
    }
    expect((await set('a', 'x'.repeat(5_000))).status).toBe(413)
    expect((await worker.api('PUT', '/v1/counters/page_view/a')).status).toBe(415)
    expect(await changed()).toBe(before)
  })

  it('say 422 when the sum would not fit, and 503 with the truth when the database does not say', async () => {
    const slots = `INSERT INTO slotted_counters VALUES (2, 77, 1, ?, 1, 0, DEFAULT)`
    await db.execute(slots, [-(2n ** 63n) + 5n])
    const refused = await worker.api('PUT', '/v1/counters/issue/77', { count: 2 ** 40 })
    expect([refused.status, await refused.json()]).toEqual([
      422,
      expect.objectContaining({ code: 'count_out_of_range' }),
    ])
    await db.behave({
      faults: [
        { action: 'cut-answer', match: 'COMMIT' },
        { action: 'cut-request', match: 'SELECT SUM.total', skip: 1, times: 20 },
      ],
    })
    const unsure = await set('unsure', 5, { 'Idempotency-Key': 'unsure' })
    await db.behave()
    expect([unsure.status, await unsure.json()]).toEqual([
      503,
      expect.objectContaining({ code: 'outcome_unknown', detail: expect.stringContaining('Idempotency-Key') }),
    ])
    // Another isolate's, because this one's breaker is open by now.
    const other = new TestWorker(db.url)
    expect(await (await other.fetch('/v1/counters/page_view/unsure')).json()).toMatchObject({ count: 5 })
  })
})
