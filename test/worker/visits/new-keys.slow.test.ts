import { beforeEach, describe, expect, it, vi } from 'vitest'
import { PRUNING_CRON } from '../../../src/config/config.ts'
import { deliver, sumOf, TestQueue } from '../../harness/local-queues.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'
import { bePatient } from '../patience.ts'

const OPEN = { public: true, allowed_origins: ['*'], redirect_to: '/files/' }
const COUNTERS = {
  free: { record_type: 1, ...OPEN, new_keys_per_minute: 'unlimited' },
  known: { record_type: 2, ...OPEN, new_keys: 'known' },
  blog: { record_type: 3, ...OPEN, new_keys: ['/blog/*', 'v*.zip'] },
  few: { record_type: 4, ...OPEN, new_keys_per_minute: 5 },
  none: { record_type: 5, ...OPEN, new_keys_per_minute: 0 },
  decades: { record_type: 7, ...OPEN, new_keys: ['19*'] },
  same: { record_type: 8, ...OPEN, same_key: ['trailing_slash', 'letter_case', 'index_file'] },
  visits: { record_type: 9, ...OPEN, new_keys_per_minute: 5, dedupe_seconds: 80_000 },
}
const TABLES = [
  'slotted_counters',
  'counters',
  'counter_history',
  'counter_periods',
  'type_history',
  'counter_adjustments',
  'new_key_budgets',
]

const db = emptiedDatabase()
let worker: TestWorker
const isolate = (overrides = {}) => new TestWorker(db.url, { COUNTERS, ...overrides })
beforeEach(() => {
  bePatient()
  // No window ends during a test, and no group of requests waits too long. The minutes of budgets are the database's.
  stopClock()
  worker = isolate()
})

const query = (type: string, key: string) => `?type=${type}&key=${encodeURIComponent(key)}`
/** Sends a hit and returns its `X-Hit`. */
const hit = async (type: string, key: string, on = worker) => {
  const response = await on.fetch(`/hit${query(type, key)}`, { method: 'POST' })
  return response.headers.get('X-Hit')
}
/** Sends hits of one key in each public way. */
async function inEachWay(type: string, key: string, on = worker) {
  const answers = [
    await on.hit(type, key),
    await on.fetch(`/hit${query(type, key)}`, { method: 'POST' }),
    await on.fetch(`/hit.gif${query(type, key)}`),
    await on.fetch(`/d/${type}/${key.replace(/^\//, '')}`),
  ]
  for (const answer of answers) await answer.arrayBuffer()
  return answers.map(({ status, headers }) => `${status} ${headers.get('X-Hit')}`)
}
const everyWay = (said: string) => [`204 ${said}`, `204 ${said}`, `200 ${said}`, `302 ${said}`]
const rows = async () =>
  Promise.all(TABLES.map(async (table) => [table, await db.number(`SELECT COUNT(*) FROM ${table}`)] as const))
const countOf = (type: string, key: string, on = worker) => on.count(type, key)
const add = (type: string, key: string) => worker.add(type, { [key]: 1 })
const keys = (count: number, prefix = '/invented/') => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const IGNORED = 'ignored; reason=key'

describe('A key that the rule of its type refuses', () => {
  it.each([
    ['known', 'a.zip'],
    ['blog', 'a.zip'],
    ['none', 'a.zip'],
    ['decades', '2019'],
  ])('writes nothing in any table, and says so: %s %s', async (type, key) => {
    const before = await rows()
    expect(await inEachWay(type, key)).toEqual(everyWay(IGNORED))
    expect(await inEachWay(type, key)).toEqual(everyWay(IGNORED))
    expect(await rows()).toEqual(before)
    expect(await countOf(type, key)).toBe(0)
  })

  it('still redirects a download to its file', async () => {
    const response = await worker.fetch('/d/known/v1/App.zip')
    expect([response.status, response.headers.get('Location')]).toEqual([302, '/files/v1/App.zip'])
  })

  it.each([
    ['blog', 'v1.zip'],
    ['decades', '1984'],
  ])('is not one that matches a pattern: %s %s', async (type, key) => {
    expect(await inEachWay(type, key)).toEqual(everyWay('counted'))
  })

  it('counts as soon as a request with the token has made its counter, in every isolate', async () => {
    const other = isolate()
    for (const on of [worker, other]) expect(await hit('known', '/new', on)).toBe(IGNORED)
    expect((await add('known', '/new')).headers.get('X-Hit')).toBe('counted')
    // What an isolate remembers of a refusal lasts a second.
    vi.setSystemTime(Date.now() + 1_001)
    for (const on of [worker, other]) expect(await hit('known', '/new', on)).toBe('counted')
    expect(await countOf('known', '/new')).toBe(3)
  })
})

