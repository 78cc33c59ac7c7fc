import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ROLL_UP_CRON } from '../../src/config/config.ts'
import type { QueueProducer } from '../../src/counters/write/queue.ts'
import { isolateOf } from '../../src/isolate.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { expectProblem } from '../harness/expect-problem.ts'
import { rangesOfKeys } from '../harness/keys-of-ranges.ts'
import { deliver, sumOf, type Taken, TestQueue } from '../harness/local-queues.ts'
import { logged } from '../harness/logged.ts'
import { stopClock } from '../harness/stopped-clock.ts'
import { TestWorker } from '../harness/worker.ts'
import { countingLoad } from '../harness/worker-load.ts'
import { Gate } from './gate.ts'

const COUNTERS = {
  page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
  full: { record_type: 2, public: true, allowed_origins: ['*'], slots: 1 },
}

let db: TestDatabase
let worker: TestWorker
beforeEach(async () => {
  db = await freshDatabase()
  worker = queueing()
})

/** A new isolate with a queue. */
function queueing(overrides = {}): TestWorker {
  return new TestWorker(db.url, {
    COUNTERS,
    BATCHES: TestQueue.batches.binding,
    DEAD_BATCHES: TestQueue.dead.binding,
    ...overrides,
  })
}
/** From now on, the database refuses all inserts. */
const refuse = (errno = 2003) => db.behave({ faults: [{ action: 'error', errno, match: '^INSERT', times: 1_000_000 }] })
const addUpTo = (sum: bigint) => (taken: readonly Taken[]) => sumOf(taken) >= sum
const facts = async (response: Response) => ({
  status: response.status,
  hit: response.headers.get('X-Hit'),
  body: await response.text(),
})
/** In a new isolate, whose circuit breaker is closed. */
const countOf = (key: string) => queueing().count('page_view', key)
const path = (key: string) => `/v1/counters/page_view/${encodeURIComponent(key)}`
const increments = (...keys: string[]) => ({ increments: keys.map((key) => ({ type: 'page_view', key })) })

