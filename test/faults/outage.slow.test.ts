import { beforeEach, expect, inject, it, onTestFinished } from 'vitest'
import { PlanetScaleEndpoint } from '../../local/planetscale/endpoint.ts'
import { freePort } from '../../local/processes/free-port.ts'
import { QueuedWorker } from '../harness/miniflare.ts'
import { askForRollUps } from './background-tasks.ts'
import { AUTHORIZED, TOKEN } from './client.ts'
import { VISITS } from './counters.ts'
import { ExpectedCounts } from './expected-counts.ts'
import { databaseAt, type FaultyDatabase, freshDatabase } from './faulty-database.ts'
import { load } from './load.ts'
import { seededRandom } from './seeded-random.ts'
import { checkRolledUp } from './stored-counts.ts'

const PER_SECOND = 200
/** Milliseconds between two requests of a client: few clients have to wait for longer than that. */
const EVERY_MS = 4_000
/** How many requests go to the queue in each of the ways in which the database is gone: for longer than any of them waits. */
const OF_EACH_WAY = 900
/** Most milliseconds that the queue may take to empty once the database is back. */
const DRAIN_MS = 240_000
/** Milliseconds after which a lease has ended. */
const LEASE_MS = 120_000
/** Bytes. An isolate has 128 MB for everything. This one uses 6 MB before the outage. */
const MOST_LIVE = 48 * 2 ** 20
const MOST_LEFT = 10 * 2 ** 20

const ALWAYS = 1_000_000

/** Counts what the Worker's log says about the queue. */
class QueueLog {
  /** Messages sent to the queue, and messages that came out of it and were counted. */
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

/** An endpoint that stops listening and comes back at the same port. */
class StoppableEndpoint {
  readonly #port: number
  #endpoint: PlanetScaleEndpoint | null = null

  constructor(port: number) {
    this.#port = port
  }

  urlOf(database: string): string {
    return `http://${database}:test@127.0.0.1:${this.#port}`
  }

  async start(): Promise<void> {
    this.#endpoint = new PlanetScaleEndpoint({ mysqlUrl: inject('mysqlUrl'), password: 'test', port: this.#port })
    await this.#endpoint.listen()
  }

  /** Cuts all connections. New ones are refused. */
  async stop(): Promise<void> {
    await this.#endpoint?.close()
    this.#endpoint = null
  }
}

let endpoint: StoppableEndpoint
let db: FaultyDatabase
let worker: QueuedWorker
let log: QueueLog
beforeEach(async () => {
  const { name } = await freshDatabase()
  endpoint = new StoppableEndpoint(await freePort())
  await endpoint.start()
  db = databaseAt(name, endpoint.urlOf(name), inject('backendUrl'))
  log = new QueueLog()
  worker = await QueuedWorker.start({
    script: inject('builtWorker'),
    databaseUrl: db.url,
    apiToken: TOKEN,
    settings: { SHARDING: { ranges: inject('ranges') }, ...VISITS },
    onLog: (event) => log.take(event),
  })
  return async () => {
    await worker.stop()
    await endpoint.stop()
  }
})

it('While the database is unavailable, every request is answered. Afterwards every increment has counted once', {
  timeout: 480_000,
}, async () => {
  const expected = new ExpectedCounts()
  const { number } = expected
  const random = seededRandom()
  let over = false
  onTestFinished(() => {
    over = true
  })
  const loading = load({
    isolates: [worker],
    expected,
    random,
    clients: (PER_SECOND * EVERY_MS) / 1_000,
    everyMs: EVERY_MS,
    enough: () => over,
    keyed: 0.4,
    visits: 0.1,
    pairs: 0.1,
    pixels: 0.2,
  }).finally(() => {
    over = true
  })
  // These fail while the database is gone.
  const rollingUp = askForRollUps({ isolates: [worker], random, over: () => over }, 4_000)
  /** Waits until so many more requests have ended this way. */
  const reach = (fate: 'counted' | 'queued', requests: number) => {
    const before = number[fate]
    return expect.poll(() => over || number[fate] - before, { timeout: 90_000 }).toBeGreaterThan(requests)
  }

  await reach('counted', 3 * PER_SECOND)
  const before = await worker.liveBytes()

  // The database is gone, in one way after the other.
  await db.behave({ faults: [{ action: 'cut-answer', match: 'INSERT INTO slotted_counters', times: ALWAYS }] })
  // The database has counted these. They are in the queue as well.
  await reach('queued', PER_SECOND)
  await endpoint.stop()
  await reach('queued', OF_EACH_WAY)
  await endpoint.start()
  await db.behave({ faults: [{ action: 'hang-request', times: ALWAYS }] })
  await reach('queued', OF_EACH_WAY)
  const during = await worker.liveBytes()
  await endpoint.stop()
  await reach('queued', OF_EACH_WAY)

  await endpoint.start()
  await reach('counted', PER_SECOND)
  const back = Date.now()
  over = true
  // Fails if a request was not answered in time, or with anything but counted, queued, duplicate, unknown or refused.
  await loading
  await rollingUp
  expect(number.refused).toBe(0)

  const right = () => expected.check(db).then(() => true, String)
  const drained = async () => log.counted >= log.queued && (await right())
  await expect.poll(drained, { timeout: DRAIN_MS, interval: 500 }).toBe(true)
  const after = await worker.liveBytes()
  console.log(number, `${log.queued} messages came out of the queue in ${Math.round((Date.now() - back) / 1_000)} s`)
  console.log(`live MB ${[before, during, after].map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(' / ')}`)
  expect(log.dead).toEqual([])
  expect(await worker.deadLetters()).toEqual([])
  expect(during).toBeLessThan(MOST_LIVE)
  expect(after).toBeLessThan(before + MOST_LEFT)

  // The API says the same once everything is rolled up.
  const rollUp = async () => (await fetch(`${worker.url}/v1/rollup`, { method: 'POST', headers: AUTHORIZED })).status
  // A roll-up that lost the database cannot return its lease.
  await expect.poll(rollUp, { timeout: LEASE_MS, interval: 1_000 }).toBe(200)
  await expected.check(db)
  await checkRolledUp(db)
  const { rows } = await db.execute(
    `SELECT CAST(name AS CHAR) AS name, CAST(count AS CHAR) AS count FROM counters
     WHERE record_type = 1`,
  )
  expect(rows.length).toBeGreaterThan(0)
  const query = rows.map(({ name }) => `key=${encodeURIComponent(String(name))}`).join('&')
  const response = await fetch(`${worker.url}/v1/counters/page_view?${query}`, { headers: AUTHORIZED })
  const { counters } = (await response.json()) as { counters: { key: string; count: number; pending: number }[] }
  expect(counters.map(({ key, count, pending }) => [key, count, pending])).toEqual(
    rows.map(({ name, count }) => [name, Number(count), 0]),
  )
})
