import { beforeAll, describe, expect, it, vi } from 'vitest'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../src/maintenance.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { TestWorker } from '../harness/worker.ts'

let db: TestDatabase
let worker: TestWorker
beforeAll(async () => {
  db = await freshDatabase()
  worker = new TestWorker(db.url)
})

/** What was logged while something ran, one object a line. */
async function logged(work: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  const lines: string[] = []
  const spies = (['info', 'warn', 'error'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation((line: string) => void lines.push(line)),
  )
  try {
    await work()
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe('the cron', () => {
  it('every minute rolls up, for the scheduled time, and logs one line', async () => {
    await worker.api('POST', '/v1/counters/page_view/a', { by: 6 })
    const at = new Date('2026-01-02T03:04:00Z')
    const lines = await logged(() => worker.cron(ROLL_UP_CRON, at))
    expect(lines).toEqual([
      expect.objectContaining({
        event: 'rollup',
        scheduled: at.toISOString(),
        outcome: 'complete',
        moved: 6,
        counters: 1,
        left: 0,
      }),
    ])
    expect(Object.keys(lines[0]!)).toEqual(expect.arrayContaining(['statements', 'milliseconds']))
    expect(await (await worker.fetch('/v1/counters/page_view/a')).json()).toMatchObject({
      total: 6,
      rolledUpAt: at.toISOString(),
    })
    const { rows } = await db.execute('SELECT period_start FROM counter_history')
    expect(rows).toEqual([{ period_start: '2026-01-02 03:00:00' }])
  })

  it('every hour prunes and folds, and logs one line about each', async () => {
    // The roll-up above was for January: its day is old by now.
    await db.execute('UPDATE slotted_counters SET written_hour = written_hour - 48')
    const lines = await logged(() => worker.cron(PRUNING_CRON))
    expect(lines).toEqual([
      expect.objectContaining({ event: 'prune', outcome: 'complete', deleted: 1 }),
      expect.objectContaining({ event: 'fold', outcome: 'complete', deleted: 2, kept: 0 }),
    ])
    expect(await (await worker.fetch('/v1/counters/page_view/a')).json()).toMatchObject({ count: 6 })
  })

  it('every hour sends no more statements than the free plan allows, whatever there is to do', async () => {
    const own = await freshDatabase()
    const rows = Array.from({ length: 3_000 }, (_, i) => `(1, ${i}, 1, 0, 1, 1, DEFAULT)`)
    await own.execute(`INSERT INTO slotted_counters VALUES ${rows.join(', ')}`)
    await own.execute(
      `INSERT INTO counter_history SELECT record_type, record_id, '2026-01-01', 1 FROM slotted_counters`,
    )
    await own.execute(
      `INSERT INTO counter_periods SELECT record_type, record_id, 1, '2026-01-01', 1 FROM slotted_counters`,
    )
    const sent = async (PRUNING: object) => {
      const busy = new TestWorker(own.url, { PRUNING: { page_slots: 10, ...PRUNING }, HISTORY: { page_hours: 10 } })
      const lines = await logged(() => busy.cron(PRUNING_CRON))
      expect(lines.map(({ event, outcome }) => [event, outcome])).toEqual([
        ['prune', 'partial'],
        ['fold', 'partial'],
      ])
      return lines.map(({ statements }) => Number(statements))
    }
    const [pruning, folding] = await sent({})
    expect(pruning! + folding!).toBeLessThan(50)
    expect(folding!).toBeGreaterThan(1)
    // What pruning does not use is for folding.
    expect((await sent({ max_statements: 5 }))[1]).toBeGreaterThan(40)
  })

  it('with an unknown expression fails, and says so', async () => {
    const lines = await logged(() => expect(worker.cron('0 0 * * *')).rejects.toThrow('0 0 * * *'))
    expect(lines).toEqual([expect.objectContaining({ event: 'scheduled_failed', cron: '0 0 * * *' })])
  })

  it('fails where the platform can see it when the database is dead', async () => {
    const dead = new TestWorker('http://user:password@127.0.0.1:9')
    const lines = await logged(() => expect(dead.cron(ROLL_UP_CRON)).rejects.toThrow())
    expect(lines).toEqual([expect.objectContaining({ event: 'scheduled_failed' })])
  })

  it('runs on after its database had a hiccup', async () => {
    await worker.api('POST', '/v1/counters/page_view/hiccup', { by: 2 })
    await db.behave({ faults: [{ action: 'error', errno: 1213, match: 'INSERT INTO counter_totals' }] })
    await worker.cron(ROLL_UP_CRON)
    expect(await (await worker.fetch('/v1/counters/page_view/hiccup')).json()).toMatchObject({ total: 2, pending: 0 })
  })
})

describe('a dead database', () => {
  const dead = () => new TestWorker('http://user:password@127.0.0.1:9')
  it.each([
    ['POST', '/v1/counters/page_view/a', 'outcome_unknown'],
    ['GET', '/v1/counters/page_view/a', 'database_unavailable'],
    ['GET', '/v1/counters/page_view?key=a', 'database_unavailable'],
    ['POST', '/v1/rollup', 'database_unavailable'],
    ['DELETE', '/v1/counters/page_view/a', 'database_unavailable'],
    ['GET', '/v1/export/page_view', 'database_unavailable'],
    ['GET', '/v1/export/page_view?by=day', 'database_unavailable'],
  ])('makes %s %s answer 503 with Retry-After', async (method, path, code) => {
    const response = await dead().api(method, path)
    expect(response.status).toBe(503)
    expect(response.headers.get('Retry-After')).toMatch(/^\d+$/)
    expect(await response.json()).toMatchObject({ code })
  })

  it('makes a hit answer 503 with Retry-After', async () => {
    const response = await dead().hit('page_view', '/a')
    expect([response.status, response.headers.has('Retry-After')]).toEqual([503, true])
  })

  it('that does not say whether it counted makes the answer say just that', async () => {
    const unsure = await freshDatabase()
    await unsure.behave({ faults: [{ action: 'cut-answer', match: 'INSERT INTO slotted', times: 3 }] })
    const lines = await logged(async () => {
      const response = await new TestWorker(unsure.url).api('POST', '/v1/counters/page_view/a')
      expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '5'])
      expect(response.headers.get('X-Hit')).toBe('unknown')
      expect(await response.json()).toMatchObject({
        code: 'outcome_unknown',
        detail: expect.stringContaining('Idempotency-Key'),
      })
    })
    expect(lines).toEqual([expect.objectContaining({ event: 'outcome_unknown', error: 'Network connection lost.' })])
  })

  it('that never answers is given up within the deadline', async () => {
    const silent = await freshDatabase()
    await silent.behave({ faults: [{ action: 'hang-request', times: 1_000 }] })
    const began = Date.now()
    const response = await new TestWorker(silent.url).fetch('/v1/counters/page_view/a')
    expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '5'])
    // Two attempts of 3 s; far from this bound, which only tells giving up from hanging.
    expect(Date.now() - began).toBeLessThan(30_000)
  })

  it('keeps its words to itself', async () => {
    const other = await freshDatabase()
    await other.behave({ faults: [{ action: 'error', errno: 1064, times: 10 }] })
    const text = await (await new TestWorker(other.url).fetch('/v1/counters/page_view/a')).text()
    expect(text).toContain('internal_error')
    expect(text).not.toMatch(/vttablet|injected|SELECT/)
  })
})

