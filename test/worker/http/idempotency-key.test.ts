import { describe, expect, it } from 'vitest'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

const { db, worker } = sharedWorker({
  COUNTERS: { page_view: { record_type: 1, public: true, allowed_origins: ['*'] } },
})

describe('An Idempotency-Key', () => {
  const isolate = () => new TestWorker(db.url, { COUNTERS: worker.env.COUNTERS })
  const send = (path: string, body: unknown, key: string, on = worker) =>
    on.api('POST', path, body, { 'Idempotency-Key': key })
  const many = (...entries: [key: string, by: number][]) => ({
    increments: entries.map(([key, by]) => ({ type: 'page_view', key, by })),
  })

  it('counts once from many isolates, at the same time and in turn, before and after a roll-up', async () => {
    const path = '/v1/counters/page_view/everywhere'
    const isolates = Array.from({ length: 4 }, isolate)
    const answers = await Promise.all([...isolates, ...isolates].map((on) => send(path, { by: 7 }, 'everywhere', on)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    await worker.cron('* * * * *')
    expect((await send(path, { by: 7 }, 'everywhere', isolate())).status).toBe(200)
    expect(await worker.read('page_view', 'everywhere')).toMatchObject({ count: 7, total: 7, pending: 0 })
  })

  it('belongs to one request: later requests with the same key change nothing, even if they differ', async () => {
    await send('/v1/increments', many(['/stands/a', 2], ['/stands/b', 3]), 'stands')
    await send('/v1/increments', many(['/stands/b', 30], ['/stands/a', 20]), 'stands')
    await send('/v1/increments', many(['/stands/a', 200]), 'stands', isolate())
    expect(await worker.read('page_view', '/stands/a')).toMatchObject({ count: 2 })
    expect(await worker.read('page_view', '/stands/b')).toMatchObject({ count: 3 })
  })

  it('differs from another in any of its up to 255 characters', async () => {
    const keys = ['k', 'K', 'k2', '"k"', 'x'.repeat(255), `${'x'.repeat(254)}y`]
    for (const key of [...keys, ...keys]) {
      expect((await send('/v1/counters/page_view/differs', { by: 1 }, key)).status).toBe(200)
    }
    expect(await worker.read('page_view', 'differs')).toMatchObject({ count: keys.length })
    for (const key of ['', 'x'.repeat(256)]) {
      const response = await send('/v1/counters/page_view/differs', { by: 1 }, key)
      expect(response.status).toBe(422)
      expect(await response.json()).toMatchObject({ errors: [{ field: 'Idempotency-Key' }] })
    }
  })

  it('counts beside increments without a key, and the returned count includes both', async () => {
    const path = '/v1/counters/page_view/beside?return=count'
    await worker.api('POST', path, { by: 100 })
    for (let i = 0; i < 2; i++) {
      expect(await (await send(path, { by: 5 }, 'beside')).json()).toMatchObject({ added: 5, count: 105 })
    }
  })

  it('sums the increments of one request to the same counter', async () => {
    for (let i = 0; i < 2; i++) await send('/v1/increments', many(['/twice', 1], ['/twice', 2], ['/twice', -5]), 'adds')
    expect(await worker.read('page_view', '/twice')).toMatchObject({ count: -2 })
  })

  it('may be used again after its request was refused', async () => {
    const path = '/v1/counters/page_view/refused'
    expect((await send(path, { by: 1.5 }, 'refused')).status).toBe(422)
    expect((await send(path, { by: 3 }, 'refused')).status).toBe(200)
    expect(await worker.read('page_view', 'refused')).toMatchObject({ count: 3 })
  })

  it('counts once if the request is repeated after a lost answer', async () => {
    const path = '/v1/counters/page_view/lost'
    await db.behave({ faults: [{ action: 'cut-answer', match: 'INSERT INTO slotted', times: 3 }] })
    const lost = await send(path, { by: 9 }, 'lost', isolate())
    await db.behave()
    expect([lost.status, lost.headers.get('X-Hit')]).toEqual([503, 'unknown'])
    expect((await send(path, { by: 9 }, 'lost', isolate())).status).toBe(200)
    expect(await worker.read('page_view', 'lost')).toMatchObject({ count: 9 })
  })
})
