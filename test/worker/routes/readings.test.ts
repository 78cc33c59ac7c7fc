import { describe, expect, it } from 'vitest'
import { expectProblem } from '../../harness/expect-problem.ts'
import { expectExact } from '../../harness/moves.ts'
import { sharedWorker } from '../../harness/worker.ts'

const { db, worker } = sharedWorker({
  COUNTERS: {
    page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
    release: { record_type: 2, public: true, allowed_origins: ['*'], readings: true },
  },
})
const put = (key: string, body: object, headers = {}) =>
  worker.api('PUT', `/v1/counters/release/${encodeURIComponent(key)}`, body, headers)
const send = (readings: unknown) => worker.api('POST', '/v1/readings', { readings })
const reading = (key: string, count: unknown, more = {}) => ({ type: 'release', key, count, ...more })

describe('PUT /v1/counters/:type/:key with "as": "reading"', () => {
  it('sets the counter and counts what it has gained today', async () => {
    const first = await put('1.0/app.tgz', { count: 40, as: 'reading' })
    expect([first.status, await first.json()]).toEqual([
      200,
      { type: 'release', key: '1.0/app.tgz', count: 40, added: 40 },
    ])
    expect(await (await put('1.0/app.tgz', { count: 45, as: 'reading' })).json()).toMatchObject({ added: 5 })
    expect(await (await put('1.0/app.tgz', { count: 45, as: 'reading' })).json()).toMatchObject({ added: 0 })
    const history = await worker.api('GET', '/v1/counters/release/1.0%2Fapp.tgz/history?by=day')
    const { points, adjustments } = await history.json<{ points: { count: number }[]; adjustments: unknown[] }>()
    expect([points.reduce((sum, { count }) => sum + count, 0), adjustments]).toEqual([45, []])
    await expectExact(db)
  })

  it('refuses less than the count, unless "reset" is true', async () => {
    await put('lower', { count: 9, as: 'reading' })
    for (const headers of [{}, { 'Idempotency-Key': 'too low' }, { 'Idempotency-Key': 'too low' }]) {
      await expectProblem(await put('lower', { count: 8, as: 'reading' }, headers), 409, 'reading_below_count')
    }
    expect(await worker.count('release', 'lower')).toBe(9)
    const reset = await put('lower', { count: 2, as: 'reading', reset: true })
    expect(await reset.json()).toMatchObject({ count: 2, added: -7 })
    expect(await worker.count('release', 'lower')).toBe(2)
  })

  it('with an Idempotency-Key is not refused when it comes again after a higher one', async () => {
    const headers = { 'Idempotency-Key': 'Monday' }
    await put('late', { count: 5, as: 'reading' }, headers)
    await put('late', { count: 6, as: 'reading' })
    const again = await put('late', { count: 5, as: 'reading' }, headers)
    expect([again.status, again.headers.get('Idempotent-Replayed'), await again.json()]).toEqual([
      200,
      'true',
      { type: 'release', key: 'late', count: 5, added: null },
    ])
    await expectProblem(await put('late', { count: 5 }, headers), 422, 'idempotency_key_reused')
    expect(await worker.count('release', 'late')).toBe(6)
  })

  it('refuses anything else', async () => {
    await expectProblem(await put('a', { count: 1, as: 'setting' }), 422, 'invalid_request')
    await expectProblem(await put('a', { count: 1, reset: true }), 422, 'invalid_request')
    await expectProblem(await put('a', { count: 1, as: 'reading', reset: 'yes' }), 422, 'invalid_request')
  })
})

describe('POST /v1/readings', () => {
  it('takes each reading separately, and says which were refused and why', async () => {
    await send([reading('a', 10), reading('b', 20)])
    const answer = await send([
      reading('a', 9),
      reading('b', 25),
      { type: 'page_view', key: '/c', count: 3 },
      reading('d', 0),
    ])
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        taken: 3,
        added: 8,
        refused: [
          {
            type: 'release',
            key: 'a',
            count: 9,
            code: 'reading_below_count',
            detail: expect.stringContaining('below the count'),
          },
        ],
      },
    ])
    expect(await worker.count('release', 'a')).toBe(10)
    expect(await worker.count('page_view', '/c')).toBe(3)
    await expectExact(db)
  })

  it('changes nothing if an entry is wrong', async () => {
    await expectProblem(await send([reading('e', 1), reading('', 1)]), 422, 'invalid_request')
    await expectProblem(await send([reading('e', 1), { type: 'none', key: 'e', count: 1 }]), 422, 'invalid_request')
    await expectProblem(await send([]), 422, 'invalid_request')
    expect(await worker.count('release', 'e')).toBe(0)
  })

  it('needs a token that may manage each type', async () => {
    expect((await worker.fetch('/v1/readings', { method: 'POST', body: '{}' })).status).toBe(401)
  })

  it('says what to do if an answer was lost, and the same request then adds only what is missing', async () => {
    const readings = Array.from({ length: 20 }, (_, i) => reading(`lost ${i}`, 5))
    await db.behave({ faults: [{ action: 'cut-answer', match: '^COMMIT', times: 1 }] })
    const answer = await send(readings)
    await db.behave()
    const detail = expect.stringContaining('Send the same readings again')
    await expectProblem(answer, 503, 'outcome_unknown', { detail })
    expect(await (await send(readings)).json()).toMatchObject({ taken: 20, refused: [] })
    expect(await worker.count('release', 'lost 0')).toBe(5)
    await expectExact(db)
  })
})

describe('A type with readings', () => {
  it('refuses hits and increments, which a reading would swallow', async () => {
    const hit = await worker.hit('release', 'hit')
    expect([hit.status, hit.headers.get('X-Hit')]).toEqual([204, 'ignored; reason=readings'])
    const detail = expect.stringContaining('accepts readings only')
    const one = worker.api('POST', '/v1/counters/release/hit', {})
    await expectProblem(await one, 422, 'invalid_request', { detail })
    const increments = [
      { type: 'page_view', key: '/d' },
      { type: 'release', key: 'hit' },
    ]
    await expectProblem(await worker.api('POST', '/v1/increments', { increments }), 422, 'invalid_request', { detail })
    expect([await worker.count('release', 'hit'), await worker.count('page_view', '/d')]).toEqual([0, 0])
  })
})
