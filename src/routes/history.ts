import type { Context } from 'hono'
import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import type { CounterType } from '../config.ts'
import { clockTime, type HistoryRange, historyRange, InvalidRange } from '../counters/history-range.ts'
import { readCounterHistory, readTypeHistory } from '../counters/read-history.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { describe } from '../openapi/operation.ts'
import { readQuery } from '../query.ts'
import { invalidRequest, pathCounter, pathType } from '../request.ts'
import { revalidated } from '../revalidation.ts'
import { historyOfCounter, historyOfType } from './history-api.ts'
import { mayRead, shared } from './public-reading.ts'

/** Seconds for which a history that is over may be kept: an import may still add to it. */
const PAST_MAX_AGE = 300
/** Milliseconds after its end from which on a period is over: a roll-up that began within it has ended. */
const OVER_MS = 900_000

const routes = new Hono<AppEnv>()
routes.on(['GET', 'OPTIONS'], ['/v1/counters/:type/:key/history', '/v1/types/:type/history'], shared)

/** What was counted when: of one counter, and of all counters of a type together. */
export const history = routes
  .get(
    '/v1/counters/:type/:key/history',
    revalidated,
    describe(historyOfCounter, async (c) => {
      const type = pathType(c)
      await mayRead(c, type)
      const { counter, key } = await pathCounter(c, type)
      const now = new Date()
      const range = askedRange(c, now)
      const { counts, adjustments } = await readCounterHistory(c.var.db, counter, range, now)
      const answer = {
        type: type.name,
        key,
        ...toAnswer(range, counts),
        adjustments: adjustments.map(({ at, kind, count }) => ({
          at: at.toISOString(),
          kind,
          count: toJsonNumber(count),
        })),
      }
      return c.json(answer, 200, { 'Cache-Control': cacheControl(type, range, now) })
    }),
  )
  .get(
    '/v1/types/:type/history',
    revalidated,
    describe(historyOfType, async (c) => {
      const type = pathType(c)
      await mayRead(c, type)
      const now = new Date()
      const range = askedRange(c, now)
      const counts = await readTypeHistory(c.var.db, type.recordType, range)
      const answer = { type: type.name, ...toAnswer(range, counts) }
      return c.json(answer, 200, { 'Cache-Control': cacheControl(type, range, now) })
    }),
  )

function askedRange(c: Context<AppEnv>, now: Date): HistoryRange {
  const { by, from, to, tz } = readQuery(c, historyOfCounter.query)
  try {
    return historyRange({ by, timeZone: tz, from, to }, now)
  } catch (error) {
    if (error instanceof InvalidRange) throw invalidRequest([{ field: error.field, message: error.message }])
    throw error
  }
}

function toAnswer({ by, timeZone, edges }: HistoryRange, counts: readonly bigint[]) {
  const times = edges.map((edge) => clockTime(edge, timeZone))
  const points = counts.map((count, index) => ({ start: times[index]!, count: toJsonNumber(count) }))
  return { by, timeZone, from: times[0]!, to: times.at(-1)!, points }
}

function cacheControl(type: CounterType, { edges }: HistoryRange, now: Date): string {
  const over = edges.at(-1)! < now.getTime() - OVER_MS
  return `${type.public ? 'public' : 'private'}, ${over ? `max-age=${PAST_MAX_AGE}` : 'no-cache'}`
}
