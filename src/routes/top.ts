import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { startOf } from '../counters/calendar.ts'
import { readTop, type TopPeriod } from '../counters/top.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { describe } from '../openapi/operation.ts'
import { readQuery } from '../query.ts'
import { invalidRequest, pathType } from '../request.ts'
import { revalidated } from '../revalidation.ts'
import { mayRead, shared } from './public-reading.ts'
import { topCounters } from './top-api.ts'

/** Seconds for which a ranking may be kept, which is as of the last roll-up anyway. */
const MAX_AGE = 30

const routes = new Hono<AppEnv>()
routes.on(['GET', 'OPTIONS'], '/v1/top/:type', shared)

/** Which counters were counted most. */
export const top = routes.get(
  '/v1/top/:type',
  revalidated,
  describe(topCounters, async (c) => {
    const type = pathType(c)
    await mayRead(c, type)
    const { period, date, limit } = readQuery(c, topCounters.query)
    const asked = askedPeriod(period, date, new Date())
    const counters = await readTop(c.var.db, type, asked, limit)
    return c.json(
      {
        type: type.name,
        period,
        ...bounds(asked),
        counters: counters.map(({ key, count }) => ({ key, count: toJsonNumber(count) })),
      },
      200,
      { 'Cache-Control': `${type.public ? 'public' : 'private'}, max-age=${MAX_AGE}` },
    )
  }),
)

function askedPeriod(period: TopPeriod['period'], date: string | undefined, now: Date): TopPeriod {
  if (period !== 'all') return { period, start: startOf(period, date === undefined ? now : new Date(date)) }
  if (date === undefined) return { period }
  throw invalidRequest([{ field: 'date', message: 'chooses a day, week or month: give the period too' }])
}

/** Where the period begins, and where the next one does. */
function bounds(top: TopPeriod): { start: string | null; end: string | null } {
  if (top.period === 'all') return { start: null, end: null }
  const end = new Date(top.start)
  if (top.period === 'month') end.setUTCMonth(end.getUTCMonth() + 1)
  else end.setUTCDate(end.getUTCDate() + (top.period === 'week' ? 7 : 1))
  return { start: top.start.toISOString(), end: end.toISOString() }
}
