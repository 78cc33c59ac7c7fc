import { beforeEach, describe, expect, it } from 'vitest'
import { isolateOf } from '../../../src/isolate.ts'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { TestWorker } from '../../harness/worker.ts'
import { Gate } from '../gate.ts'

let db: TestDatabase
let worker: TestWorker
beforeEach(async () => {
  db = await freshDatabase()
  worker = isolate()
})
const COUNTERS = { page_view: { record_type: 1, public: true, allowed_origins: ['*'] }, secret: { record_type: 3 } }
const isolate = () => new TestWorker(db.url, { COUNTERS })

const A = '/v1/counters/page_view/a'

describe('Server-Timing', () => {
  const timingOf = (response: Response) => response.headers.get('Server-Timing')

  it('gives the time of the database and in all, for reads and for increments by the API', async () => {
    const answers = await Promise.all([
      worker.fetch(A),
      worker.fetch('/v1/counters/page_view?key=a'),
      worker.fetch('/badge/page_view/a.svg?period=day'),
      worker.fetch('/chart/page_view/a.svg'),
      worker.api('POST', A),
      worker.api('POST', '/v1/increments', { increments: [{ type: 'page_view', key: 'a' }] }),
      worker.api('GET', '/v1/status'),
    ])
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(timingOf(answer)).toMatch(/^db;dur=\d+\.\d+(;desc="shared")?,total;dur=\d+\.\d+;desc="all of it"$/)
    }
  })

  it('includes the time that a request waits for the database', async () => {
    await db.behave({ latencyMs: 300 })
    const [, db_, total] = /db;dur=([\d.]+).*total;dur=([\d.]+)/.exec(timingOf(await worker.fetch(A))!)!
    expect(Number(db_)).toBeGreaterThanOrEqual(250)
    expect(Number(total)).toBeGreaterThanOrEqual(Number(db_) - 1)
  })

  it('marks reads that shared a query', async () => {
    const gate = new Gate(/FROM counters/)
    worker = isolate()
    gate.close()
    const reading = Promise.all(Array.from({ length: 20 }, () => worker.fetch(A)))
    await expect.poll(() => isolateOf(worker.env).reads.load().waiting).toBe(20)
    gate.open()
    const shared = (await reading).filter((answer) => /db;dur.*shared/.test(timingOf(answer)!))
    expect(shared.length).toBeGreaterThan(10)
    expect(timingOf(await worker.fetch(A))).not.toContain('shared')
  })

  it('leaves out the database if it was not used, and is sent with errors and 304 responses too', async () => {
    const wrong = await worker.fetch(`${A}?consistency=maybe`)
    expect([wrong.status, timingOf(wrong)]).toEqual([422, expect.stringMatching(/^total;dur=/)])
    const etag = (await worker.fetch(A)).headers.get('ETag')!
    const unchanged = await worker.fetch(A, { headers: { 'If-None-Match': etag } })
    expect([unchanged.status, timingOf(unchanged)]).toEqual([304, expect.stringMatching(/^db;dur=/)])
  })

  it('is readable by scripts of other sites for public types', async () => {
    const allowed = async (path: string) => (await worker.api('GET', path)).headers.get('Timing-Allow-Origin')
    expect(await allowed(A)).toBe('*')
    expect(await allowed('/badge/page_view/a.svg')).toBe('*')
    expect(await allowed('/v1/counters/secret/a')).toBeNull()
    expect(await allowed('/v1/status')).toBeNull()
  })

  it('is not sent with hits', async () => {
    expect(timingOf(await worker.hit('page_view', '/a'))).toBeNull()
  })
})
