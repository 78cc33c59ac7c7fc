import { describe, expect, it } from 'vitest'
import { expectProblem } from '../../harness/expect-problem.ts'
import { expectExact } from '../../harness/moves.ts'
import { tokenLines, tokenOf } from '../../harness/tokens.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

const COUNTERS = {
  page_view: { record_type: 1, public: true, also: 'visitor' },
  // A chain, with a type of another kind in it.
  visitor: { record_type: 3, dedupe_seconds: 60, also: 'site_visitor' },
  site_visitor: { record_type: 4, dedupe_seconds: 60, visitors_of: 'site', also: 'reader' },
  reader: { record_type: 5, dedupe_seconds: 120 },
}
const { db, worker } = sharedWorker({ COUNTERS })
const count = (key: string, query = '') => worker.count('page_view', key, query)
const add = (key: string, by: number) => worker.add('page_view', { [key]: by })
const remove = (key: string, headers = {}) => worker.api('DELETE', `/v1/counters/page_view/${key}`, undefined, headers)
const rename = (key: string, to: unknown, headers = {}) =>
  worker.api('POST', `/v1/counters/page_view/${key}/rename`, { to }, headers)
const merge = (key: string, into: unknown, headers = {}) =>
  worker.api('POST', `/v1/counters/page_view/${key}/merge`, { into }, headers)
const found = async (prefix: string) => {
  const response = await worker.api('GET', `/v1/search/page_view?prefix=${prefix}`)
  const { counters } = await response.json<{ counters: { key: string }[] }>()
  return counters.map(({ key }) => key)
}

describe('DELETE /v1/counters/:type/:key', () => {
  it('deletes a counter: its number, its history and its name. Cached totals are dropped', async () => {
    await add('gone', 3)
    await worker.api('POST', '/v1/rollup')
    await add('gone', 4)
    expect(await count('gone', '?consistency=rolled')).toBe(3)
    const response = await remove('gone')
    expect([response.status, await response.json()]).toEqual([200, { type: 'page_view', key: 'gone' }])
    expect([await count('gone'), await count('gone', '?consistency=rolled')]).toEqual([0, 0])
    expect(await found('gone')).toEqual([])
    await expectProblem(await remove('gone'), 404, 'no_such_counter')
    await expectExact(db)
  })

  it('below a number deletes only what is below it', async () => {
    await add('few', 5)
    await expectProblem(await remove('few?below=5'), 409, 'count_not_below')
    expect((await remove('few?below=6')).status).toBe(200)
    expect((await remove('few?below=x')).status).toBe(422)
  })

  it('with an Idempotency-Key happens once. The key is refused for anything else', async () => {
    const key = { 'Idempotency-Key': 'delete once' }
    await add('keyed', 5)
    expect((await remove('keyed', key)).headers.has('Idempotent-Replayed')).toBe(false)
    await add('keyed', 2)
    const again = await remove('keyed', key)
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, 'true'])
    expect(await count('keyed')).toBe(2)
    await expectProblem(await remove('keyed?below=5', key), 422, 'idempotency_key_reused')
  })
})

