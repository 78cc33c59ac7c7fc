import { beforeEach, describe, expect, it } from 'vitest'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../../../src/config/config.ts'
import { pruneNames } from '../../../../src/counters/keys/names.ts'
import { freshDatabase, type TestDatabase } from '../../../harness/database.ts'
import { TestWorker } from '../../../harness/worker.ts'

const COUNTERS = {
  page_view: { record_type: 1, public: true, allowed_origins: ['*'], also: 'visitor' },
  visitor: { record_type: 2, public: true, dedupe_seconds: 3_600 },
  download: { record_type: 3, public: true, allowed_origins: ['*'] },
}

let db: TestDatabase
beforeEach(async () => {
  db = await freshDatabase()
})
/** Each has caches of its own. */
const isolate = () => new TestWorker(db.url, { COUNTERS })

const OLD = '/v1/counters/download/%2Fold'
const hit = async (worker: TestWorker, key = '/old', type = 'download') => {
  expect((await worker.hit(type, key)).headers.get('X-Hit')).toBe('counted')
}
const remove = async (worker: TestWorker) => expect((await worker.api('DELETE', OLD)).status).toBe(200)
const found = async (worker: TestWorker) => {
  const answer = await worker.api('GET', '/v1/search/download')
  const { counters } = await answer.json<{ counters: { key: string; count: number }[] }>()
  return counters.map(({ key, count }) => ({ key, count }))
}
const marks = async () => {
  const { rows } = await db.execute('SELECT gone_hour IS NOT NULL AS gone FROM counters')
  return rows.map(({ gone }) => Number(gone))
}
/** As if an hour had passed since the counter was deleted. */
const anHourLater = () => db.arrange('UPDATE counters SET gone_hour = gone_hour - 2')

describe('A counter that counts has a name', () => {
  it('before its first increment is sent, for which a new key costs two or three statements more than a known one', async () => {
    const statements = async (work: () => Promise<unknown>) =>
      (await db.recording(work))
        .map(
          ({ sql }) =>
            /(SELECT|UPDATE|INSERT IGNORE|INSERT)\b.*?\b(counters|new_key_budgets|slotted_counters)/s.exec(sql)!,
        )
        .map(([, does, table]) => `${does} ${table}`)
    const first = await statements(() => hit(isolate(), '/a'))
    expect(first.slice(-2)).toEqual(['INSERT IGNORE counters', 'INSERT slotted_counters'])
    const second = await statements(() => hit(isolate(), '/b'))
    expect(second).toEqual(['SELECT counters', 'UPDATE new_key_budgets', ...first.slice(-2)])
    const warm = isolate()
    expect(await statements(() => hit(warm, '/b'))).toEqual(['SELECT counters', 'INSERT slotted_counters'])
    expect(await statements(() => hit(warm, '/b'))).toEqual(['INSERT slotted_counters'])
  })

  it('in the other type that the same visits count in, too, with the same statements', async () => {
    const first = await db.recording(() => hit(isolate(), '/a', 'page_view'))
    expect(first.filter(({ sql }) => / counters\b/.test(sql))).toHaveLength(2)
    expect(await db.number('SELECT COUNT(*) FROM counters')).toBe(2n)
    // An API client has counted the key in one type only.
    const worker = isolate()
    await worker.api('POST', '/v1/counters/page_view/b')
    expect(await db.number('SELECT COUNT(*) FROM counters')).toBe(3n)
    await hit(worker, 'b', 'page_view')
    expect(await db.number('SELECT COUNT(*) FROM counters')).toBe(4n)
  })

  it('also if it is set, imported, or counted in a list', async () => {
    const worker = isolate()
    await worker.api('PUT', '/v1/counters/download/set', { count: 1 })
    await worker.bring([{ type: 'download', key: 'imported', count: 2 }])
    await worker.add('download', { listed: 3 })
    expect(await found(isolate())).toEqual([
      { key: 'imported', count: 2 },
      { key: 'listed', count: 3 },
      { key: 'set', count: 1 },
    ])
  })
})

