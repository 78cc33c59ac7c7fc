import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { requireToken } from '../authorization.ts'
import { InvalidSearch, type SearchPage, searchCounters } from '../counters/search.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { describe } from '../openapi/operation.ts'
import { readQuery } from '../query.ts'
import { invalidRequest, pathType } from '../request.ts'
import { searchKeys } from './search-api.ts'

/** Which keys there are. Only with the token, also of public types: some keys may be known to few. */
export const search = new Hono<AppEnv>().get(
  '/v1/search/:type',
  requireToken,
  describe(searchKeys, async (c) => {
    const type = pathType(c)
    const { prefix, after = null, limit } = readQuery(c, searchKeys.query)
    const page: SearchPage = await searchCounters(c.var.db, type, { prefix, after, limit }).catch((error: unknown) => {
      if (error instanceof InvalidSearch) throw invalidRequest([{ field: error.field, message: error.message }])
      throw error
    })
    const counters = page.counters.map(({ key, count }) => ({ key, count: toJsonNumber(count) }))
    return c.json({ counters, next: page.next }, 200, { 'Cache-Control': 'no-store' })
  }),
)
