import { beforeEach, describe, expect, it, vi } from 'vitest'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../src/config/config.ts'
import { readRuns } from '../../src/counters/background-runs.ts'
import { continueRound } from '../../src/counters/verify/verify-page.ts'
import type { Database, Executor } from '../../src/database/database.ts'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { logged } from '../harness/logged.ts'
import { stopClock } from '../harness/stopped-clock.ts'
import { TestWorker } from '../harness/worker.ts'

const COUNTERS = {
  page_view: { record_type: 1, public: true, public_page: true },
  download: { record_type: 2 },
}
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** What a request of the free plan may send. */
const FREE_STATEMENTS = 50

let db: TestDatabase
let worker: TestWorker
let at: number
beforeEach(async () => {
  stopClock()
  db = await freshDatabase()
  worker = isolate()
  at = Date.UTC(2026, 10, 27, 12)
  vi.setSystemTime(at)
  for (const keys of [
    ['/a', '/b'],
    ['/a', '/c'],
  ]) {
    await worker.add('page_view', Object.fromEntries(keys.map((key) => [key, 3])))
    await worker.add('download', { 'app.zip': 2 })
    await logged(() => worker.cron(ROLL_UP_CRON, new Date(at)))
    at += DAY_MS
    vi.setSystemTime(at)
  }
})
const isolate = (plan = 'free') => new TestWorker(db.url, { COUNTERS, PLAN: plan })

/** Runs the pruning task. Returns what it logs of the verification. */
async function run(of = worker) {
  at += 2 * MINUTE_MS
  vi.setSystemTime(at)
  const lines = await logged(() => of.cron(PRUNING_CRON, new Date(at)))
  return lines.find(({ event }) => event === 'verify')
}

/** Runs it until a round is over, and returns the outcomes of its runs. */
async function runRound(of = worker) {
  const outcomes: unknown[] = []
  while (!['agrees', 'wrong', undefined].includes(outcomes.at(-1) as string) || outcomes.length === 0) {
    outcomes.push((await run(of))?.outcome)
  }
  return outcomes
}

/** What a new isolate tells on the public page. */
async function told(tz = 'UTC') {
  const fresh = isolate()
  const page = await (await fresh.fetch(`/stats/page_view?tz=${tz}`)).text()
  return /Checked [^<]*\./.exec(page)?.[0] ?? null
}
const TODAY = 'Checked today: every sum agrees.'
const YESTERDAY = 'Checked yesterday: every sum agrees.'

describe('The pruning task', () => {
  it('checks every sum once a day, a page or more in each run, and then reports it', async () => {
    expect(await told()).toBeNull()
    const outcomes = await runRound()
    expect(outcomes.slice(0, -1)).toEqual(Array(outcomes.length - 1).fill('partial'))
    expect(outcomes.length).toBeGreaterThan(2)
    expect(outcomes.at(-1)).toBe('agrees')
    expect(await told()).toBe(TODAY)
    expect(await run()).toBeUndefined()
    at += DAY_MS
    expect(await run()).toMatchObject({ outcome: 'partial' })
  })

  it('on the paid plan checks a small database in one run', async () => {
    expect(await runRound(isolate('paid'))).toEqual(['agrees'])
  })

  it('sends no more statements than the free plan allows, whatever it finds', async () => {
    await db.arrange('UPDATE type_history SET count = count + 1 WHERE period = 0')
    const sent: number[] = []
    const found: unknown[] = []
    while (!found.includes('wrong')) {
      const statements = await db.recording(async () => void found.push((await run())?.outcome))
      sent.push(statements.length)
    }
    expect(Math.max(...sent)).toBeLessThan(FREE_STATEMENTS - 10)
  })

  it('says today and yesterday by the visitor’s days, and then nothing', async () => {
    await runRound()
    expect(await told('Pacific/Auckland')).toBe(TODAY)
    vi.setSystemTime(Date.UTC(2026, 10, 30, 1))
    expect([await told(), await told('America/New_York')]).toEqual([YESTERDAY, TODAY])
    vi.setSystemTime(Date.UTC(2026, 11, 1, 1))
    expect([await told(), await told('America/New_York')]).toEqual([null, YESTERDAY])
    vi.setSystemTime(Date.UTC(2026, 10, 28, 1))
    expect(await told()).toBeNull()
  })
})

