import { expect, it, vi } from 'vitest'
import { ROLL_UP_CRON } from '../../../src/config/config.ts'
import type { RateLimit } from '../../../src/visits/rate-limit.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker } from '../../harness/worker.ts'

/** Everything is a tenth of what is shipped: limits, budgets, and what the free plan's roll-up moves in a minute. */
const COUNTERS = {
  visit: {
    record_type: 1,
    public: true,
    allowed_origins: ['*'],
    dedupe_seconds: 80_000,
    new_keys_per_minute: 12,
  },
}
const MINUTES = 10
const NETWORKS = 50
const MINUTE_MS = 60_000
const AGENT = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }

/** The platform's rate limit by the stopped clock: the local one counts real minutes. */
class LimitByClock implements RateLimit {
  readonly #most: number
  readonly #used = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  async limit({ key }: { key: string }) {
    const of = `${Math.floor(Date.now() / MINUTE_MS)} ${key}`
    const used = (this.#used.get(of) ?? 0) + 1
    this.#used.set(of, used)
    return { success: used <= this.#most }
  }
}

stopClockOfFile()
const { db, worker } = sharedWorker({
  COUNTERS,
  PLAN: 'free',
  VISITOR_LIMIT: new LimitByClock(60),
  READER_LIMIT: new LimitByClock(120),
  NEW_KEY_LIMIT: new LimitByClock(1),
})

const hit = async (key: string, address: string) =>
  (await worker.hit('visit', key, { ...AGENT, 'CF-Connecting-IP': address })).headers.get('X-Hit')
const READER = { 'CF-Connecting-IP': '203.0.113.99' }
const read = async (key: string, headers: Record<string, string> = READER) =>
  (await worker.fetch(`/v1/counters/visit/${encodeURIComponent(key)}`, { headers })).json<{
    count: number
    consistency: string
  }>()

/** It sends thousands of requests, which takes vtgate on a busy machine longer than other tests may take. */
const TIMEOUT_MS = 300_000

it('For ten minutes, 50 networks of a /48 send all they can: others count, read, and get their new pages', {
  timeout: TIMEOUT_MS,
}, async () => {
  await worker.add('visit', { '/hot': 1, '/honest': 1 })
  worker.withBudgets({ rollUp: { pageSlots: 40 } })
  await worker.cron(ROLL_UP_CRON)
  let [hot, honest] = [1, 1]
  const consistencies: string[] = []
  for (let minute = 0; minute < MINUTES; minute++) {
    vi.setSystemTime(Date.now() + MINUTE_MS)
    // Its minutes are those of the database.
    await db.arrange('DELETE FROM new_key_budgets')
    // Each network sends more than its share of what the /48 may send.
    const visits = Array.from({ length: NETWORKS * 15 }, (_, i) => {
      const line = (i % NETWORKS) << 8
      return `2001:db8:48:${(line + minute * 15 + Math.floor(i / NETWORKS)).toString(16)}::1`
    })
    const strangers = visits.map((address, i) => hit(i % 5 === 0 ? `/invented/${minute}/${i}` : '/hot', address))
    const visitors = Array.from({ length: 20 }, (_, i) => hit('/honest', `198.51.${minute}.${i + 1}`))
    const readings = visits.map((address) =>
      worker.fetch('/v1/counters/visit/%2Fhot', { headers: { 'CF-Connecting-IP': address } }),
    )
    hot += (await Promise.all(strangers)).filter((said, i) => i % 5 !== 0 && said === 'counted').length
    expect(await Promise.all(visitors)).toEqual(Array(20).fill('counted'))
    honest += 20
    expect(await hit(`/new/${minute}`, `203.0.113.${minute + 1}`)).toBe('counted')
    for (const { status } of await Promise.all(readings)) expect([200, 429]).toContain(status)
    await worker.cron(ROLL_UP_CRON)
    const [statement, ...more] = await db.recording(async () => {
      const { consistency, count } = await read('/hot')
      if (consistency === 'exact') expect(count).toBe(hot)
      else expect(count).toBeLessThan(hot)
      consistencies.push(consistency)
    })
    expect(more).toEqual([])
    expect(statement!.rowsRead ?? 0).toBeLessThan(5_000)
    expect(await read('/honest')).toMatchObject({ count: honest, consistency: 'exact' })
  }
  // More than is added up for a stranger.
  expect(consistencies.at(-1)).toBe('rolled')
  expect(hot).toBeGreaterThan(2_000)
  expect(await read('/hot', { Authorization: `Bearer ${worker.env.API_TOKEN}` })).toMatchObject({
    count: hot,
    consistency: 'exact',
  })
})
