import type { Context } from 'hono'
import * as v from 'valibot'
import type { CounterType } from '../config/counter-types.ts'
import { readRuns } from '../counters/background-runs.ts'
import { DAY_MS } from '../counters/calendar.ts'
import { knownTimeZone } from '../counters/history/history-range.ts'
import type { TimeZone } from '../counters/history/time-zone.ts'
import { toJson } from '../database/values.ts'
import { callerOf, withinTime } from '../http/caller.ts'
import type { AppEnv, HonoApp } from '../http/hono.ts'
import { limitReading, revalidated } from '../http/reading.ts'
import { readQuery } from '../http/url.ts'
import { choice } from '../openapi/fields.ts'
import { PERIOD_NAMES } from '../periods.ts'
import { InvalidInput } from '../schemas.ts'
import { type AskedNumbers, typeNumbers } from '../service/page-numbers.ts'
import { noPublicPage } from '../views/dashboard/plain-pages.ts'
import { publicPage } from '../views/dashboard/public-page.ts'
import { guarded, page, siteOf, viewerOf } from './dashboard.ts'

/** Seconds for which a page may be cached. */
const PAGE_MAX_AGE = 60
/** Seconds for which its numbers may be cached, here too. They are as of the last roll-up anyway. */
const NUMBERS_MAX_AGE = 30
const ROWS = 20
/** What the page shows without its script. */
const SHOWN_BY_ITSELF = { period: '30d', tz: 'UTC' } as const

/** Strangers choose among periods, not among days: each choice is kept for a while, so it costs the database little. */
const publicQuery = () => ({
  type: v.optional(v.string()),
  period: v.optional(choice(PERIOD_NAMES), '30d'),
  tz: v.optional(v.string(), 'UTC'),
})

/** Milliseconds that the page waits for its numbers. */
const MAX_WAIT_MS = 1_000

/** The pages of types that have one for everybody (`public_page`). Such a type says more than its API, but nothing else. */
export function stats(app: HonoApp): void {
  app.get('/stats/:type', guarded, async (c) => {
    const name = c.req.param('type')
    const type = publicType(c, name)
    if (type === undefined) {
      // Strangers must not learn what is counted.
      const viewer = await viewerOf(c)
      const known = viewer?.types.find((each) => each.name === name)
      return viewer && known ? page(c, 404, noPublicPage(viewer, known)) : c.notFound()
    }
    const reading = limitReading(c).then(() => keptNumbers(c, type, SHOWN_BY_ITSELF))
    // If they cannot be read soon, the script of the page tells what is wrong.
    const soon = reading.then(({ value }) => value).catch(() => null)
    const numbers = await withinTime(c, soon, MAX_WAIT_MS, null)
    c.header('Cache-Control', numbers === null ? 'no-store' : `public, max-age=${PAGE_MAX_AGE}`)
    const { origin } = new URL(c.req.url)
    return c.html(publicPage({ ...siteOf(c), origin, type, all: publicTypes(c), numbers }))
  })

  app.get('/stats/:type/numbers', revalidated, async (c) => {
    const type = publicType(c, c.req.param('type'))
    if (type === undefined) return c.notFound()
    await limitReading(c)
    const { period, tz } = readQuery(c.req.url, publicQuery)
    const timeZone = publicTimeZone(tz)
    const { value, askedAt } = await keptNumbers(c, type, { period, tz: timeZone })
    const left = Math.max(0, NUMBERS_MAX_AGE - Math.floor((Date.now() - askedAt) / 1_000))
    return c.body(toJson(value), 200, {
      'Cache-Control': `public, max-age=${left}`,
      'Content-Type': 'application/json',
    })
  })
}

/** Numbers that all visitors share for a while. */
function keptNumbers(c: Context<AppEnv>, type: CounterType, { period, tz }: Pick<AskedNumbers, 'period' | 'tz'>) {
  const read = async () => {
    const now = new Date()
    const asked = { period, from: '', to: '', by: '', tz, find: '', sort: '', skip: 0, rows: ROWS } as const
    const source = { caller: callerOf(c), asked, now, isPublic: true }
    const [{ timeZone, figures, chart, total, list, also }, { verification }] = await Promise.all([
      typeNumbers(source, type, publicTypes(c)),
      readRuns(source.caller.db),
    ])
    const checked = checkedText(verification.agreedAt, now, knownTimeZone(timeZone))
    // Named one by one, so that what is added for the dashboard stays there.
    return { timeZone, figures, chart, total, list, checked, ...(also && { also }) }
  }
  return c.get('isolate').kept.answer(['page', type.name, period, tz], {
    keptMs: NUMBERS_MAX_AGE * 1_000,
    read,
    waitUntil: (work) => c.executionCtx.waitUntil(work),
  })
}

/** What may be said of the last check of all sums; `null`: nothing, if it was before yesterday. */
function checkedText(agreedAt: Date | null, now: Date, zone: TimeZone): string | null {
  if (agreedAt === null) return null
  const days = (zone.dateAt(now.getTime()) - zone.dateAt(agreedAt.getTime())) / DAY_MS
  const day = ['today', 'yesterday'][days]
  return day === undefined ? null : `Checked ${day}: every sum agrees.`
}

/** The canonical name: spellings share an answer. @throws {InvalidInput} also for offsets that no clock has */
function publicTimeZone(tz: string): string {
  const { name } = knownTimeZone(tz)
  if (/^[+-]/.test(name) && !/:(00|15|30|45)$/.test(name))
    throw new InvalidInput('tz', 'must be in quarters of an hour')
  return name
}

/** The type with a name, if it has a page for everybody. */
function publicType(c: Context<AppEnv>, name: string): CounterType | undefined {
  return publicTypes(c).find((type) => type.name === name)
}

function publicTypes(c: Context<AppEnv>): CounterType[] {
  return [...c.get('isolate').config.types.values()].filter(({ publicPage }) => publicPage)
}
