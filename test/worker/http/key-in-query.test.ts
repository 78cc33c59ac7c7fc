import { describe, expect, it } from 'vitest'
import { expectProblem } from '../../harness/expect-problem.ts'
import { expectExact } from '../../harness/moves.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

const { db, worker } = sharedWorker({
  COUNTERS: { page_view: { record_type: 1, public: true, allowed_origins: ['*'], counting_badge: true } },
})
const COUNTERS = '/v1/counters/page_view'
const withKey = (key: string, more = {}) => `?${new URLSearchParams({ key, ...more })}`

describe.each(['.', '..', '/a b?key=c', 'history', 'rename'])('The key %j is sent as ?key=', (key) => {
  const count = async () => {
    const response = await worker.fetch(`${COUNTERS}${withKey(key)}`)
    return (await response.json<{ counters: { count: number }[] }>()).counters[0]!.count
  }

  it('to count, set and read it', async () => {
    const added = await worker.api('POST', COUNTERS + withKey(key), { by: 3 })
    expect([added.status, await added.json()]).toEqual([200, { type: 'page_view', key, added: 3 }])
    expect(await count()).toBe(3)
    const set = await worker.api('PUT', COUNTERS + withKey(key), { count: 10 })
    expect([set.status, await set.json()]).toEqual([
      200,
      { type: 'page_view', key, count: 10, added: expect.any(Number) },
    ])
    const history = await worker.fetch(`${COUNTERS}/history${withKey(key, { by: 'hour' })}`)
    expect(await history.json()).toMatchObject({ key, by: 'hour', adjustments: [{ kind: 'set', count: 7 }] })
    expect(await count()).toBe(10)
  })

  it('to rename, merge and delete it', async () => {
    const other = `/other than ${key}`
    expect((await worker.api('POST', `${COUNTERS}/rename${withKey(key)}`, { to: other })).status).toBe(200)
    expect([await count(), await worker.count('page_view', other)]).toEqual([0, 10])
    await worker.add('page_view', { [key]: 1 })
    expect((await worker.api('POST', `${COUNTERS}/merge${withKey(key)}`, { into: other })).status).toBe(200)
    expect([await count(), await worker.count('page_view', other)]).toEqual([0, 11])
    await worker.add('page_view', { [key]: 1 })
    await expectProblem(await worker.api('DELETE', COUNTERS + withKey(key, { below: 1 })), 409, 'count_not_below')
    expect((await worker.api('DELETE', COUNTERS + withKey(key))).status).toBe(200)
    expect(await count()).toBe(0)
    await expectExact(db)
  })
})

describe('?key=', () => {
  it.each([
    ['PUT', `${COUNTERS}?key=a&key=b`, 422, 'invalid_request'],
    ['PUT', `${COUNTERS}?key=`, 422, 'invalid_request'],
    ['PUT', `${COUNTERS}?key=%ff`, 400, 'malformed_query'],
    ['PUT', `${COUNTERS}?key=a&colour=red`, 422, 'invalid_request'],
    ['PUT', `${COUNTERS}/a?key=b`, 422, 'invalid_request'],
    ['PUT', `/v1/counters/nothing?key=a`, 404, 'unknown_type'],
  ])('%s %s is answered %i %s', async (method, path, status, code) => {
    await expectProblem(await worker.api(method, path, { count: 1 }), status, code)
  })

  it('needs the token that the path needs', async () => {
    for (const [method, path] of [
      ['DELETE', COUNTERS],
      ['POST', `${COUNTERS}/merge`],
    ] as const) {
      await expectProblem(await worker.fetch(path + withKey('..'), { method }), 401, 'unauthorized')
    }
  })

  it('lists counters with HEAD as with GET', async () => {
    const list = '/v1/counters/page_view?key=a&key=b'
    expect((await worker.fetch(list, { method: 'HEAD' })).status).toBe((await worker.fetch(list)).status)
  })

  it('works below a base path', async () => {
    const mounted = new TestWorker(db.url, { BASE_PATH: '/counter' })
    expect((await mounted.api('PUT', `/counter${COUNTERS}${withKey('..')}`, { count: 2 })).status).toBe(200)
  })
})

describe.each(['.', '..'])('The key %j cannot be counted', (key) => {
  it('in public', async () => {
    const said = [
      await worker.hit('page_view', key),
      await worker.fetch(`/hit${withKey(key, { type: 'page_view' })}`, { method: 'POST' }),
      await worker.fetch(`/hit.gif${withKey(key, { type: 'page_view' })}`),
    ].map(({ headers }) => headers.get('X-Hit'))
    expect(said).toEqual(Array(3).fill('ignored; reason=key'))
  })
})