describe('While the database refuses inserts', () => {
  it('hits and increments are queued, with the usual response bodies, and counted when the queue delivers them', async () => {
    await worker.hit('page_view', '/before')
    await refuse()
    expect(await facts(await worker.hit('page_view', '/hit'))).toEqual({ status: 204, hit: 'queued', body: '' })
    const pixel = await worker.fetch('/hit.gif?type=page_view&key=/pixel')
    expect(await facts(pixel)).toMatchObject({ status: 200, hit: 'queued' })
    expect(pixel.headers.get('Content-Type')).toBe('image/gif')
    for (const [at, sent, body] of [
      [path('/one'), { by: 5 }, '{"type":"page_view","key":"/one","added":5}'],
      [`${path('/one')}?return=count`, { by: 20 }, '{"type":"page_view","key":"/one","added":20,"count":null}'],
      ['/v1/increments', increments('/many', '/hit'), '{"accepted":2}'],
    ] as const) {
      expect(await facts(await worker.api('POST', at, sent))).toEqual({ status: 202, hit: 'queued', body })
    }
    await db.behave()
    expect(await db.number('SELECT SUM(count) FROM slotted_counters')).toBe(1n)

    const taken = await TestQueue.batches.take(addUpTo(29n))
    const { outcome, explicitAcks, retryMessages } = await deliver(queueing(), taken)
    expect([outcome, explicitAcks.toSorted(), retryMessages]).toEqual(['ok', taken.map(({ id }) => id).toSorted(), []])
    const keys = ['/before', '/hit', '/pixel', '/one', '/many']
    expect(await Promise.all(keys.map(countOf))).toEqual([1, 2, 1, 25, 1])
    const { rows } = await db.execute('SELECT CAST(name AS CHAR) AS name FROM counters ORDER BY name')
    expect(rows.map(({ name }) => name)).toEqual(['/before', '/hit', '/many', '/one', '/pixel'])
  })

  it('a request whose names cannot be stored is queued, although the database accepts the rest', async () => {
    await db.behave({ faults: [{ action: 'error', errno: 2003, match: '(FROM|INTO) counters', times: 1_000_000 }] })
    expect((await worker.hit('page_view', '/hit')).headers.get('X-Hit')).toBe('queued')
    expect((await worker.api('POST', '/v1/increments', increments('/many', '/hit'))).status).toBe(202)
    expect(await db.number('SELECT COUNT(*) FROM slotted_counters')).toBe(0n)
    await db.behave()
    await deliver(queueing(), await TestQueue.batches.take(addUpTo(3n)))
    expect([await countOf('/hit'), await countOf('/many')]).toEqual([2, 1])
    // With the tables' names, because vtgate may not know the columns of new tables yet.
    const unnamed = `SELECT COUNT(*) FROM slotted_counters AS s LEFT JOIN counters AS c
      ON c.record_type = s.record_type AND c.record_id = s.record_id AND c.bucket = s.bucket WHERE c.name IS NULL`
    expect(await db.number(unnamed)).toBe(0n)
  })

  it('the log says why a batch is queued', async () => {
    let queued = 0n
    const linesOf = async (work: () => Promise<unknown>) => {
      const lines = (await logged(work)).filter(({ event }) => event === 'batch_queued')
      for (const { requests } of lines) queued += BigInt(requests as number)
      return lines.map(({ event: _, ...line }) => line)
    }
    const hit = (from = worker, key = '/known') => from.hit('page_view', key)
    await hit()
    await refuse()
    expect(await linesOf(hit)).toEqual([
      { rows: 1, requests: 1, reason: 'unavailable', error: expect.stringContaining('errno 2003') },
    ])
    const open = await linesOf(async () => {
      for (let i = 0; i < 8; i++) await hit()
    })
    const error = expect.stringContaining('not sent')
    expect(open).toContainEqual({ rows: 1, requests: 1, reason: 'breaker_open', error })
    expect(await linesOf(() => hit(queueing(), '/unknown'))).toEqual([{ rows: 1, requests: 1, reason: 'unnamed' }])
    await db.behave()
    const slow = queueing()
    await hit(slow)
    await db.behave({ faults: [{ action: 'hang-request', match: '^INSERT', times: 1_000_000 }] })
    // More than ever are sent at once: the others wait in line.
    const waiting = await linesOf(() => Promise.all(Array.from({ length: 20 }, () => hit(slow))))
    expect(waiting.map(({ reason }) => reason)).toContain('waited')
    await db.behave()
    expect(queued).toBe(30n)
    await TestQueue.batches.take(addUpTo(queued))
  })

  it('a request of 1,000 keys of 512 bytes goes through the queue completely', async () => {
    const keys = Array.from({ length: 1_000 }, (_, i) => `${i}/`.padEnd(512, 'x'))
    await refuse()
    expect((await worker.api('POST', '/v1/increments', increments(...keys))).status).toBe(202)
    await db.behave()
    await deliver(queueing(), await TestQueue.batches.take(addUpTo(1_000n)))
    expect(await db.number('SELECT COUNT(*) FROM slotted_counters WHERE count = 1')).toBe(1_000n)
    expect(await db.number('SELECT COUNT(*) FROM counters WHERE LENGTH(name) = 512')).toBe(1_000n)
    expect(await countOf(keys[999]!)).toBe(1)
  })

  it('a request with an Idempotency-Key counts once: queued, repeated in another isolate, and delivered', async () => {
    const send = (from: TestWorker) =>
      from.api('POST', '/v1/increments', increments('/a', '/b'), { 'Idempotency-Key': 'import-1' })
    await refuse()
    expect((await send(worker)).status).toBe(202)
    expect((await send(queueing())).status).toBe(202)
    await db.behave()
    expect((await send(queueing())).status).toBe(200)
    const taken = await TestQueue.batches.take(addUpTo(4n))
    await deliver(queueing(), taken)
    await worker.cron(ROLL_UP_CRON)
    expect((await send(queueing())).status).toBe(200)
    await deliver(queueing(), taken)
    expect([await countOf('/a'), await countOf('/b')]).toEqual([1, 1])
  })

  it('dead batches are a problem of the status for four days, and are kept until they are recorded', async () => {
    stopClock()
    await worker.cron(ROLL_UP_CRON)
    const bad = Array.from({ length: 3 }, (_, i) => ({
      id: `bad ${i}`,
      timestamp: Date.now(),
      attempts: 1,
      body: { some: 'thing' },
    }))
    await db.behave({ faults: [{ action: 'error', errno: 2003, match: 'dead_batches', times: 1_000_000 }] })
    const kept = await deliver(queueing(), bad)
    expect([kept.explicitAcks, kept.retryMessages.length]).toEqual([[], 3])
    await db.behave()
    expect((await deliver(queueing(), bad)).explicitAcks).toHaveLength(3)
    const status = async () => {
      const { problems, deadBatches } = await (await worker.api('GET', '/v1/status')).json<{
        problems: { code: string; detail: string }[]
        deadBatches: number
      }>()
      return { deadBatches, problems: problems.filter(({ code }) => code !== 'rollup_missing') }
    }
    const detail = expect.stringMatching(/^Batches died in the queue \(3 so far, the last at 2/)
    const { deadBatches, problems } = await status()
    expect({ deadBatches, problems }).toEqual({ deadBatches: 3, problems: [{ code: 'batches_dead', detail }] })
    const [lastAt] = /\d{4}-\S+Z/.exec(problems[0]!.detail)!
    vi.setSystemTime(Date.parse(lastAt) + 4 * 86_400_000 + 1_000)
    expect(await status()).toEqual({ deadBatches, problems: [] })
  })
})

describe('Without the queue', () => {
  const failing: QueueProducer = {
    send: () => Promise.reject(new Error('refused by the test')),
    sendBatch: () => Promise.reject(new Error('refused by the test')),
  }
  it('the outcome is unknown if the queue fails too, because it may have accepted the batch', async () => {
    const lost = queueing({ BATCHES: failing })
    await refuse()
    const hit = await lost.hit('page_view', '/a')
    expect(hit.headers.get('X-Hit')).toBe('unknown')
    await expectProblem(hit, 503, 'outcome_unknown')
    const pixel = await lost.fetch('/hit.gif?type=page_view&key=/a')
    expect([pixel.status, pixel.headers.get('X-Hit')]).toEqual([200, 'unknown'])
    const send = () => lost.api('POST', path('/b'), { by: 3 }, { 'Idempotency-Key': 'k' })
    const api = await send()
    expect(api.headers.get('Retry-After')).toBe('5')
    await expectProblem(api, 503, 'outcome_unknown')
    await db.behave()
    // The circuit breaker of that isolate lets it through after a while.
    await expect.poll(async () => (await send()).status).toBe(200)
    expect([await countOf('/a'), await countOf('/b')]).toEqual([0, 3])
  })

  it.each([
    [
      'that nothing was counted, if that is certain',
      2003,
      'database_unavailable',
      'ignored; reason=database_unavailable',
    ],
    ['that the outcome is unknown, if it is', 2013, 'outcome_unknown', 'unknown'],
  ])('a Worker that has no queue answers %s', async (_, errno, expected, hit) => {
    await worker.api('PUT', path('/a'), { count: 0 })
    await refuse(errno)
    const requests = [
      (alone: TestWorker) => alone.hit('page_view', '/a'),
      (alone: TestWorker) => alone.api('POST', path('/a')),
      (alone: TestWorker) => alone.api('POST', '/v1/increments', increments('/a')),
    ]
    for (const send of requests) {
      const response = await send(new TestWorker(db.url, { COUNTERS }))
      expect([response.headers.get('Retry-After'), response.headers.get('X-Hit')]).toEqual(['5', hit])
      await expectProblem(response, 503, expected)
    }
    const pixel = await new TestWorker(db.url, { COUNTERS }).fetch('/hit.gif?type=page_view&key=/a')
    expect(await facts(pixel)).toMatchObject({ status: 200, hit })
    expect(pixel.headers.get('Content-Type')).toBe('image/gif')
    await db.behave()
    expect(await countOf('/a')).toBe(0)
  })
})

describe('Of requests in one batch', () => {
  it.each([1, 3])('all are counted except those that would leave 64 bits, which get 422: %d of 40', async (bad) => {
    const gate = new Gate(/INSERT INTO slotted_counters/)
    // Without a queue, because requests that wait long would go there.
    worker = new TestWorker(db.url, { COUNTERS })
    const poison = Array.from({ length: bad }, (_, i) => ({ type: 'full', key: `/poison/${i}` }))
    await worker.api('POST', '/v1/increments', { increments: poison })
    await db.arrange('UPDATE slotted_counters SET count = ?', [2n ** 63n - 1n])

    const isPoison = (i: number) => i % 13 === 5 && i / 13 < bad
    const requests = Array.from({ length: 40 }, (_, i) => {
      const key = `/good/${i % 4}`
      if (isPoison(i)) return () => worker.hit('full', poison[Math.floor(i / 13)]!.key)
      if (i % 3 === 0) return () => worker.api('POST', path(key), undefined, { 'Idempotency-Key': `k${i}` })
      if (i % 3 === 1) return () => worker.api('POST', '/v1/increments', increments(key, '/common'))
      return () => worker.hit('page_view', key)
    })
    const keysOf = (i: number) =>
      isPoison(i) ? [poison[Math.floor(i / 13)]!.key] : [`/good/${i % 4}`, ...(i % 3 === 1 ? ['/common'] : [])]
    let waiting = 0
    for (let i = 0; i < requests.length; i++) waiting += await rangesOfKeys(keysOf(i), db.ranges)
    const answers: Response[] = []
    const statements = await db.recording(async () => {
      gate.close()
      const sent = Promise.all(requests.map((one) => one()))
      await expect.poll(() => countingLoad(...isolateOf(worker.env).counting.commits).waiting).toBe(waiting)
      gate.open()
      answers.push(...(await sent))
    })
    const writes = statements.filter(({ sql }) => sql.startsWith('INSERT INTO slotted_counters'))
    // One for each range.
    expect(writes.length / db.ranges).toBeLessThan(requests.length / 2)

    const wanted = new Map<string, number>([['/common', 0]])
    const add = (key: string) => wanted.set(key, (wanted.get(key) ?? 0) + 1)
    for (const [i, { status, headers }] of answers.entries()) {
      expect([status, headers.get('X-Hit')]).toEqual(
        isPoison(i) ? [422, 'ignored; reason=count_out_of_range'] : [i % 3 === 2 ? 204 : 200, 'counted'],
      )
      if (isPoison(i)) expect(await answers[i]!.json()).toMatchObject({ code: 'count_out_of_range' })
      else add(`/good/${i % 4}`)
      if (!isPoison(i) && i % 3 === 1) add('/common')
    }
    for (const [key, count] of wanted) expect([key, await countOf(key)]).toEqual([key, count])
    const { rows } = await db.execute('SELECT count FROM slotted_counters WHERE record_type = 2')
    expect(rows).toEqual(Array(bad).fill({ count: String(2n ** 63n - 1n) }))
  })
})
