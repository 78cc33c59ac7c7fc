import { beforeAll } from 'vitest'
import { type Counter, counterOfFile } from './shipped-worker.ts'

const HOUR_MS = 3_600_000
const DAYS = 370

/** Pages, with their relative number of views. */
const PAGES = {
  '/': 40,
  '/blog/counting': 21,
  '/blog/slots': 14,
  '/docs/install': 11,
  '/pricing': 7,
  '/blog/why-exact': 5,
  '/about': 3,
  '/docs/api': 3,
  '/contact': 2,
  '/blog/2019/hello': 1,
}
const FILES = { 'app-1.2.0.tgz': 9, 'app-1.1.4.tgz': 4, 'map.txt': 2, 'list.csv': 1 }

/** A key that is as wide as a key can be. */
export const LONG_KEY = 'W'.repeat(500)

/** A Worker for the tests of a file, with a year of counts, `LONG_KEY`, and a great count under `/big`. */
export function counterWithHistory(): Counter {
  const anybody = { public: true, public_page: true, allowed_origins: ['*'] }
  const counter = counterOfFile({
    COUNTERS: {
      page_view: {
        record_type: 1,
        ...anybody,
        title: 'Page views',
        unit: 'views',
        url: 'https://example.com',
        also: 'visitor',
        counting_badge: true,
      },
      download: { record_type: 2, ...anybody, redirect_to: '/files/' },
      visitor: { record_type: 3, ...anybody, dedupe_seconds: 86_400 },
    },
  })
  beforeAll(async () => {
    await counter.add('page_view', LONG_KEY, 2 ** 45)
    await counter.api('POST', '/v1/imports', {
      counters: [{ type: 'page_view', key: '/big', count: '9223372036854775000' }],
    })
    await fillHistory(counter, new Date(), { hours: 6 })
    await counter.api('PUT', `/v1/counters/page_view/${encodeURIComponent('/')}`, { count: 400_000 })
  })
  return counter
}

/**
 * Fills a Worker with the same year of history every time: imported days, followed by hours that are rolled up.
 *
 * @param options `hours`: how many are rolled up one by one
 */
export async function fillHistory(counter: Counter, now: Date, { hours = 60 } = {}): Promise<void> {
  const thisHour = now.getTime() - (now.getTime() % HOUR_MS)
  const imported: { type: string; key: string; count: number; day: string }[] = []
  for (let day = DAYS; day > hours / 24; day--) {
    const at = new Date(thisHour - day * 24 * HOUR_MS)
    for (const { type, key, share } of counters()) {
      const count = Math.round(share * 9 * busy(at.getUTCDay(), day) * (1.6 - day / DAYS))
      imported.push({ type, key, count, day: at.toISOString().slice(0, 10) })
    }
  }
  for (let i = 0; i < imported.length; i += 1_000) {
    await counter.api('POST', '/v1/imports', { counters: imported.slice(i, i + 1_000) })
  }
  for (let hour = hours; hour >= 0; hour--) {
    const at = new Date(thisHour - hour * HOUR_MS)
    const increments = counters().map(({ type, key, share }) => ({
      type,
      key,
      by: 1 + Math.round(share * daylight(at.getUTCHours()) * busy(at.getUTCDay(), hour)),
    }))
    await counter.api('POST', '/v1/increments', { increments })
    await counter.rollUp(hour > 0 ? at : now)
  }
  for (const { type, key, share } of counters().slice(0, 3)) await counter.add(type, key, share)
}

function counters() {
  const of = (type: string, shares: Record<string, number>) =>
    Object.entries(shares).map(([key, share]) => ({ type, key, share }))
  return [...of('page_view', PAGES), ...of('download', FILES)]
}

/** A factor that is lower at weekends and varies from day to day. */
const busy = (weekday: number, nth: number) => (weekday % 6 === 0 ? 0.55 : 1) * (0.85 + ((nth * 7919) % 31) / 100)

/** A factor that is higher by day than by night. */
const daylight = (hour: number) => 0.35 + Math.max(0, Math.sin(((hour - 5) / 18) * Math.PI))