describe('The name of a deleted counter', () => {
  it('is in no list, and is deleted after an hour', async () => {
    const worker = isolate()
    await hit(worker)
    await remove(worker)
    expect(await found(isolate())).toEqual([])
    await worker.cron(PRUNING_CRON)
    expect(await marks()).toEqual([1])
    await anHourLater()
    await worker.cron(PRUNING_CRON)
    expect(await marks()).toEqual([])
  })

  it('is in no table after an hour, although it was the target of a rename with an Idempotency-Key', async () => {
    const worker = isolate()
    await hit(worker)
    const headers = { 'Idempotency-Key': 'rename 1' }
    expect((await worker.api('POST', `${OLD}/rename`, { to: '/users/mary' }, headers)).status).toBe(200)
    expect((await worker.api('DELETE', '/v1/counters/download/%2Fusers%2Fmary')).status).toBe(200)
    await anHourLater()
    await worker.cron(PRUNING_CRON)
    const { rows: tables } = await db.execute(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
    )
    expect(tables.length).toBeGreaterThan(10)
    const contents = await Promise.all(tables.map(({ name }) => db.execute(`SELECT * FROM ${name}`)))
    expect(JSON.stringify(contents.map(({ rows }) => rows))).not.toMatch(/users|rename 1/)
  })

  it('stays for isolates that still believe in it: what they count is rolled up and listed, as ever', async () => {
    const [a, b] = [isolate(), isolate()]
    await hit(a)
    await remove(b)
    await b.cron(ROLL_UP_CRON)
    await hit(a)
    expect(await found(isolate())).toEqual([{ key: '/old', count: 1 }])
    expect(await (await b.api('POST', '/v1/rollup')).json()).toMatchObject({ outcome: 'complete', moved: 1, left: 0 })
    expect(await b.read('download', '/old')).toMatchObject({ count: 1, total: 1, pending: 0 })
    expect(await found(isolate())).toEqual([{ key: '/old', count: 1 }])
    await anHourLater()
    await b.cron(PRUNING_CRON)
    expect(await marks()).toEqual([0])
    expect(await (await b.api('POST', '/v1/verify')).json()).toMatchObject({ wrong: [] })
  })

  it('stays while something is pending, too', async () => {
    const [a, b] = [isolate(), isolate()]
    await hit(a)
    await remove(b)
    await hit(a)
    await anHourLater()
    await b.cron(PRUNING_CRON)
    expect(await marks()).toEqual([0])
    expect(await found(b)).toEqual([{ key: '/old', count: 1 }])
  })

  it('stays if its counter is counted after the pruning run found it', async () => {
    const [a, b] = [isolate(), isolate()]
    await hit(a)
    await remove(b)
    await anHourLater()
    let answers = 0
    const pruning = db.open({
      deadlineMs: 10_000,
      async fetch(...request) {
        const answer = await fetch(...request)
        if (answers++ === 0) await hit(a)
        return answer
      },
    })
    await pruneNames(pruning)
    expect(answers).toBeGreaterThan(1)
    expect(await marks()).toEqual([0])
    expect(await found(b)).toEqual([{ key: '/old', count: 1 }])
  })

  it('is as good as new once somebody counts the key again', async () => {
    const worker = isolate()
    await hit(worker)
    await remove(worker)
    await hit(isolate())
    expect(await marks()).toEqual([0])
    await remove(worker)
    await isolate().api('PUT', OLD, { count: 5 })
    expect(await marks()).toEqual([0])
    expect(await found(isolate())).toEqual([{ key: '/old', count: 5 }])
  })

  it('is stored again if it is deleted just before its mark is taken off', async () => {
    const worker = isolate()
    await hit(worker)
    await remove(worker)
    // The name goes after it was found.
    const sent = await db.recording(async () => {
      await anHourLater()
      await Promise.all([worker.cron(PRUNING_CRON), hit(isolate())])
    })
    expect(sent.length).toBeGreaterThan(2)
    expect(await marks()).toEqual([0])
    expect(await found(isolate())).toEqual([{ key: '/old', count: 1 }])
  })
})
