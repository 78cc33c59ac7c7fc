import { beforeEach, describe, expect, it, vi } from 'vitest'
import { isolateOf } from '../../../../src/isolate.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { rangesOfKeys } from '../../../harness/keys-of-ranges.ts'
import { TestWorker } from '../../../harness/worker.ts'
import { readingLoad } from '../../../harness/worker-load.ts'
import { Gate } from '../../gate.ts'

let db: TestDatabase
let worker: TestWorker
beforeEach(async () => {
  db = await freshDatabase()
  worker = new TestWorker(db.url)
})

const A = '/v1/counters/page_view/a'
const isRead = ({ sql }: { sql: string }) => sql.includes('FROM counters')

describe('Reads at the same time', () => {
  it('of one counter, 200 of them, single, in lists and as badges, need few statements', async () => {
    const gate = new Gate(/FROM counters/)
    worker = new TestWorker(db.url)
    await worker.api('POST', A, { by: 7 })
    const paths = [A, '/v1/counters/page_view?key=b&key=a', '/badge/page_view/a.json', '/badge/page_view/a.svg']
    const statements = await db.recording(async () => {
      gate.close()
      const reading = Promise.all(Array.from({ length: 200 }, (_, i) => worker.fetch(paths[i % 4]!)))
      // A quarter of them are lists.
      const waiting = 150 + 50 * (await rangesOfKeys(['a', 'b'], db.ranges))
      await expect.poll(() => readingLoad(...isolateOf(worker.env).reads.shared.values()).waiting).toBe(waiting)
      gate.open()
      const answers = await reading
      for (const answer of answers) {
        expect(answer.status).toBe(200)
        expect(await answer.text()).toMatch(/"count":7|>7</)
      }
    })
    const reads = statements.filter(isRead).length
    expect(reads).toBeGreaterThan(0)
    // Lists have statements of their own.
    expect(reads).toBeLessThanOrEqual(40)
  })

  it('of five totals, 40 of them: after the first request for each total, it is read once', async () => {
    const totals = [1, 2, 3, 4, 5].map((recordType) => ({ recordType, name: '' }))
    const { reads } = isolateOf(worker.env)
    const options = { hasToken: true, keptMs: 0, waitUntil: () => {} }
    const statements = await db.recording(async () => {
      await Promise.all(Array.from({ length: 40 }, (_, i) => reads.sum(totals[i % 5]!, 'exact', options)))
    })
    // Two for each reading. The first request does not wait, and the others share what is read after they came.
    expect(statements).toHaveLength(2 * 2 * 5)
  })

  it('as increments that return the count each include their own increment', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => worker.api('POST', `${A}?return=count`, { by: 1 })),
    )
    const counts = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { count: number }).count))
    // At most n of them can have been told n or less.
    for (const [i, count] of counts.sort((a, b) => a - b).entries()) expect(count).toBeGreaterThan(i)
    expect(counts.at(-1)).toBe(60)
  })

  it('all get 503 if the database does not answer', async () => {
    const dead = new TestWorker('http://user:password@127.0.0.1:9')
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const answers = await Promise.all(Array.from({ length: 30 }, () => dead.fetch(A)))
    vi.restoreAllMocks()
    for (const { status, headers } of answers) expect([status, headers.get('Retry-After')]).toEqual([503, '5'])
  })

  it('of 1,000 keys in one list need one statement for each range', async () => {
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
    expect(statements.filter(isRead)).toHaveLength(db.ranges)
    const more = await worker.fetch(`/v1/counters/page_view?${query}&key=one-more`)
    expect(more.status).toBe(422)
  })
})
