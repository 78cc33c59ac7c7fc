import { Temporal } from 'temporal-polyfill'

const HOUR_MS = 3_600_000
/** Local hours and days begin at a quarter of an hour in UTC. */
const QUARTER_MS = HOUR_MS / 4

/**
 * A time zone in which it is day: no day ends during a test, and the date is that of UTC. The two are twelve hours apart, and their
 * clocks are never changed.
 */
export function zoneByDay(): string {
  return new Date().getUTCHours() < 12 ? 'Asia/Tokyo' : 'America/Sao_Paulo'
}

/** The beginning of a day in a time zone. */
export function midnightIn(zone: string): (daysBack: number) => Date {
  return (daysBack) => {
    const day = Temporal.Now.plainDateISO(zone).subtract({ days: daysBack })
    return new Date(day.toZonedDateTime(zone).epochMilliseconds)
  }
}

/** Runs a check whose expectation changes with the hour, once more if an hour may have ended meanwhile, in any time zone. */
export async function withinAnHour(check: () => Promise<void>): Promise<void> {
  const quarter = () => Math.floor(Date.now() / QUARTER_MS)
  const began = quarter()
  try {
    await check()
  } catch (error) {
    if (quarter() === began) throw error
    await check()
  }
}

/** The date of an instant in a time zone, such as 2026-11-20. An hour belongs to the day in which it begins. */
export function dateIn(zone: string): (at: number) => string {
  // Swedish writes dates like that.
  const format = new Intl.DateTimeFormat('sv', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  return (at) => format.format(at)
}

/** The latest days before today with fewer or more than 24 hours, each with the hours in UTC that begin in it. */
export function oddDays(zone: string, now: number): { date: string; hours: number[] }[] {
  const dateOf = dateIn(zone)
  const days = new Map<string, number[]>()
  const thisHour = now - (now % HOUR_MS)
  for (let at = thisHour - 380 * 24 * HOUR_MS; at <= thisHour; at += HOUR_MS) {
    const date = dateOf(at)
    days.set(date, [...(days.get(date) ?? []), at])
  }
  return [...days]
    .slice(1, -1)
    .filter(([, { length }]) => length !== 24)
    .map(([date, hours]) => ({ date, hours }))
}

/** The date some days later. */
export function plusDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 24 * HOUR_MS).toISOString().slice(0, 10)
}
