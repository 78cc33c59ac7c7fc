import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ROLL_UP_CRON } from '../../src/maintenance.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { TestWorker } from '../harness/worker.ts'

let db: TestDatabase
let worker: TestWorker
beforeEach(async () => {
  db = await freshDatabase()
  worker = new TestWorker(db.url, {
    COUNTERS: {
      page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
      secret: { record_type: 3 },
    },
  })
})
afterEach(() => {
  vi.useRealTimers()
})

const A = '/v1/counters/page_view/a'
const isRead = ({ sql }: { sql: string }) => sql.startsWith('SELECT record_type')

describe('reads at the same time', () => {
  it('of one counter, 200 of them, singly, in lists and as badges, take a few statements', async () => {
    await worker.api('POST', A, { by: 7 })
    const paths = [A, '/v1/counters/page_view?key=b&key=a', '/badge/page_view/a.json', '/badge/page_view/a.svg']
    const statements = await db.recording(async () => {
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => worker.fetch(paths[i % 4]!)))
      for (const answer of answers) {
        expect(answer.status).toBe(200)
        expect(await answer.text()).toMatch(/"count":7|>7</)
      }
    })
    expect(statements.filter(isRead).length).toBeLessThanOrEqual(20)
  })

  it('with increments that return the count, each of which sees its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => worker.api('POST', `${A}?return=count`, { by: 1 })),
    )
    const counts = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { count: number }).count))
    // Of those that are told n or less there cannot be more than n.
    for (const [i, count] of counts.sort((a, b) => a - b).entries()) expect(count).toBeGreaterThan(i)
    expect(counts.at(-1)).toBe(60)
  })

  it('are all told when the database does not answer', async () => {
    const dead = new TestWorker('http://user:password@127.0.0.1:9')
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const answers = await Promise.all(Array.from({ length: 30 }, () => dead.fetch(A)))
    vi.restoreAllMocks()
    for (const { status, headers } of answers) expect([status, headers.get('Retry-After')]).toEqual([503, '5'])
  })

  it('of a thousand keys in one list take one statement', async () => {
    const query = Array.from({ length: 1_000 }, (_, i) => `key=k${i}`).join('&')
    await worker.api('POST', '/v1/counters/page_view/k999', { by: 4 })
    const statements = await db.recording(async () => {
      const { counters } = (await (await worker.fetch(`/v1/counters/page_view?${query}`)).json()) as {
        counters: { key: string; count: number }[]
      }
      expect(counters).toHaveLength(1_000)
      expect(counters[999]).toMatchObject({ key: 'k999', count: 4 })
      expect(counters[0]).toMatchObject({ key: 'k0', count: 0 })
    })
    expect(statements.filter(isRead)).toHaveLength(1)
    const more = await worker.fetch(`/v1/counters/page_view?${query}&key=one-more`)
    expect(more.status).toBe(422)
  })
})

