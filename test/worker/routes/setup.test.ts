import { describe, expect, it } from 'vitest'
import type { Fault } from '../../../local/planetscale/fault-injection.ts'
import { MIGRATIONS } from '../../../src/generated.ts'
import { emptyDatabase, freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { expectProblem } from '../../harness/expect-problem.ts'
import { onVitess } from '../../harness/on-vitess.ts'
import { TestWorker } from '../../harness/worker.ts'

const NAMES = MIGRATIONS.map(({ name }) => name)

/** Makes the tables. Returns the migrations that were applied. */
async function makeTables(worker: TestWorker): Promise<string[]> {
  const response = await worker.api('POST', '/v1/setup')
  expect(response.status).toBe(200)
  return (await response.json<{ applied: string[] }>()).applied
}

/** Checks that the Worker has all it needs: it counts, rolls up and reads. */
async function works(worker: TestWorker, db: TestDatabase): Promise<void> {
  expect(await (await worker.api('GET', '/v1/setup')).json()).toEqual({ ready: true, pending: [], statements: [] })
  // vtgate learns of new columns a moment later.
  await expect.poll(async () => (await worker.fetch('/healthz')).status).toBe(200)
  const before = await db.number('SELECT COUNT(*) FROM slotted_counters')
  expect((await worker.hit('page_view', '/after')).headers.get('X-Hit')).toBe('counted')
  expect(await db.number('SELECT COUNT(*) FROM slotted_counters')).toBe(before + 1n)
  expect(await (await worker.api('POST', '/v1/rollup')).json()).toMatchObject({ outcome: 'complete', moved: 1 })
  expect(await db.number('SELECT SUM(count) FROM type_history WHERE period = 1')).toBe(1n)
  expect(await (await worker.api('POST', '/v1/verify')).json()).toMatchObject({ wrong: [] })
}

describe('POST /v1/setup makes the tables of an empty database', () => {
  it('in a request that stays within the 50 subrequests of the free plan, and a further one does nothing', async () => {
    const db = await emptyDatabase()
    const worker = new TestWorker(db.url)
    const sent = await db.recording(async () => {
      expect(await makeTables(worker)).toEqual(NAMES)
    })
    expect(sent.length).toBeLessThanOrEqual(50)
    expect(await makeTables(worker)).toEqual([])
    await works(worker, db)
  })

  it('from two places at once', async () => {
    const db = await emptyDatabase()
    const workers = [new TestWorker(db.url), new TestWorker(db.url)]
    await Promise.all(workers.map((worker) => makeTables(worker)))
    expect(await db.number('SELECT COUNT(*) FROM schema_version')).toBe(1n)
    await works(workers[0]!, db)
  })

  const statements = MIGRATIONS.reduce((sum, migration) => sum + migration.statements.length, 0) + NAMES.length
  it.each(['cut-request', 'cut-answer'] as const)(`interrupted after every statement (%s)`, async (action) => {
    const db = await emptyDatabase()
    const worker = new TestWorker(db.url)
    // Each request is cut off for good after one more statement than the one before.
    for (let skip = 0; skip <= statements + 10; skip++) {
      const faults: Fault[] = [{ action, skip, times: 10_000 }]
      await db.behave({ faults })
      const response = await worker.api('POST', '/v1/setup')
      if (response.status === 200) break
      await expectProblem(response, 503, 'database_unavailable')
      await db.behave()
    }
    await db.behave()
    await makeTables(worker)
    await works(worker, db)
  })

  it('again after one was lost, and leaves the rows of the others', async () => {
    const db = await freshDatabase()
    const worker = new TestWorker(db.url)
    await worker.api('POST', '/v1/counters/page_view/a')
    await db.execute('DROP TABLE type_history')
    const health = await worker.fetch('/healthz')
    expect([health.status, await health.text()]).toEqual([503, expect.stringMatching(/lost table is made again/)])
    expect(await makeTables(worker)).toEqual(NAMES)
    expect(await db.number('SELECT COUNT(*) FROM slotted_counters')).toBe(1n)
    expect(await (await worker.api('POST', '/v1/rollup')).json()).toMatchObject({ moved: 1 })
    expect((await worker.fetch('/healthz')).status).toBe(200)
  })

  it('although answers are lost now and then', async () => {
    const db = await emptyDatabase()
    const worker = new TestWorker(db.url)
    const faults = [2, 5, 9, 14, 20].map((skip): Fault => ({ action: 'cut-answer', skip, times: 1 }))
    await db.behave({ faults })
    await makeTables(worker)
    await db.behave()
    await works(worker, db)
  })

  // On shards, the VSchema would have to know that table.
  it.skipIf(onVitess)('next to the record of another program, which is not changed', async () => {
    const db = await emptyDatabase()
    await db.execute('CREATE TABLE schema_migrations (version VARCHAR(191) NOT NULL PRIMARY KEY)')
    await db.execute("INSERT INTO schema_migrations VALUES ('1'), ('2')")
    const worker = new TestWorker(db.url)
    expect(await makeTables(worker)).toEqual(NAMES)
    expect(await db.number('SELECT COUNT(*) FROM schema_migrations')).toBe(2n)
    await works(worker, db)
  })
})

describe('POST /v1/setup says why it cannot continue', () => {
  const stopped = async (worker: TestWorker, expected = 'setup_stopped') => {
    const response = await worker.api('POST', '/v1/setup')
    const { code, detail } = await response.json<{ code: string; detail: string }>()
    expect([response.status, code]).toEqual([409, expected])
    return detail
  }

  it('on a branch with safe migrations, which gets the statements for a deploy request', async () => {
    const db = await emptyDatabase()
    const worker = new TestWorker(db.url)
    await db.behave({ safeMigrations: true })
    expect(await stopped(worker, 'deploy_request_needed')).toMatch(/Safe migrations.*GET \/v1\/setup/)
    const { statements } = await (await worker.api('GET', '/v1/setup')).json<{ statements: string[] }>()
    expect(statements[0]).toMatch(/^CREATE TABLE IF NOT EXISTS slotted_counters/)
    // What the deploy request brings.
    await db.behave()
    for (const sql of statements) await db.execute(sql)
    await db.behave({ safeMigrations: true })
    expect(await makeTables(worker)).toEqual(NAMES)
    await works(worker, db)
  })

  it('for a password that may not change tables', async () => {
    const db = await emptyDatabase()
    await db.behave({ faults: [{ action: 'error', errno: 1142, match: '^(CREATE|ALTER)', times: 10_000 }] })
    expect(await stopped(new TestWorker(db.url))).toMatch(/may not change tables.*admin/)
  })

  it('for any other error: at which statement, with its number, but not in the words of the database', async () => {
    const db = await emptyDatabase()
    await db.behave({
      faults: [{ action: 'error', errno: 1064, match: '^CREATE TABLE IF NOT EXISTS counters', times: 10_000 }],
    })
    const worker = new TestWorker(db.url)
    const detail = await stopped(worker)
    expect(detail).toMatch(/0001_slotted_counter\.sql stopped at statement 2 of \d+ .*error 1064/)
    expect(detail).not.toContain('injected')
    await db.behave()
    await makeTables(worker)
    await works(worker, db)
  })

  // vttablet serves no such server.
  it.skipIf(onVitess)('for a server that changes what does not fit instead of refusing it', async () => {
    const db = await emptyDatabase()
    await db.behave({ sqlMode: 'NO_ENGINE_SUBSTITUTION' })
    expect(await stopped(new TestWorker(db.url))).toContain('sql_mode of the database server lacks STRICT_TRANS_TABLES')
  })

  it('for a table of another program under the name of one of ours', async () => {
    const db = await emptyDatabase()
    await db.execute('CREATE TABLE rollup_state (id INT NOT NULL PRIMARY KEY)')
    const worker = new TestWorker(db.url)
    expect(await stopped(worker)).toMatch(/other programs have tables of the same names/)
    expect(await (await worker.api('GET', '/v1/setup')).json()).toMatchObject({ ready: false })
  })
})
