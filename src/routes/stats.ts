import type { Context } from 'hono'
import * as z from 'zod/mini'
import { basePathOf } from '../config/bindings.ts'
import { shownCompanion } from '../config/companions.ts'
import type { CounterType } from '../config/counter-types.ts'
import { PERIOD_NAMES, type PeriodName } from '../counters/history/comparison.ts'
import { knownTimeZone } from '../counters/history/range.ts'
import { InvalidInput } from '../field-errors.ts'
import { callerOf } from '../http/caller.ts'
import type { AppEnv } from '../http/context.ts'
import { Hono } from '../http/hono.ts'
import { readQuery } from '../http/query-string.ts'
import { limitReading, revalidated } from '../http/reading.ts'
import { once } from '../service/fields.ts'
import { publicPage } from '../views/dashboard/public-page.ts'
import { guarded } from './dashboard.ts'
import type { AskedNumbers } from './numbers/numbers-query.ts'
import { typeNumbers } from './numbers/type-numbers.ts'

/** Seconds for which a page may be cached. It changes with a deployment only. */
const PAGE_MAX_AGE = 60
/** Seconds for which its numbers may be cached, here too. They are as of the last roll-up anyway. */
const NUMBERS_MAX_AGE = 30
const ROWS = 20

/** Strangers choose among periods, not among days: each choice is kept for a while, so it costs the database little. */
const PUBLIC_PERIODS = PERIOD_NAMES.filter((name) => name !== 'custom') as Exclude<PeriodName, 'custom'>[]

const publicQuery = () => ({
  type: once(z.optional(z.string())),
  period: once(z._default(z.enum(PUBLIC_PERIODS), '30d')),
  tz: once(z._default(z.string(), 'UTC')),
})

/** The pages of types that have one for everybody (`public_page`). Such a type says more than its API, but nothing else. */
export const stats = new Hono<AppEnv>()

stats.get('/stats/:type', guarded, async (c) => {
  const type = publicType(c, c.req.param('type'))
  if (type === undefined) return c.notFound()
  c.header('Cache-Control', `public, max-age=${PAGE_MAX_AGE}`)
  return c.html(publicPage(basePathOf(c.env), type, publicTypes(c)))
})

stats.get('/stats/:type/numbers', revalidated, async (c) => {
  const type = publicType(c, c.req.param('type'))
  if (type === undefined) return c.notFound()
  await limitReading(c)
  const { period, tz } = readQuery(c, publicQuery)
  const timeZone = publicTimeZone(tz)
  const { value, askedAt } = await c.get('isolate').kept.answer(JSON.stringify(['page', type.name, period, timeZone]), {
    keptMs: NUMBERS_MAX_AGE * 1_000,
    read: () => readNumbers(c, type, { period, by: undefined, tz: timeZone, find: '', rows: ROWS }),
    waitUntil: (work) => c.executionCtx.waitUntil(work),
  })
  const left = Math.max(0, NUMBERS_MAX_AGE - Math.floor((Date.now() - askedAt) / 1_000))
  return c.json(value, 200, { 'Cache-Control': `public, max-age=${left}` })
})

async function readNumbers(c: Context<AppEnv>, type: CounterType, asked: AskedNumbers) {
  const { config } = c.get('isolate')
  const source = { db: callerOf(c).db, asked, now: new Date(), config, recent: null }
  const [ofType, ofRow] = (['type', 'counter'] as const).map((of) => shownCompanion(type, publicTypes(c), of))
  const { timeZone, figures, chart, total, list, also } = await typeNumbers(source, type, { ofType, ofRow })
  // Named one by one, so that what is added for the dashboard stays there.
  return { timeZone, figures, chart, total, list, ...(also && { also }) }
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