describe('consistency=rolled', () => {
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
    expect(await rolled()).toEqual({ counts: [3], cache: fresh })
    // A roll-up in another isolate, of which this one knows nothing.
    await db.execute('UPDATE counter_totals SET count = 8')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 })
  })

  it('is kept for as long as its first answer said, and says how much of that is left', async () => {
    passes(10)
    expect(await rolled()).toEqual({ counts: [3], cache: 'public, max-age=20' })
    passes(9.5)
    expect(await rolled()).toEqual({ counts: [3], cache: 'public, max-age=10' })
    passes(9)
    expect(await rolled()).toEqual({ counts: [3], cache: 'public, max-age=1' })
    passes(1)
    expect(await rolled()).toEqual({ counts: [8], cache: fresh })
  })

  it('costs no statement while it is kept, by itself or in a list, which may be kept for as long as its oldest', async () => {
    passes(10)
    expect(await rolled('ba')).toEqual({ counts: [0, 3], cache: 'public, max-age=20' })
    const statements = await db.recording(async () => {
      expect(await rolled('bab')).toEqual({ counts: [0, 3, 0], cache: 'public, max-age=20' })
      expect(await rolled('b')).toEqual({ counts: [0], cache: fresh })
    })
    expect(statements).toEqual([])
  })

  it('is read anew for those who ask for that, and then is for all', async () => {
    expect(await rolled('a', { 'Cache-Control': 'no-cache' })).toEqual({ counts: [8], cache: fresh })
    expect(await rolled()).toEqual({ counts: [8], cache: fresh })
  })

  it('is read anew after a roll-up of this isolate, by the cron or by hand', async () => {
    await worker.cron(ROLL_UP_CRON)
    expect((await rolled()).counts).toEqual([8])
    await db.execute('UPDATE counter_totals SET count = 9')
    expect((await rolled()).counts).toEqual([8])
    await worker.api('POST', '/v1/rollup')
    expect((await rolled()).counts).toEqual([9])
  })

  it('is read anew after a setting, a reset and an import, also where they come once more', async () => {
    expect((await rolled()).counts).toEqual([3])
    await worker.api('PUT', A, { count: 100 })
    expect((await rolled()).counts).toEqual([100])
    const counters = [{ type: 'page_view', key: 'a', count: 11 }]
    const bring = () => worker.api('POST', '/v1/imports', { counters }, { 'Idempotency-Key': 'rolled' })
    await bring()
    expect((await rolled()).counts).toEqual([111])
    // Once more, because the first answer may have come from another isolate and been lost.
    await db.execute('UPDATE counter_totals SET count = 112')
    expect((await rolled()).counts).toEqual([111])
    expect((await bring()).headers.get('Idempotent-Replayed')).toBe('true')
    expect((await rolled()).counts).toEqual([112])
    await worker.api('DELETE', A)
    expect((await rolled()).counts).toEqual([0])
  })

  it('is read anew when the clock was set back', async () => {
    passes(-3_600)
    expect(await rolled()).toEqual({ counts: [8], cache: fresh })
  })
})

describe('Server-Timing', () => {
  const timingOf = (response: Response) => response.headers.get('Server-Timing')

  it('tells the time of the database and of all, on what reads and on what the API counts', async () => {
    const answers = await Promise.all([
      worker.fetch(A),
      worker.fetch('/v1/counters/page_view?key=a'),
      worker.fetch('/badge/page_view/a.svg?period=day'),
      worker.api('POST', A),
      worker.api('POST', '/v1/increments', { increments: [{ type: 'page_view', key: 'a' }] }),
      worker.api('GET', '/v1/status'),
    ])
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(timingOf(answer)).toMatch(/^db;dur=\d+\.\d+(;desc="shared")?,total;dur=\d+\.\d+;desc="all of it"$/)
    }
  })

  it('counts the database’s time from the asking, however slow it is', async () => {
    await db.behave({ latencyMs: 300 })
    const [, db_, total] = /db;dur=([\d.]+).*total;dur=([\d.]+)/.exec(timingOf(await worker.fetch(A))!)!
    expect(Number(db_)).toBeGreaterThanOrEqual(250)
    expect(Number(total)).toBeGreaterThanOrEqual(Number(db_) - 1)
  })

  it('says where a query was shared', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => worker.fetch(A)))
    const shared = answers.filter(
      (answer) => timingOf(answer)!.includes('db;dur') && timingOf(answer)!.includes('shared'),
    )
    expect(shared.length).toBeGreaterThan(10)
    expect(timingOf(await worker.fetch(A))).not.toContain('shared')
  })

  it('leaves the database out where it was not asked, and stands on errors and unchanged answers too', async () => {
    const wrong = await worker.fetch(`${A}?consistency=maybe`)
    expect([wrong.status, timingOf(wrong)]).toEqual([422, expect.stringMatching(/^total;dur=/)])
    const etag = (await worker.fetch(A)).headers.get('ETag')!
    const unchanged = await worker.fetch(A, { headers: { 'If-None-Match': etag } })
    expect([unchanged.status, timingOf(unchanged)]).toEqual([304, expect.stringMatching(/^db;dur=/)])
  })

  it('may be looked at by other sites’ scripts where the type is public', async () => {
    const allowed = async (path: string) => (await worker.api('GET', path)).headers.get('Timing-Allow-Origin')
    expect(await allowed(A)).toBe('*')
    expect(await allowed('/badge/page_view/a.svg')).toBe('*')
    expect(await allowed('/v1/counters/secret/a')).toBeNull()
    expect(await allowed('/v1/status')).toBeNull()
  })

  it('does not stand on hits', async () => {
    expect(timingOf(await worker.hit('page_view', '/a'))).toBeNull()
  })
})
