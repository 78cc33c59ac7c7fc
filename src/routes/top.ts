import { Hono } from 'hono'
import * as z from 'zod'
import type { AppEnv } from '../app-env.ts'
import { startOf } from '../counters/calendar.ts'
import { MAX_TOP, readTop, type TopPeriod } from '../counters/top.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { once, readQuery } from '../query.ts'
import { invalidRequest, pathType } from '../request.ts'
import { revalidated } from '../revalidation.ts'
import { limitField } from './fields.ts'
import { mayRead, shared } from './public-reading.ts'

const TOP_PERIODS = ['day', 'week', 'month', 'all'] as const
const PERIOD_RULE = `must be one of ${TOP_PERIODS.join(', ')}`
const DATE_RULE = 'must be a date such as 2026-11-20, in the years 1970 to 2100'
/** Seconds for which a ranking may be kept, which is as of the last roll-up anyway. */
const MAX_AGE = 30

const topQuery = {
  period: once(z.enum(TOP_PERIODS, { error: PERIOD_RULE }).default('all')),
  date: once(
    z.iso
      .date({ error: DATE_RULE })
      .refine((date) => /^(19[7-9]|20|2100)/.test(date), DATE_RULE)
      .optional(),
  ),
  limit: once(limitField(MAX_TOP).default(10)),
}

/** Which counters were counted most. */
export const top = new Hono<AppEnv>()

top.on(['GET', 'OPTIONS'], '/v1/top/:type', shared)
top.get('/v1/top/:type', revalidated, async (c) => {
  const type = pathType(c)
  await mayRead(c, type)
  const { period, date, limit } = readQuery(c, topQuery)
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
})

function askedPeriod(period: (typeof TOP_PERIODS)[number], date: string | undefined, now: Date): TopPeriod {
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