// The two keys of each test are in one range, even of four.
describe('POST /v1/counters/:type/:key/rename and /merge', () => {
  it('move a counter to another key', async () => {
    await add('old/path', 3)
    await worker.api('POST', '/v1/rollup')
    await add('old/path', 4)
    const response = await rename('old%2Fpath', 'new/path')
    expect([response.status, await response.json()]).toEqual([200, { type: 'page_view', key: 'old/path' }])
    expect([await count('old/path'), await count('new/path')]).toEqual([0, 7])
    expect([await found('old'), await found('new')]).toEqual([[], ['new/path']])
    await expectExact(db)
  })

  it('add a counter to another one', async () => {
    await add('part', 3)
    await add('sum', 4)
    expect((await merge('part', 'sum')).status).toBe(200)
    expect([await count('part'), await count('sum')]).toEqual([0, 7])
    await expectExact(db)
  })

  it('happen whole although the client leaves at once', async () => {
    await add('left', 3)
    const request = rename('left', 'goal', { 'Idempotency-Key': 'leaves' })
    request.catch(() => {})
    await expect.poll(() => count('goal')).toBe(3)
    expect(await count('left')).toBe(0)
    const again = await rename('left', 'goal', { 'Idempotency-Key': 'leaves' })
    expect(again.headers.has('Idempotent-Replayed')).toBe(true)
  })

  it('are refused if the new key is taken, or either counter is missing', async () => {
    await add('same', 1)
    await add('two', 2)
    await expectProblem(await rename('same', 'two'), 409, 'counter_exists')
    for (const response of [await rename('none', 'new'), await merge('none', 'same')]) {
      await expectProblem(response, 404, 'no_such_counter', { detail: expect.stringContaining('The counter does not') })
    }
    const detail = expect.stringContaining('The counter to merge into does not exist')
    await expectProblem(await merge('same', 'none'), 404, 'no_such_counter', { detail })
    expect([await count('same'), await count('two')]).toEqual([1, 2])
  })

  it.each(['rename', 'merge'])('leave no new key if a %s fails', async (kind) => {
    await add('whence', 1)
    const fails = [{ action: 'error', errno: 1114, match: 'INTO slotted_counters', times: 100 } as const]
    const change = () => (kind === 'rename' ? rename('whence', 'whither') : merge('whence', 'whither'))
    await db.behave({ faults: fails })
    const response = await change()
    await db.behave()
    expect(response.status).toBe(kind === 'rename' ? 503 : 404)
    expect([await count('whence'), await found('whither')]).toEqual([1, []])
    await remove('whence')
  })

  it.each([
    ['its own key', 'same'],
    ['an empty key', ''],
    ['a key that is too long', 'x'.repeat(513)],
    ['null', null],
    ['a number', 5],
  ])('refuse %s', async (_, key) => {
    for (const response of [await rename('same', key), await merge('same', key)]) {
      await expectProblem(response, 422, 'invalid_request')
    }
  })
})

describe('?also=true', () => {
  const ALSO = ['page_view', 'visitor', 'reader']
  const countsOf = async (key: string) => Promise.all(ALSO.map((type) => worker.count(type, key)))
  const fill = (key: string, counts: number[]) =>
    worker.api('POST', '/v1/increments', { increments: ALSO.map((type, i) => ({ type, key, by: counts[i] })) })
  const changed = async (request: Promise<Response>) => expect((await request).status).toBe(200)

  it('takes the counters of the same key along in the types of `also`, chained ones too', async () => {
    // All of them in one range, even of four.
    await fill('p5', [9, 5, 3])
    await worker.add('site_visitor', { p5: 2 })
    await changed(rename('p5', 'p6'))
    expect([await countsOf('p5'), await countsOf('p6')]).toEqual([
      [0, 5, 3],
      [9, 0, 0],
    ])
    await changed(rename('p6', 'p5'))
    await changed(worker.api('POST', '/v1/counters/page_view/p5/rename?also=true', { to: 'p/ü ?&=' }))
    expect(await countsOf('p/ü ?&=')).toEqual([9, 5, 3])
    await fill('p3', [1, 1, 1])
    const path = `/v1/counters/page_view/${encodeURIComponent('p/ü ?&=')}/merge?also=true`
    await changed(worker.api('POST', path, { into: 'p3' }))
    expect([await countsOf('p/ü ?&='), await countsOf('p3')]).toEqual([
      [0, 0, 0],
      [10, 6, 4],
    ])
    await changed(remove('p3?also=true'))
    expect(await countsOf('p3')).toEqual([0, 0, 0])
    // Its key is not that of a page.
    expect(await worker.count('site_visitor', 'p5')).toBe(2)
    await expectExact(db)
  })

  it('is refused for a token that does not cover one of them, and for anything but true or false', async () => {
    await fill('limited', [3, 2, 1])
    const limited = new TestWorker(db.url, {
      COUNTERS,
      API_TOKENS: await tokenLines({ views: 'manage:page_view,visitor' }),
    })
    const headers = { Authorization: `Bearer ${tokenOf('views')}` }
    const send = (query: string) =>
      limited.fetch(`/v1/counters/page_view/limited${query}`, { method: 'DELETE', headers })
    const detail = expect.stringContaining('This needs a token for the type reader.')
    await expectProblem(await send('?also=true'), 403, 'insufficient_scope', { detail })
    await expectProblem(await send('?also=yes'), 422, 'invalid_request')
    expect(await countsOf('limited')).toEqual([3, 2, 1])
    expect((await send('')).status).toBe(200)
    expect(await countsOf('limited')).toEqual([0, 2, 1])
  })
})
