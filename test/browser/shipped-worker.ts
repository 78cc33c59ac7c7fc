import { randomUUID } from 'node:crypto'
import { expect, inject } from 'vitest'
import { rollUp } from '../../src/counters/rollup/roll-up.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { toBigInt } from '../../src/database/numbers.ts'
import { startShippedWorker } from '../harness/miniflare.ts'

/** The API token of the Workers that these tests start. */
export const TOKEN = 'a-token-for-browsers'

/** Milliseconds in which a hit must have reached the database. */
const COUNTED_MS = 15_000
/** Milliseconds after which no more hits are expected. */
const QUIET_MS = 600

/** The tables of counts, and the state of the roll-up. */
const TABLES = [
  'slotted_counters',
  'counter_totals',
  'counter_history',
  'counter_periods',
  'type_history',
  'counter_adjustments',
  'counter_transfers',
  'rollup_state',
]

/** The Worker as it ships, on its own database. */
export interface Counter {
  /** Its origin, and its base path if the settings have one. */
  url: string
  databaseUrl: string
  /** All counts by `type key`, read from the database. */
  counts(): Promise<Record<string, number>>
  /** Waits until the counts are as expected, and checks that they stay so. */
  has(expected: Record<string, number>): Promise<void>
  /** Adds to a counter. */
  add(type: string, key: string, by: number): Promise<void>
  /** Sends a request to the API with the token. */
  api(method: string, path: string, body?: unknown): Promise<unknown>
  /** Rolls up as if it were the given time. */
  rollUp(at: Date): Promise<void>
  /** Deletes all counts. */
  clear(): Promise<void>
  stop(): Promise<void>
}

/**
 * @param settings settings that differ from wrangler.toml
 * @param options `empty`: on a database without tables
 */
export async function startCounter(settings: Record<string, unknown> = {}, { empty = false } = {}): Promise<Counter> {
  const response = await fetch(`${inject('databases')}${empty ? '' : '?migrate'}`, { method: 'POST' })
  if (!response.ok) throw new Error(await response.text())
  const { databaseUrl } = (await response.json()) as { databaseUrl: string }
  const db = openDatabase({ url: databaseUrl, deadlineMs: 60_000 })
  const worker = await startShippedWorker({ script: inject('shippedWorker'), databaseUrl, apiToken: TOKEN, settings })
  const url = worker.url + (settings.BASE_PATH ?? '')
  const counts = () => readCounts(db)
  const api = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(url + path, {
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
    url,
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
      const { outcome } = await rollUp(
        { db, totals: null },
        { pageSlots: 2_000, maxStatements: 1_000, maxSeconds: 50, at },
      )
      expect(outcome).toBe('complete')
    },
    async clear() {
      await new Promise((done) => setTimeout(done, QUIET_MS))
      for (const table of TABLES) await db.execute(`DELETE FROM ${table}`)
    },
    stop: () => worker.stop(),
  }
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
