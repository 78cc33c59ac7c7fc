import { beforeEach, describe, expect, it, vi } from 'vitest'
import { version } from '../../package.json'
import type { CircuitBreaker } from '../../src/database/circuit-breaker.ts'
import { isolateOf } from '../../src/isolate.ts'
import { ROLL_UP_CRON } from '../../src/maintenance.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { TestWorker } from '../harness/worker.ts'

interface Status {
  healthy: boolean
  problems: { code: string; detail: string }[]
  unavailable: { part: string; reason: string }[]
  sizes: { tables: { name: string; rows: number; dataBytes: number; indexBytes: number }[] } | null
  database: { version: string | null; isolation: string | null; latencyMs: number | null }
  [field: string]: unknown
}

let db: TestDatabase
let worker: TestWorker
beforeEach(async () => {
  db = await freshDatabase()
  worker = new TestWorker(db.url)
})

const status = async (of = worker) => {
  const response = await of.api('GET', '/v1/status')
  expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'no-store'])
  return (await response.json()) as Status
}
const codes = async (of?: TestWorker) => (await status(of)).problems.map(({ code }) => code)
/** What was logged while something ran. */
const logged = async (work: () => Promise<unknown>) => {
  const lines: string[] = []
  const spies = (['info', 'warn', 'error'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation((line: string) => void lines.push(line)),
  )
  await work().finally(() => {
    for (const spy of spies) spy.mockRestore()
  })
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}
const dead = () => new TestWorker('http://user:password@127.0.0.1:9')
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

describe('GET /v1/status', () => {
  it('is for those who have the token', async () => {
    expect((await worker.fetch('/v1/status')).status).toBe(401)
  })

  it('tells how it does, how far behind, how big and how contended, in six statements', async () => {
    await worker.cron(ROLL_UP_CRON)
    await worker.api('POST', '/v1/counters/page_view/a')
    await db.execute(`INSERT INTO counter_history VALUES (1, 1, '2026-01-02 03:00:00', 5)`)
    const statements = await db.recording(async () => {
      const found = await status()
      const whole = expect.any(Number)
      const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)
      expect(found).toEqual({
        version,
        healthy: true,
        problems: [],
        unavailable: [],
        pendingSlots: 1,
        pendingSlotsAtLeast: false,
        prunableSlots: 0,
        prunableSlotsAtLeast: false,
        rollUp: { running: false, lastRunAt: time, caughtUpAt: time, behindSeconds: whole },
        history: { oldestHour: '2026-01-02T03:00:00.000Z' },
        database: {
          version: expect.stringMatching(/^\d+\.\d+/),
          isolation: expect.stringMatching(/^[A-Z]+-[A-Z]+$/),
          latencyMs: whole,
        },
        contention: {
          since: time,
          rowLockWaits: whole,
          rowLockWaitsNow: whole,
          rowLockAverageMs: whole,
          deadlocks: found.database.version?.includes('MariaDB') ? whole : null,
        },
        sizes: { estimated: true, tables: expect.any(Array) },
        isolate: { breaker: 'closed', counting: { waiting: 0, flushes: 0 }, reading: { waiting: 0, queries: 0 } },
        types: [
          { name: 'page_view', recordType: 1, key: 'string' },
          { name: 'download', recordType: 2, key: 'string' },
        ],
      })
      const slots = found.sizes!.tables.find(({ name }) => name === 'slotted_counters')
      expect(slots).toEqual({ name: 'slotted_counters', rows: whole, dataBytes: whole, indexBytes: whole })
      expect(slots!.dataBytes).toBeGreaterThan(0)
    })
    expect(statements.length).toBeLessThanOrEqual(6)
  })

  it('of a new database says that nothing has run yet', async () => {
    expect(await status()).toMatchObject({
      healthy: false,
      problems: [{ code: 'rollup_missing' }],
      rollUp: { running: false, lastRunAt: null, caughtUpAt: null, behindSeconds: null },
      history: { oldestHour: null },
    })
  })

  it('says when no roll-up has run for five minutes, and when one has again', async () => {
    await worker.cron(ROLL_UP_CRON, minutesAgo(6))
    expect(await codes()).toEqual(['rollup_missing'])
    await worker.cron(ROLL_UP_CRON, minutesAgo(4))
    expect(await codes()).toEqual([])
  })

  it('says when roll-ups run and do not catch up', async () => {
    const slow = new TestWorker(db.url, { ROLLUP: { page_slots: 1, max_statements: 14 } })
    await worker.cron(ROLL_UP_CRON, minutesAgo(10))
    const increments = Array.from({ length: 30 }, (_, i) => ({ type: 'page_view', key: `${i}` }))
    await worker.api('POST', '/v1/increments', { increments })
    await slow.cron(ROLL_UP_CRON)
    expect(await codes(slow)).toEqual(['rollup_behind'])
    await worker.cron(ROLL_UP_CRON)
    expect(await codes(slow)).toEqual([])
  })

  it('says when counters are stuck at the limit of 64 bits', async () => {
    await worker.cron(ROLL_UP_CRON, minutesAgo(10))
    await worker.api('POST', '/v1/counters/page_view/a')
    await db.execute(
      `INSERT INTO counter_totals SELECT record_type, record_id, 9223372036854775807, 1, NULL FROM slotted_counters`,
    )
    const lines = await logged(() => worker.cron(ROLL_UP_CRON))
    expect(lines).toMatchObject([{ event: 'rollup', stuck: 1, left: 1, behindSeconds: 600 }])
    expect(await codes()).toEqual(['counters_stuck'])
  })

  it('says when more is pending than one run can move, and counts no further than it must', async () => {
    await worker.cron(ROLL_UP_CRON)
    const rows = Array.from({ length: 12_000 }, (_, i) => `(1,${i},7,1,1,FLOOR(UNIX_TIMESTAMP()/3600),DEFAULT)`)
    await db.execute(`INSERT INTO slotted_counters VALUES ${rows.join(',')}`)
    expect(await status()).toMatchObject({
      problems: [{ code: 'pending_above_bound' }],
      pendingSlots: 10_000,
      pendingSlotsAtLeast: true,
    })
    const paid = new TestWorker(db.url, { ROLLUP: { max_statements: 1_000 } })
    expect(await status(paid)).toMatchObject({ healthy: true, pendingSlots: 10_000 })
  })

  it('says when slots are not pruned', async () => {
    await worker.cron(ROLL_UP_CRON)
    const rows = Array.from({ length: 11_000 }, (_, i) => `(1,${i},7,0,1,FLOOR(UNIX_TIMESTAMP()/3600)-26,DEFAULT)`)
    await db.execute(`INSERT INTO slotted_counters VALUES ${rows.join(',')}`)
    expect(await status()).toMatchObject({ healthy: true, prunableSlots: 10_000, prunableSlotsAtLeast: true })
    await db.execute('UPDATE slotted_counters SET written_hour = written_hour - 2 LIMIT 1')
    expect(await codes()).toEqual(['pruning_behind'])
  })

  it('leaves out what the server refuses to say, names it, and logs why', async () => {
    await worker.cron(ROLL_UP_CRON)
    const faults = ['SHOW GLOBAL STATUS', 'information_schema'].map((match) => ({
      action: 'error' as const,
      errno: 1227,
      match,
      times: 10,
    }))
    await db.behave({ faults })
    const lines = await logged(async () => {
      expect(await status()).toMatchObject({
        healthy: true,
        contention: null,
        sizes: null,
        pendingSlots: 0,
        unavailable: expect.arrayContaining([
          { part: 'tables', reason: expect.any(String) },
          { part: 'locks', reason: expect.any(String) },
        ]),
      })
    })
    expect(lines.map(({ event, part }) => [event, part]).sort()).toEqual([
      ['status_incomplete', 'locks'],
      ['status_incomplete', 'tables'],
    ])
  })

  it('does not take what the server is slow to say for a database in trouble', async () => {
    await worker.cron(ROLL_UP_CRON)
    await db.behave({ faults: [{ action: 'hang-request', match: 'SHOW|information_schema|MIN', times: 100 }] })
    await logged(async () => {
      expect(await status()).toMatchObject({
        healthy: true,
        contention: null,
        isolate: { breaker: 'closed' },
        unavailable: expect.arrayContaining([{ part: 'history', reason: 'database_unavailable' }]),
      })
    })
    expect((await worker.hit('page_view', '/a', { 'User-Agent': 'Mozilla/5.0 Firefox/145' })).status).toBe(204)
  })

  it('of a dead database is an answer all the same', async () => {
    await logged(async () => {
      const found = await status(dead())
      expect(found).toMatchObject({
        healthy: false,
        problems: [{ code: 'database_unavailable', detail: expect.stringContaining('does not answer') }],
        pendingSlots: null,
        rollUp: { running: null, lastRunAt: null, caughtUpAt: null, behindSeconds: null },
        database: { version: null, isolation: null, latencyMs: null },
        contention: null,
        sizes: null,
        history: null,
      })
      expect(found.unavailable.map(({ part }) => part).sort()).toEqual([
        'history',
        'locks',
        'rollUp',
        'server',
        'slots',
        'tables',
      ])
    })
  })

  it('of a database without tables says what to do', async () => {
    await db.execute('DROP TABLE rollup_state')
    await logged(async () => {
      expect(await status()).toMatchObject({
        problems: [{ code: 'database_not_ready', detail: expect.stringContaining('npm run migrate') }],
        pendingSlots: 0,
      })
    })
  })

  it('says that the circuit breaker is open', async () => {
    await worker.cron(ROLL_UP_CRON)
    const breaker: CircuitBreaker = isolateOf(worker.env).breaker
    for (let i = 0; i < 5; i++) breaker.failed(Date.now(), 3_000)
    await logged(async () => {
      expect(await status()).toMatchObject({ healthy: false, isolate: { breaker: 'open' } })
    })
    expect(breaker.open).toBe(true)
  })

  it('shows what waits in this isolate', async () => {
    await worker.cron(ROLL_UP_CRON)
    await db.behave({ latencyMs: 1_500 })
    const reading = Array.from({ length: 5 }, () => worker.fetch('/v1/counters/page_view/a'))
    await vi.waitFor(() => expect(isolateOf(worker.env).reads.exact.load.waiting).toBe(5))
    expect(isolateOf(worker.env).reads.exact.load.queries).toBeGreaterThan(0)
    await db.behave()
    await Promise.all(reading)
    expect(isolateOf(worker.env).reads.exact.load).toEqual({ waiting: 0, queries: 0 })
  })
})
