import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import { beforeEach, expect, inject, it, onTestFinished } from 'vitest'
import { buildWorker } from '../../local/workerd.ts'
import { QueuedWorker } from '../harness/miniflare.ts'
import { SteadyLoad } from './steady-load.ts'
import { UnreliableEndpoint } from './unreliable-endpoint.ts'

const TOKEN = 'a-token-for-tests'
const PER_SECOND = 100
/** Most milliseconds that the queue may take to be worked off when the database is back. */
const DRAIN_MS = 240_000
/** Bytes. An isolate has 128 MB for everything; this one is at 4 MB. */
const MOST_LIVE = 48 * 2 ** 20
const MOST_LEFT = 16 * 2 ** 20

const YEAR_HOURS = 365 * 24
const SETTINGS = {
  COUNTERS: {
    page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
    // A window that does not end while this runs.
    visit: { record_type: 2, public: true, allowed_origins: ['*'], dedupe_seconds: YEAR_HOURS * 3_600 },
  },
  PRUNING: { idempotency_hours: YEAR_HOURS },
}

/** What the Worker's log says of the queue. */
class QueueLog {
  /** Messages that were put into it, and that came out of it and were counted. */
  queued = 0
  counted = 0
  readonly dead: unknown[] = []

  take(event: Record<string, unknown>): void {
    // A batch of a few hundred counters is one message.
    if (event.event === 'batch_queued') this.queued++
    if (event.event === 'queue') this.counted += event.applied as number
    if (event.event === 'batch_dead') this.dead.push(event)
  }
}

let database: string
let endpoint: UnreliableEndpoint
let connection: Connection
let worker: QueuedWorker
let log: QueueLog
beforeEach(async () => {
  const script = await buildWorker(join(inject('scratch'), 'outage'))
  const response = await fetch(`${inject('databases')}?migrate`, { method: 'POST' })
  database = ((await response.json()) as { name: string }).name
  connection = await mysql.createConnection({ uri: inject('mysqlUrl'), database })
  endpoint = await UnreliableEndpoint.open(inject('mysqlUrl'))
  log = new QueueLog()
  worker = await QueuedWorker.start({
    script,
    databaseUrl: endpoint.urlOf(database),
    apiToken: TOKEN,
    settings: SETTINGS,
    onLog: (event) => log.take(event),
  })
  return async () => {
    await worker.stop()
    await endpoint.close()
    await connection.end()
  }
})

/** What all counters with a name are at, asked of the server itself. */
async function counts(): Promise<Map<string, number>> {
  const sum = (table: string) =>
    `(SELECT COALESCE(SUM(count), 0) FROM ${table} c WHERE c.record_type = n.record_type AND c.record_id = n.record_id)`
  const [rows] = await connection.query<RowDataPacket[]>(
    `SELECT CAST(name AS CHAR) AS name, ${sum('slotted_counters')} + ${sum('counter_totals')} AS count FROM counter_names n`,
  )
  return new Map(rows.map(({ name, count }) => [name as string, Number(count)]))
}

async function rollUp(): Promise<number> {
  const response = await fetch(`${worker.url}/v1/rollup`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}` },
    signal: AbortSignal.timeout(60_000),
  })
  await response.arrayBuffer()
  return response.status
}

/** Waits for something, within bounds. */
async function until(milliseconds: number, what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const began = Date.now(); !(await holds()); await pause(500)) {
    expect(Date.now() - began, what).toBeLessThan(milliseconds)
  }
}

it('nothing is lost or counted twice while the database is gone for a minute, and everybody is answered', {
  timeout: 480_000,
}, async () => {
  const load = new SteadyLoad({ url: worker.url, token: TOKEN, perSecond: PER_SECOND })
  let rollingUp = true
  const rollUps = (async () => {
    // They fail while the database is gone.
    for (; rollingUp; await pause(2_000)) await rollUp().catch(() => {})
  })()
  onTestFinished(() => {
    rollingUp = false
    return load.stop()
  })
  const told = (outcome: string) =>
    [...load.answers].reduce((sum, [answer, times]) => sum + (answer.endsWith(` ${outcome}`) ? times : 0), 0)

  await until(20_000, 'hits are counted', () => told('counted') > 3 * PER_SECOND)
  const before = await worker.liveBytes()

  // A minute in all, in one way after the other.
  const gone = Date.now()
  await endpoint.loseAnswers(database)
  await pause(5_000)
  // These were in fact counted, and are in the queue.
  const lost = told('queued')
  expect(lost).toBeGreaterThan(0)
  await endpoint.refuse()
  await pause(20_000)
  const refused = told('queued')
  expect(refused).toBeGreaterThan(lost)
  await endpoint.swallow()
  await pause(20_000)
  const swallowed = told('queued')
  expect(swallowed).toBeGreaterThan(refused)
  const during = await worker.liveBytes()
  await endpoint.refuse()
  await pause(60_000 - (Date.now() - gone))
  expect(told('queued')).toBeGreaterThan(swallowed)

  await endpoint.answer()
  const countedBefore = told('counted')
  await until(60_000, 'hits are counted again', () => told('counted') > countedBefore + PER_SECOND)
  const back = Date.now()
  await load.stop()
  rollingUp = false
  await rollUps

  const missing = async () => {
    const now = await counts()
    return [...load.receipts].filter(([key, { sure }]) => (now.get(key) ?? 0) < sure)
  }
  await until(DRAIN_MS, 'the queue is worked off', async () => {
    return log.counted >= log.queued && (await missing()).length === 0
  })
  const after = await worker.liveBytes()
  console.log(
    `${load.sent} requests: ${JSON.stringify(Object.fromEntries(load.answers))}; slowest ${load.slowestMs} ms; ` +
      `${log.queued} messages, worked off ${Math.round((Date.now() - back) / 1_000)} s after hits were counted again; ` +
      `live MB ${[before, during, after].map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(' / ')}`,
  )

  expect(load.unanswered).toEqual([])
  expect([...load.answers.keys()].filter((answer) => !ANSWERS.test(answer))).toEqual([])
  const now = await counts()
  const wrong = [...load.receipts].filter(([key, { sure, unsure }]) => {
    const count = now.get(key) ?? 0
    return count < sure || count > sure + unsure
  })
  expect(wrong.map(([key, receipt]) => [key, receipt, now.get(key)])).toEqual([])
  expect(log.dead).toEqual([])
  expect(await worker.deadLetters()).toEqual([])
  expect(during).toBeLessThan(MOST_LIVE)
  expect(after).toBeLessThan(before + MOST_LEFT)

  // And the same through the front door, rolled up.
  expect(await rollUp()).toBe(200)
  const keys = [...now.keys()].filter((key) => key.startsWith('/page/'))
  const query = keys.map((key) => `key=${encodeURIComponent(key)}`).join('&')
  const response = await fetch(`${worker.url}/v1/counters/page_view?${query}`)
  const { counters } = (await response.json()) as { counters: { key: string; count: number; pending: number }[] }
  expect(counters.map(({ key, count, pending }) => [key, count, pending])).toEqual(
    keys.map((key) => [key, now.get(key), 0]),
  )
})

/** What may become of a hit, an image, an increment; never anything else, and never a broken image. */
const ANSWERS = /^(20[04] (counted|queued|unknown|ignored; reason=duplicate)|202 queued|503 unknown)$/
