import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { fillSampleSite, SAMPLE_COUNTERS } from '../../scripts/sample-site.ts'
import { openDatabase } from '../../src/database/database.ts'
import { startShippedWorker } from '../harness/miniflare.ts'
import { takeDatabase } from '../harness/taken-databases.ts'
import { builtWorker } from '../local/built-worker.ts'
import { settled } from './chromium.ts'

export const TOKEN = 'a-token-for-browsers'

/** The types of wrangler.toml. */
const SHIPPED_TYPES = { page_view: { record_type: 1 }, download: { record_type: 2 } }

/** The tables of counts, and the state of the roll-up. */
const TABLES = 'slotted_counters counter_history counter_periods type_history counter_adjustments rollup_state'

/** The Worker as it ships, on its own database. */
export type Counter = Awaited<ReturnType<typeof startCounter>>

/** Starts a Worker for a test. @param settings what differs from wrangler.toml @param options `empty`: without tables */
export async function startCounter(settings: Record<string, unknown> = {}, options: { empty?: boolean } = {}) {
  const { stop, ...counter } = await launch(settings, options)
  onTestFinished(stop)
  return counter
}

/** Starts one for the tests of a file. */
export function counterOfFile(settings: Record<string, unknown> = {}): Counter {
  const counter = {} as Awaited<ReturnType<typeof launch>>
  beforeAll(async () => void Object.assign(counter, await launch(settings)))
  afterAll(() => counter.stop?.())
  return counter
}

/** A Worker for the tests of a file, with the sample site: 13 months of 300 pages. */
export function sampleCounter(settings: Record<string, unknown> = {}): Counter {
  const counter = counterOfFile({ COUNTERS: SAMPLE_COUNTERS, ...settings })
  beforeAll(async () => {
    await fillSampleSite(counter.databaseUrl, new Date())
    // Makes the status well.
    expect(await counter.api('POST', '/v1/rollup')).toMatchObject({ outcome: 'complete' })
  })
  return counter
}

async function launch(settings: Record<string, unknown>, { empty = false } = {}) {
  const [{ databaseUrl }, script] = await Promise.all([takeDatabase({ empty }), builtWorker()])
  const db = openDatabase({ url: databaseUrl, deadlineMs: 60_000 })
  const worker = await startShippedWorker({ script, databaseUrl, apiToken: TOKEN, settings })
  const url = worker.url + (settings.BASE_PATH ?? '')
  const types = (settings.COUNTERS ?? SHIPPED_TYPES) as Record<string, { record_type: number }>
  const typeNames = new Map(Object.entries(types).map(([name, { record_type }]) => [record_type, name]))
  const counts = async (): Promise<Record<string, number>> => {
    const { rows } = await db.execute(
      `SELECT record_type, CONVERT(MAX(name) USING utf8mb4) AS name, SUM(parts.count) AS sum FROM (
         SELECT record_type, record_id, count FROM slotted_counters
         UNION ALL SELECT record_type, record_id, count FROM counters WHERE count <> 0
       ) AS parts LEFT JOIN counters USING (record_type, record_id) GROUP BY record_type, record_id`,
    )
    return Object.fromEntries(
      rows.map(({ record_type, name, sum }) => [`${typeNames.get(Number(record_type))} ${name}`, Number(sum)]),
    )
  }
  // Often, because most tests wait for it.
  const reaches = (expected: Record<string, number>) => expect.poll(counts, { interval: 20 }).toEqual(expected)
  const api = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const isJson = body !== undefined && { 'Content-Type': 'application/json' }
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Idempotency-Key': randomUUID(), ...isJson }
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) ?? null })
    const answer = await response.text()
    if (!response.ok) throw new Error(answer)
    return JSON.parse(answer)
  }
  return {
    stop: () => worker.stop(),
    /** Its origin, and its base path if the settings have one. */
    url,
    databaseUrl,
    /** All counts by `type key`, read from the database. */
    counts,
    /** Waits until the counts are as expected. A hit too many is found by a later `has`. */
    reaches,
    /** Waits until the counts are as expected, and checks that they stay so until `pages` have settled; without pages, for a while. */
    async has(expected: Record<string, number>, ...pages: Page[]): Promise<void> {
      await reaches(expected)
      if (pages.length === 0) await new Promise((done) => setTimeout(done, 600))
      await Promise.all(pages.map(settled))
      expect(await counts()).toEqual(expected)
    },
    async add(type: string, key: string, by: number): Promise<void> {
      await api('POST', `/v1/counters/${type}/${encodeURIComponent(key)}`, { by })
    },
    api,
    /** Deletes all counts. Hits that are still on their way count afterwards, so wait for them first. */
    async clear(): Promise<void> {
      await Promise.all(TABLES.split(' ').map((table) => db.execute(`DELETE FROM ${table}`)))
      // The Worker believes in the names.
      await db.execute('UPDATE counters SET count = 0, version = version + 1, rolled_up_at = NULL')
    },
  }
}
