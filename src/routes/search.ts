import { Hono } from 'hono'
import * as z from 'zod'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import { InvalidSearch, MAX_PAGE, type SearchPage, searchCounters } from '../counters/search.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { once, readQuery } from '../query.ts'
import { invalidRequest, pathType } from '../request.ts'
import { limitField } from './fields.ts'

const searchQuery = {
  prefix: once(z.string().default('')),
  after: once(z.string().optional()),
  limit: once(limitField(MAX_PAGE).default(20)),
}

/** Which keys there are. Only with the token, also of public types: some keys may be known to few. */
export const search = new Hono<AppEnv>()

search.get('/v1/search/:type', requireToken, async (c) => {
  const type = pathType(c)
  const { prefix, after = null, limit } = readQuery(c, searchQuery)
  const page: SearchPage = await searchCounters(c.var.db, type, { prefix, after, limit }).catch((error: unknown) => {
    if (error instanceof InvalidSearch) throw invalidRequest([{ field: error.field, message: error.message }])
    throw error
  })
  const counters = page.counters.map(({ key, count }) => ({ key, count: toJsonNumber(count) }))
  return c.json({ counters, next: page.next }, 200, { 'Cache-Control': 'no-store' })
})
