import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type LaunchOptions } from 'playwright-core'
import { expect, inject } from 'vitest'
import { startWorkerd, type Workerd } from '../../local/workerd.ts'
import { rollUp } from '../../src/counters/rollup.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { toBigInt } from '../../src/database/numbers.ts'

/** The API token of the Workers that these tests start. */
export const TOKEN = 'a-token-for-browsers'

/** Milliseconds in which a hit must have reached the database. */
const COUNTED_MS = 15_000
/** Milliseconds after which nothing is on its way any more. */
const QUIET_MS = 600

/** What counts are kept in, and what the roll-up knows of itself. */
const TABLES = [
  'slotted_counters',
  'counter_totals',
  'counter_history',
  'counter_periods',
  'type_history',
  'counter_adjustments',
  'rollup_state',
]

/** A Worker as it ships, on a database of its own. */
export interface Counter {
  /** Its origin. */
  url: string
  databaseUrl: string
  /** All counts, by `type key`, from the rows themselves. */
  counts(): Promise<Record<string, number>>
  /** Waits until that is counted, and then whether something else comes. */
  has(expected: Record<string, number>): Promise<void>
  /** Counts something many times. */
  add(type: string, key: string, by: number): Promise<void>
  /** Asks the API, with the token. */
  api(method: string, path: string, body?: unknown): Promise<unknown>
  /** Rolls up, as if it were that time. */
  rollUp(at: Date): Promise<void>
  /** Forgets everything. */
  clear(): Promise<void>
  stop(): Promise<void>
}

export async function startCounter(settings: Record<string, unknown> = {}): Promise<Counter> {
  const response = await fetch(`${inject('databases')}?migrate`, { method: 'POST' })
  if (!response.ok) throw new Error(await response.text())
  const { databaseUrl } = (await response.json()) as { databaseUrl: string }
  const db = openDatabase({ url: databaseUrl, deadlineMs: 60_000 })
  const workerd: Workerd = await startWorkerd({
    script: inject('shippedWorker'),
    directory: join(inject('scratch'), `counter-${randomUUID()}`),
    databaseUrl,
    apiToken: TOKEN,
    settings,
  })
  const counts = () => readCounts(db)
  const api = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(workerd.url + path, {
      method,
      headers: {
        Authorization: `Bearer ${TOKEN}`,
        'Idempotency-Key': randomUUID(),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(await response.text())
    return response.json()
  }
  return {
    url: workerd.url,
    databaseUrl,
    counts,
    async has(expected) {
      await expect.poll(counts, { timeout: COUNTED_MS, interval: 50 }).toEqual(expected)
      await new Promise((done) => setTimeout(done, QUIET_MS))
      expect(await counts()).toEqual(expected)
    },
    async add(type, key, by) {
      await api('POST', `/v1/counters/${type}/${encodeURIComponent(key)}`, { by })
    },
    api,
    async rollUp(at) {
      const { outcome } = await rollUp(db, { pageSlots: 2_000, maxStatements: 1_000, maxSeconds: 50, at })
      expect(outcome).toBe('complete')
    },
    async clear() {
      await new Promise((done) => setTimeout(done, QUIET_MS))
      for (const table of TABLES) await db.execute(`DELETE FROM ${table}`)
    },
    stop: () => workerd.stop(),
  }
}

/** Without a window it calls itself HeadlessChrome, which is a bot's name. */
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

/** What Chromium is started with: its sandbox does not work for root. */
export const CHROMIUM_ARGUMENTS = ['--no-sandbox', `--user-agent=${AGENT}`]

/** Chromium, as people have it. */
export function launchChromium({ args = [], ...options }: LaunchOptions = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: inject('chromium'),
    args: [...CHROMIUM_ARGUMENTS, ...args],
    // So that going back brings the page back as it was left.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    ...options,
  })
}

/** What pages said on the console, for tests that want it quiet. */
export function consoleOf(context: BrowserContext): string[] {
  const lines: string[] = []
  context.on('console', (message) => lines.push(`${message.type()}: ${message.text()}`))
  context.on('weberror', (error) => lines.push(String(error.error())))
  return lines
}

async function readCounts(db: Database): Promise<Record<string, number>> {
  const { rows } = await db.execute(
    `SELECT record_type, record_id, SUM(count) AS count FROM (
       SELECT record_type, record_id, count FROM slotted_counters
       UNION ALL SELECT record_type, record_id, count FROM counter_totals
     ) AS parts GROUP BY record_type, record_id`,
  )
  const names = await db.execute(
    'SELECT record_type, record_id, CONVERT(name USING utf8mb4) AS name FROM counter_names',
  )
  const nameOf = new Map(names.rows.map((row) => [`${row.record_type} ${row.record_id}`, row.name]))
  const types = ['?', 'page_view', 'download']
  return Object.fromEntries(
    rows.map(({ record_type, record_id, count }) => [
      `${types[Number(record_type)]} ${nameOf.get(`${record_type} ${record_id}`) ?? record_id}`,
      Number(toBigInt(count)),
    ]),
  )
}