describe('A counter that exists', () => {
  it.each([
    ['known', '/a'],
    ['blog', '/elsewhere'],
    ['none', '/a'],
  ])('counts whatever the rule: %s %s', async (type, key) => {
    await add(type, key)
    for (const on of [worker, isolate()]) expect(await hit(type, key, on)).toBe('counted')
    expect(await countOf(type, key)).toBe(3)
  })

  it('is recognized if it was imported or set, and never counted', async () => {
    await worker.api('PUT', '/v1/counters/known/%2Fset', { count: 5 })
    await worker.bring([{ type: 'known', key: '/imported', count: 7 }])
    for (const key of ['/set', '/imported']) expect(await hit('known', key, isolate())).toBe('counted')
  })
})

describe('A request with the token', () => {
  it('makes counters whatever the rule and the budget', async () => {
    for (const type of ['known', 'blog', 'none']) expect((await add(type, '/token')).status).toBe(200)
    const increments = keys(20).map((key) => ({ type: 'few', key }))
    expect((await worker.api('POST', '/v1/increments', { increments })).headers.get('X-Hit')).toBe('counted')
    expect(await db.number('SELECT COUNT(*) FROM counters')).toBe(23n)
    expect(await db.number('SELECT COUNT(*) FROM new_key_budgets')).toBe(0n)
  })
})

describe('The budget of new keys', () => {
  it('admits a key for good: later hits use none of it', async () => {
    for (const key of keys(3)) expect(await hit('few', key)).toBe('counted')
    const taken = await db.number('SELECT SUM(taken) FROM new_key_budgets')
    for (const on of [worker, isolate(), isolate()])
      for (const key of keys(3)) expect(await hit('few', key, on)).toBe('counted')
    expect([taken, await db.number('SELECT SUM(taken) FROM new_key_budgets')]).toEqual([3n, 3n])
  })

  it('of old minutes is deleted by pruning', async () => {
    await hit('few', '/a')
    await db.arrange('UPDATE new_key_budgets SET minute = minute - 100')
    await worker.cron(PRUNING_CRON)
    expect(await db.number('SELECT COUNT(*) FROM new_key_budgets')).toBe(0n)
  })

  it('is not used by a visitor’s second hit for an admitted key', async () => {
    const headers = { 'CF-Connecting-IP': '203.0.113.5', 'User-Agent': 'Mozilla/5.0 (X11) Firefox/145.0' }
    const send = async (on: TestWorker) => (await on.hit('visits', '/a', headers)).headers.get('X-Hit')
    expect(await send(worker)).toBe('counted')
    expect(await send(worker)).toBe('ignored; reason=duplicate')
    // Another isolate does not know the visitor, but its row does.
    expect(await send(isolate())).toBe('counted')
    expect([await countOf('visits', '/a'), await db.number('SELECT SUM(taken) FROM new_key_budgets')]).toEqual([1, 1n])
  })
})

describe('The statements', () => {
  const sentBy = async (work: () => Promise<unknown>) =>
    (await db.recording(work)).map(({ sql }) => sql.replace(/\/\*.*?\*\/ ?/g, '').replace(/\s+/g, ' '))

  it('of a type without a rule ask for the name and store it', async () => {
    expect(await sentBy(() => hit('free', '/a'))).toEqual([
      expect.stringMatching(/^SELECT record_type/),
      expect.stringMatching(/^INSERT IGNORE INTO counters/),
      expect.stringMatching(/^INSERT INTO slotted_counters/),
    ])
  })

  it('are few for thousands of keys that arrive together', async () => {
    const sent = await sentBy(() => Promise.all(keys(2_000).map((key) => hit('few', key))))
    expect(sent.length).toBeLessThan(120)
  })

  it('are none for a refused key that is sent again within a second', async () => {
    await hit('known', '/a')
    vi.setSystemTime(Date.now() + 999)
    const sent = await sentBy(async () => {
      for (let i = 0; i < 50; i++) expect(await hit('known', '/a')).toBe(IGNORED)
    })
    expect(sent).toEqual([])
  })

  it('find out again after ten minutes that a counter exists: it may have been deleted', async () => {
    await add('known', '/a')
    expect(await hit('known', '/a')).toBe('counted')
    for (const table of ['slotted_counters', 'counters']) await db.arrange(`DELETE FROM ${table}`)
    vi.setSystemTime(Date.now() + 10 * 60_000 - 1)
    expect(await hit('known', '/a')).toBe('counted')
    vi.setSystemTime(Date.now() + 2)
    expect(await hit('known', '/a')).toBe(IGNORED)
  })
})