describe('A mismatch', () => {
  it.each([
    ['an hour of a type', 'UPDATE type_history SET count = count - 1 WHERE record_type = 2 AND period = 0'],
    ['a month of a type', 'UPDATE type_history SET count = count + 1 WHERE record_type = 2 AND period = 2'],
  ])('in %s ends the round, is logged as an error, and nothing is told until a later round agrees', async (_, sql) => {
    const paid = isolate('paid')
    await runRound(paid)
    await db.arrange(sql)
    at += DAY_MS
    vi.setSystemTime(at)
    expect(await told()).toBe(YESTERDAY)
    const outcomes = await runRound(paid)
    expect(outcomes.at(-1)).toBe('wrong')
    expect([await told(), await run(paid)]).toEqual([null, undefined])
    await db.arrange(sql.replace(/(\+|-) 1/, (text) => (text === '+ 1' ? '- 1' : '+ 1')))
    at += DAY_MS
    expect((await runRound(paid)).at(-1)).toBe('agrees')
    expect(await told()).toBe(TODAY)
  })

  it('that one run finds is not erased by a concurrent run that found none', async () => {
    const hold = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    /** Another run, held back before it writes that every sum agreed. */
    const slow: Database = Object.assign(Object.create(db) as Database, {
      async execute(sql: string, args?: readonly unknown[]): ReturnType<Executor['execute']> {
        if (sql.startsWith('UPDATE background_runs')) {
          held.resolve()
          await hold.promise
        }
        return db.execute(sql, args)
      },
    })
    const options = { at: new Date(at), hourDays: 90, limit: 100, maxStatements: 1_000 }
    const agreeing = continueRound(slow, options)
    await held.promise
    await db.arrange('UPDATE counters SET count = count + 1 WHERE record_type = 2')
    expect(await continueRound(db, options)).toMatchObject({ outcome: 'wrong', wrong: 1 })
    hold.resolve()
    expect(await agreeing).toMatchObject({ outcome: 'agrees' })
    const { verification } = await readRuns(db)
    expect(verification).toMatchObject({ agreedAt: null, found: [{ what: 'total', recordType: 2 }] })
  })
})

describe('A round', () => {
  it('that is not finished reports nothing, and starts again after two weeks', async () => {
    await run()
    expect(await told()).toBeNull()
    const position = async () =>
      (await db.execute('SELECT position FROM background_runs WHERE task = 3')).rows[0]?.position
    const first = await position()
    expect(await run()).toMatchObject({ outcome: 'partial' })
    expect(await position()).not.toBe(first)
    at += 15 * DAY_MS
    expect(await run()).toMatchObject({ outcome: 'partial' })
    expect(await position()).toBe(first)
  })

  it('continues from what another version wrote only if it can be read', async () => {
    await run()
    await db.arrange("UPDATE background_runs SET position = 'elsewhere.7' WHERE task = 3")
    expect((await runRound()).at(-1)).toBe('agrees')
  })
})

it('Days whose hours were deleted are not compared with them, although an older hour is imported after hour_days was raised', async () => {
  const keeping = (hour_days: number) => new TestWorker(db.url, { COUNTERS, HISTORY: { hour_days } })
  at += 60 * DAY_MS
  await run(keeping(50))
  const worker = keeping(200)
  expect((await worker.bring([{ type: 'page_view', key: '/old', count: 1, day: '2026-11-01T09' }])).status).toBe(200)
  expect(await db.number(`SELECT COUNT(*) FROM counter_history`)).toBe(1n)
  expect(await (await worker.api('POST', '/v1/verify')).json()).toMatchObject({ wrong: [] })
})
