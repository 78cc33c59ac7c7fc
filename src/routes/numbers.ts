import * as v from 'valibot'
import type { CounterType } from '../config/counter-types.ts'
import { MAX_RANKED } from '../counters/history/ranking.ts'
import { toJson } from '../database/values.ts'
import { authorize, checkTypes } from '../http/authorization.ts'
import { callerOf } from '../http/caller.ts'
import { keepVisitorZone } from '../http/cookies.ts'
import type { HonoApp } from '../http/hono.ts'
import { revalidated } from '../http/reading.ts'
import { readQuery } from '../http/url.ts'
import { choice, limitField } from '../openapi/fields.ts'
import { CHART_UNIT_NAMES, PERIOD_NAMES } from '../periods.ts'
import type { Caller } from '../service/caller.ts'
import { configuredType } from '../service/named-counters.ts'
import { type AskedNumbers, counterNumbers, typeNumbers } from '../service/page-numbers.ts'
import { Problem } from '../service/problem.ts'
import { typesOf } from '../views/frame.ts'
import { refusedHit } from './dashboard.ts'

const DEFAULT_ROWS = 10

const numbersQuery = () => ({
  type: v.string(),
  key: v.optional(v.string()),
  period: v.optional(choice([...PERIOD_NAMES, 'custom']), '30d'),
  from: v.optional(v.string(), ''),
  to: v.optional(v.string(), ''),
  by: v.optional(choice(CHART_UNIT_NAMES)),
  tz: v.optional(v.string(), 'UTC'),
  find: v.optional(v.string(), ''),
  rows: limitField(MAX_RANKED, DEFAULT_ROWS, 'Maximum number of rows of the list'),
})

/** A page of the dashboard: of a type, or of the counter of a key. `types` are those that the visitor may see. */
interface Page {
  type: CounterType
  key?: string | undefined
  types: readonly CounterType[]
}

/**
 * All numbers of a page of the dashboard in one answer, for the command that waits for the first hit. It has no contract: it changes
 * with the pages, and programs have the API. It holds no current time, so its `ETag` changes only when something is counted.
 */
export const numbers = (app: HonoApp) =>
  app.get('/numbers', revalidated, async (c) => {
    await authorize(c, 'read')
    const { type: name, key, by = '', ...asked } = readQuery(c.req.url, numbersQuery)
    const type = configuredType(c.get('isolate'), name)
    if (type === undefined)
      throw new Problem('unknown_type', 'This type is not counted any more. Choose another one above.')
    checkTypes(c, name)
    const answer = await pageNumbers({ type, key, types: typesOf(c, c.get('token')!) }, callerOf(c), {
      ...asked,
      by,
      sort: '',
      skip: 0,
    })
    keepVisitorZone(c, asked.tz)
    const refused = refusedHit(c.get('isolate'), type)
    return c.body(toJson({ ...answer, refused }), 200, {
      'Cache-Control': 'private, no-cache',
      'Content-Type': 'application/json',
    })
  })

function pageNumbers({ type, key, types }: Page, caller: Caller, asked: AskedNumbers) {
  const source = { caller, asked, now: new Date(), isPublic: false }
  return key === undefined ? typeNumbers(source, type, types) : counterNumbers(source, { type, key, types })
}