describe('Spellings of one key', () => {
  it('are one counter for hits, downloads, increments, settings, imports, reads and badges', async () => {
    expect(await inEachWay('same', '/Docs/Index.html')).toEqual(everyWay('counted'))
    await add('same', '/docs/')
    await worker.bring([{ type: 'same', key: '/DOCS', count: 10 }])
    for (const key of ['/docs', '/Docs/', '/DOCS/index.php']) expect(await countOf('same', key)).toBe(14)
    // The path of a download has no slash at its beginning.
    expect(await countOf('same', 'docs')).toBe(1)
    const badge = await worker.fetch(`/badge/same/${encodeURIComponent('/Docs/')}.json`)
    expect(await badge.json()).toMatchObject({ message: '14' })
    await worker.api('PUT', `/v1/counters/same/${encodeURIComponent('/dOCs/')}`, { count: 3 })
    expect(await countOf('same', '/docs')).toBe(3)
    const search = await worker.api('GET', '/v1/search/same?prefix=/DOC')
    expect(await search.json()).toMatchObject({ counters: [{ key: '/docs', count: 3 }] })
  })

  it('redirect to the file as it was asked for', async () => {
    const response = await worker.fetch('/d/same/V1/App.ZIP')
    expect([response.headers.get('Location'), await countOf('same', 'v1/app.zip')]).toEqual(['/files/V1/App.ZIP', 1])
  })
})

describe('While the database does not answer', () => {
  const away = (times = 1_000_000) => db.behave({ faults: [{ action: 'error', errno: 2003, times }] })

  it('an unknown key is not counted, and the answer says that it certainly was not', async () => {
    await away()
    const response = await worker.hit('few', '/a')
    expect([response.status, response.headers.get('X-Hit')]).toEqual([503, 'ignored; reason=database_unavailable'])
    const pixel = await worker.fetch('/hit.gif?type=few&key=/a')
    expect(pixel.headers.get('X-Hit')).toBe('ignored; reason=database_unavailable')
    await db.behave()
    expect(await countOf('few', '/a', isolate())).toBe(0)
    expect(await hit('few', '/a', isolate())).toBe('counted')
  })

  it('an answer that is lost while asking does not make the outcome unknown', async () => {
    await db.behave({ faults: [{ action: 'cut-answer', match: '^SELECT', times: 1_000 }] })
    expect(await hit('few', '/a')).toBe('ignored; reason=database_unavailable')
    await db.behave({ faults: [{ action: 'cut-answer', match: 'new_key_budgets', times: 1 }] })
    expect(await hit('few', '/a', isolate())).toBe('counted')
    expect(await countOf('few', '/a')).toBe(1)
  })

  it('known keys go to the queue, and as many unknown ones as may be created in a minute', async () => {
    const queueing = isolate({ BATCHES: TestQueue.batches.binding, DEAD_BATCHES: TestQueue.dead.binding })
    await hit('few', '/honest', queueing)
    await away()
    expect(await hit('few', '/honest', queueing)).toBe('queued')
    const said: (string | null)[] = []
    for (const key of keys(12)) said.push(await hit('few', key, queueing))
    expect(said.slice(0, 5)).toEqual(Array(5).fill('queued'))
    expect(said.slice(5)).toEqual(Array(7).fill('ignored; reason=database_unavailable'))
    // The same key is not another new one.
    expect(await hit('few', keys(1)[0]!, queueing)).toBe('queued')
    await db.behave()
    const taken = await TestQueue.batches.take((some) => sumOf(some) >= 7n)
    await deliver(isolate({ DEAD_BATCHES: TestQueue.dead.binding }), taken)
    expect([await countOf('few', '/honest'), await countOf('few', keys(1)[0]!)]).toEqual([2, 2])
  })
})
