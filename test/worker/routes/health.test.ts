import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ROLL_UP_CRON } from '../../../src/config/config.ts'
import { TABLES } from '../../../src/generated.ts'
import { isolateOf } from '../../../src/isolate.ts'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { logged } from '../../harness/logged.ts'
import { onVitess } from '../../harness/on-vitess.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'

let db: TestDatabase
let worker: TestWorker
beforeEach(async () => {
  db = await freshDatabase()
  worker = new TestWorker(db.url)
})

const health = async (on = worker) => {
  const response = await on.fetch('/healthz')
  return { status: response.status, body: await response.text() }
}
const WELL = { status: 200, body: '{"status":"ok","database":"ok"}' }
/** What /healthz says, and the codes of the status, which must agree. */
const said = async (on = worker) => {
  const { status, body } = await health(on)
  const { healthy, problems } = await (await on.api('GET', '/v1/status')).json<{
    healthy: boolean
    problems: { code: string }[]
  }>()
  expect(healthy).toBe(status === 200)
  const { database } = JSON.parse(body) as { database: string }
  expect(problems.map(({ code }) => code)).toEqual(status === 200 ? [] : expect.arrayContaining([database]))
  return database
}

describe('GET /healthz', () => {
  it('answers 200 for new tables and on a quiet site, in two statements', async () => {
    const statements = await db.recording(async () => expect(await health()).toEqual(WELL))
    expect(statements).toHaveLength(2)
    stopClock()
    await worker.cron(ROLL_UP_CRON, new Date(Date.now() - 299_000))
    expect(await said()).toBe('ok')
  })

  it('distinguishes a dead database, refused credentials and missing tables, as does the status', async () => {
    const { username, host } = new URL(db.url)
    await db.execute('DROP TABLE rollup_state')
    await logged(async () => {
      for (const [url, code, reason] of [
        ['http://user:password@127.0.0.1:9', 'database_unavailable', 'does not respond'],
        [`http://${username}:wrong@${host}`, 'database_unavailable', 'credentials'],
        [db.url, 'database_not_ready', 'npm run migrate'],
      ] as const) {
        const on = new TestWorker(url)
        const detail = expect.stringContaining(reason)
        expect(await health(on)).toEqual({ status: 503, body: detail })
        expect(await (await on.api('GET', '/v1/status')).json()).toMatchObject({
          healthy: false,
          problems: expect.arrayContaining([{ code, detail }]),
        })
      }
    })
  })

  // Vitess renames no tables.
  it.skipIf(onVitess)('answers 503 while any table is missing or not ours, as does the status', async () => {
    expect(TABLES).toHaveLength(13)
    await logged(async () => {
      for (const table of TABLES) {
        await db.execute(`ALTER TABLE ${table} RENAME TO away`)
        expect([table, await said(new TestWorker(db.url))]).toEqual([table, 'database_not_ready'])
        await db.execute(`CREATE TABLE ${table} (other INT NOT NULL PRIMARY KEY)`)
        expect([table, await said(new TestWorker(db.url))]).toEqual([table, 'database_not_ready'])
        await db.execute(`DROP TABLE ${table}`)
        await db.execute(`ALTER TABLE away RENAME TO ${table}`)
      }
      expect(await said()).toBe('ok')
    })
  })

  it('answers 503 while the version of the tables is older, until setup has run', async () => {
    await worker.cron(ROLL_UP_CRON)
    await db.arrange('UPDATE schema_version SET version = 0')
    await logged(async () => {
      expect(await said()).toBe('database_not_ready')
      expect((await health()).body).toContain('0001_slotted_counter.sql')
      await worker.api('POST', '/v1/setup')
    })
    expect(await said()).toBe('ok')
  })

  it.each(['free', 'paid'])('answers 503 after a roll-up that failed, until one succeeds: %s', async (PLAN) => {
    worker = new TestWorker(db.url, { PLAN })
    await worker.add('page_view', { '/a': 1 })
    await db.behave({ faults: [{ action: 'error', errno: 1114, match: 'INTO counter_history', times: 1_000 }] })
    await logged(async () => {
      await expect(worker.cron(ROLL_UP_CRON)).rejects.toThrow()
      expect(await said()).toBe('rollup_failed')
      await db.behave()
      await worker.cron(ROLL_UP_CRON)
      expect(await said()).toBe('ok')
    })
  })

  it('answers 503 if no roll-up has run for five minutes', async () => {
    stopClock()
    await worker.cron(ROLL_UP_CRON)
    vi.setSystemTime(Date.now() + 301_000)
    await logged(async () => expect(await said()).toBe('rollup_missing'))
    await worker.cron(ROLL_UP_CRON)
    expect(await said()).toBe('ok')
  })

  it('answers 503 while the disk is full and only reads succeed, until a hit is counted', async () => {
    await worker.cron(ROLL_UP_CRON)
    expect((await worker.hit('page_view', '/a')).headers.get('X-Hit')).toBe('counted')
    await db.behave({ faults: [{ action: 'error', errno: 1114, match: '^INSERT', times: 1_000 }] })
    await logged(async () => {
      for (const key of ['/a', '/new']) {
        expect((await worker.hit('page_view', key)).status).toBe(503)
        expect(await said()).toBe('write_failed')
      }
      await db.behave()
      // With several ranges, each has its own last write.
      for (const key of ['/a', '/new']) {
        expect((await worker.hit('page_view', key)).headers.get('X-Hit')).toBe('counted')
      }
    })
    expect(await said()).toBe('ok')
  })

  it('answers 200 once the database is back, however often its own reads and those of the status failed', async () => {
    await worker.cron(ROLL_UP_CRON)
    await db.behave({ faults: [{ action: 'cut-request', match: 'FROM (rollup_state|schema_version)', times: 1_000 }] })
    await logged(async () => {
      for (let i = 0; i < 5; i++) expect(await said()).toBe('database_unavailable')
      await db.behave()
      expect(await health()).toEqual(WELL)
    })
  })

  it('answers 503 while a circuit breaker refuses hits', async () => {
    await worker.cron(ROLL_UP_CRON)
    stopClock()
    for (let i = 0; i < 5; i++) isolateOf(worker.env).breakers.at(-1)!.failed(Date.now(), 3_000)
    await logged(async () => expect(await said()).toBe('breaker_open'))
    vi.setSystemTime(Date.now() + 5_001)
    expect(await said()).toBe('ok')
  })

  it('answers 200 after a count that would leave 64 bits, which is the client’s fault', async () => {
    await worker.cron(ROLL_UP_CRON)
    const most = { by: 2 ** 53 - 1 }
    expect((await worker.api('POST', '/v1/counters/page_view/a', most)).status).toBe(200)
    await db.arrange('UPDATE slotted_counters SET count = 9223372036854775807')
    expect((await worker.api('POST', '/v1/counters/page_view/a', most)).status).toBe(422)
    expect(await said()).toBe('ok')
  })
})
