import type { Context } from 'hono'
import * as v from 'valibot'
import type { CounterType } from '../config/counter-types.ts'
import { readRuns } from '../counters/background-runs.ts'
import { DAY_MS } from '../counters/calendar.ts'
import { knownTimeZone } from '../counters/history/history-range.ts'
import type { TimeZone } from '../counters/history/time-zone.ts'
import { callerOf } from '../http/caller.ts'
import type { AppEnv, HonoApp } from '../http/hono.ts'
import { limitReading, revalidated } from '../http/reading.ts'
import { readQuery } from '../http/url.ts'
import * as fields from '../openapi/fields.ts'
import { PERIOD_NAMES, viewOf } from '../periods.ts'
import { InvalidInput } from '../schemas.ts'
import type { Caller } from '../service/caller.ts'
import type { AskedNumbers } from '../service/list-numbers.ts'
import { typeNumbers } from '../service/page-numbers.ts'
import { readForAll } from '../service/read.ts'
import { noPublicPage } from '../views/dashboard/plain-pages.ts'
import { publicPage } from '../views/dashboard/public-page.ts'
import { page, pageHeaders, siteOf, viewerOf } from '../views/frame.ts'
import { weeklyFeedOf } from './weekly-feed.ts'

/** Milliseconds for which a page may be cached, here too. */
const KEPT_MS = 30_000
const ROWS = 20

/** Strangers choose among periods, not among days: each choice is kept for a while, so it costs the database little. */
const publicQuery = () => ({
  period: v.optional(fields.choice(PERIOD_NAMES), '30d'),
  tz: v.optional(v.string(), 'UTC'),
})

/** The pages of types that have one for everybody (`public_page`), which say more than the API, and the weekly feeds of all types. */
export function stats(app: HonoApp): void {
  app.get('/stats/:type', pageHeaders, revalidated, async (c) => {
    const name = c.req.param('type')
    if (name.endsWith('.atom')) return weeklyFeedOf(c, name.slice(0, -'.atom'.length))
    const type = publicTypes(c).find((type) => type.name === name)
    if (type === undefined) {
      // Strangers must not learn what is counted.
      const viewer = await viewerOf(c)
      const known = viewer?.types.find((each) => each.name === name)
      return viewer && known ? page(c, noPublicPage(viewer, known), 404) : c.notFound()
    }
    await limitReading(c)
    const { period, tz } = readQuery(c.req.url, publicQuery, true)
    const view = { ...viewOf(''), period }
    const asked = { ...view, tz: publicTimeZone(tz), skip: 0, rows: ROWS }
    const caller = callerOf(c)
    const read = () => readNumbers(caller, type, publicTypes(c), asked)
    const { value: numbers, maxAge } = await readForAll(caller, ['page', type.name, period, asked.tz], KEPT_MS, read)
    const shown = publicPage({ ...siteOf(c), type, all: publicTypes(c), view, numbers })
    return page(c, shown, 200, { 'Cache-Control': `public, max-age=${maxAge}` })
  })
}

async function readNumbers(caller: Caller, type: CounterType, types: readonly CounterType[], asked: AskedNumbers) {
  const now = new Date()
  const [numbers, { verification }] = await Promise.all([
    typeNumbers({ caller, asked, now, isPublic: true }, type, types),
    readRuns(caller.db),
  ])
  return { ...numbers, checked: checkedText(verification.agreedAt, now, knownTimeZone(numbers.timeZone)) }
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
    throw new InvalidInput('tz', 'must be a multiple of 15 minutes')
  return name
}

function publicTypes(c: Context<AppEnv>): CounterType[] {
  return [...c.get('isolate').config.types.values()].filter(({ publicPage }) => publicPage)
}
