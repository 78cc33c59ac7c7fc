import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ROLL_UP_CRON } from '../../../../src/config/config.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { stopClock } from '../../../harness/stopped-clock.ts'
import { TestWorker } from '../../../harness/worker.ts'

let db: TestDatabase
let worker: TestWorker
beforeEach(async () => {
  db = await freshDatabase()
  worker = new TestWorker(db.url)
})

const A = '/v1/counters/page_view/a'

describe('A reading with consistency=rolled', () => {
  const rolled = async (keys = 'a', headers: Record<string, string> = {}) => {
    const query = keys.split('').map((key) => `key=${key}`)
    const response = await worker.fetch(`/v1/counters/page_view?${query.join('&')}&consistency=rolled`, { headers })
    const { counters } = (await response.json()) as { counters: { count: number }[] }
    return { counts: counters.map(({ count }) => count), cache: response.headers.get('Cache-Control') }
  }
  const passes = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1_000)
  const fresh = 'public, max-age=30'

  beforeEach(async () => {
    await worker.api('POST', A, { by: 3 })
    await worker.cron(ROLL_UP_CRON)
    // However long it takes to read.
    stopClock()
    expect(await rolled()).toEqual({ counts: [3], cache: fresh })
    // As a roll-up in another isolate does.
    await db.arrange('UPDATE counters SET count = 8')
    passes(0.01)
  })

  it('is cached for as long as max-age said at first, and reports the time that remains', async () => {
    passes(10)
    expect(await rolled()).toEqual({ counts: [3], cache: 'public, max-age=20' })
    passes(9.5)
    expect(await rolled()).toEqual({ counts: [3], cache: 'public, max-age=10' })
    passes(9)
    expect(await rolled()).toEqual({ counts: [3], cache: 'public, max-age=1' })
    passes(1)
    expect(await rolled()).toEqual({ counts: [8], cache: fresh })
  })

  it('needs no statement while it is cached, and a list expires with its oldest reading', async () => {
    passes(10)
    expect(await rolled('ba')).toEqual({ counts: [0, 3], cache: 'public, max-age=20' })
    const statements = await db.recording(async () => {
      expect(await rolled('bab')).toEqual({ counts: [0, 3, 0], cache: 'public, max-age=20' })
      expect(await rolled('b')).toEqual({ counts: [0], cache: fresh })
    })
    expect(statements).toEqual([])
  })

  it('is read again for Cache-Control: no-cache, and then cached for all', async () => {
    expect(await rolled('a', { 'Cache-Control': 'no-cache' })).toEqual({ counts: [8], cache: fresh })
    expect(await rolled()).toEqual({ counts: [8], cache: fresh })
  })

  it('is read again after a roll-up of this isolate, by the cron trigger or by the API', async () => {
    await worker.cron(ROLL_UP_CRON)
    expect((await rolled()).counts).toEqual([8])
    await db.arrange('UPDATE counters SET count = 9')
    expect((await rolled()).counts).toEqual([8])
    await worker.api('POST', '/v1/rollup')
    expect((await rolled()).counts).toEqual([9])
  })

  it('is read again after a set, a reset and an import, also if they are repeated', async () => {
    expect((await rolled()).counts).toEqual([3])
    await worker.api('PUT', A, { count: 100 })
    expect((await rolled()).counts).toEqual([100])
    const bring = () => worker.bring([{ type: 'page_view', key: 'a', count: 11 }], 'rolled')
    await bring()
    expect((await rolled()).counts).toEqual([111])
    // A repeat must drop the cache too: the first request may have been served by another isolate, with its answer lost.
    await db.arrange('UPDATE counters SET count = 112')
    expect((await rolled()).counts).toEqual([111])
    expect((await bring()).headers.get('Idempotent-Replayed')).toBe('true')
    expect((await rolled()).counts).toEqual([112])
    await worker.api('DELETE', A)
    expect((await rolled()).counts).toEqual([0])
  })

  it('is read again if the clock was set back', async () => {
    passes(-3_600)
    expect(await rolled()).toEqual({ counts: [8], cache: fresh })
  })
})
