import type { Counter } from './visitor.ts'

const HOUR_MS = 3_600_000
/** Hours that are rolled up one by one; before them, days are imported. */
const HOURS = 60
const DAYS = 370

/** Pages, and how often they are seen compared to each other. */
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

/** Gives a Worker a year's past, the same every time: rolled up by the hour of late, imported by the day before that. */
export async function fillPast(counter: Counter, now: Date): Promise<void> {
  const thisHour = now.getTime() - (now.getTime() % HOUR_MS)
  const imported: { type: string; key: string; count: number; day: string }[] = []
  for (let day = DAYS; day > HOURS / 24; day--) {
    const at = new Date(thisHour - day * 24 * HOUR_MS)
    for (const { type, key, share } of counters()) {
      const count = Math.round(share * 9 * busy(at.getUTCDay(), day) * (1.6 - day / DAYS))
      imported.push({ type, key, count, day: at.toISOString().slice(0, 10) })
    }
  }
  for (let i = 0; i < imported.length; i += 1_000) {
    await counter.api('POST', '/v1/imports', { counters: imported.slice(i, i + 1_000) })
  }
  for (let hour = HOURS; hour >= 0; hour--) {
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

/** Less at weekends, and never twice the same. */
const busy = (weekday: number, nth: number) => (weekday % 6 === 0 ? 0.55 : 1) * (0.85 + ((nth * 7919) % 31) / 100)

/** More by day than by night. */
const daylight = (hour: number) => 0.35 + Math.max(0, Math.sin(((hour - 5) / 18) * Math.PI))