describe('/healthz', () => {
  const health = async (on: TestWorker) => {
    const response = await on.fetch('/healthz')
    return { status: response.status, body: await response.text() }
  }
  it('is well when the database answers', async () => {
    expect(await health(worker)).toEqual({ status: 200, body: JSON.stringify({ status: 'ok', database: 'ok' }) })
  })
  it('tells a dead database from refused credentials and from missing tables', async () => {
    expect(await health(new TestWorker('http://user:password@127.0.0.1:9'))).toMatchObject({
      status: 503,
      body: expect.stringContaining('does not answer'),
    })
    const { username, host } = new URL(db.url)
    expect(await health(new TestWorker(`http://${username}:wrong@${host}`))).toMatchObject({
      status: 503,
      body: expect.stringContaining('credentials'),
    })
    const empty = await freshDatabase()
    await empty.execute('DROP TABLE rollup_state')
    expect(await health(new TestWorker(empty.url))).toMatchObject({
      status: 503,
      body: expect.stringContaining('npm run migrate'),
    })
  })
})

describe('a wrong configuration', () => {
  const wrong = () =>
    new TestWorker('mysql://root@localhost/x', {
      API_TOKEN: undefined,
      COUNTERS: {
        page_view: { record_type: 1, publik: true },
        other: { record_type: 1, slots: 0, allowed_origins: ['example.com'] },
      },
      ROLLUP: { page_slots: '2000' },
    })
  it.each(['/healthz', '/hit', '/v1/counters/page_view/a', '/nothing'])(
    'is reported by name, all of it at once, on %s',
    async (path) => {
      const response = await wrong().fetch(path, path === '/hit' ? { method: 'POST' } : {})
      expect(response.status).toBe(503)
      const { code, errors } = (await response.json()) as { code: string; errors: { field: string; message: string }[] }
      expect(code).toBe('configuration_invalid')
      expect(errors.map(({ field }) => field)).toEqual(
        expect.arrayContaining([
          'DATABASE_URL',
          'API_TOKEN',
          'COUNTERS.page_view.publik',
          'COUNTERS.other.slots',
          'COUNTERS.other.allowed_origins.0',
          'ROLLUP.page_slots',
        ]),
      )
      expect(JSON.stringify(errors)).not.toContain('localhost')
    },
  )

  it('leaves the pixel an image, and says so in X-Hit everywhere that hits are sent', async () => {
    await logged(async () => {
      const pixel = await wrong().fetch('/hit.gif?type=page_view&key=a')
      expect([pixel.status, pixel.headers.get('Content-Type')]).toEqual([200, 'image/gif'])
      expect(pixel.headers.get('X-Hit')).toBe('ignored; reason=configuration_invalid')
      const hit = await wrong().fetch('/hit?type=page_view&key=a', { method: 'POST' })
      expect([hit.status, hit.headers.get('X-Hit')]).toEqual([503, 'ignored; reason=configuration_invalid'])
    })
  })

  it('fails the cron, by name', async () => {
    await logged(() => expect(wrong().cron(ROLL_UP_CRON)).rejects.toThrow(/DATABASE_URL.*COUNTERS\.page_view\.publik/))
  })
})

describe('requests', () => {
  it('carry an id in the answer and in the log, their own if they bring one', async () => {
    const dead = new TestWorker('http://user:password@127.0.0.1:9')
    let id: string | null = null
    const lines = await logged(async () => {
      id = (await dead.fetch('/v1/counters/page_view/a')).headers.get('X-Request-Id')
    })
    expect(lines).toEqual([expect.objectContaining({ event: 'database_unavailable', requestId: id })])
    const response = await worker.fetch('/healthz', { headers: { 'X-Request-Id': 'mine-1' } })
    expect(response.headers.get('X-Request-Id')).toBe('mine-1')
    const forged = await worker.fetch('/healthz', { headers: { 'X-Request-Id': 'a b<script>' } })
    expect(forged.headers.get('X-Request-Id')).not.toContain('<')
  })

  it('that are wrong are not logged as errors', async () => {
    expect(await logged(() => worker.fetch('/nothing'))).toEqual([])
  })
})
