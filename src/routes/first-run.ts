import * as v from 'valibot'
import type { CounterType } from '../config/counter-types.ts'
import { countIn, readCounters } from '../counters/read/read-counters.ts'
import { findCounters } from '../counters/read/search.ts'
import { toJsonNumber } from '../database/values.ts'
import { HIT_REASONS } from '../hit-reasons.ts'
import { authorize, checkTypes } from '../http/authorization.ts'
import { callerOf, finished } from '../http/caller.ts'
import type { HonoApp } from '../http/hono.ts'
import { pathType, readQuery } from '../http/url.ts'
import { type Isolate, rollUpNow } from '../isolate.ts'

const firstRunQuery = () => ({ type: v.string() })

/**
 * What the dashboard waits for while a type has no numbers: its first counter, which is rolled up at once, or why the latest hit did
 * not count. No hit has to look for it. It has no contract, as `/numbers`.
 */
export const firstRun = (app: HonoApp) =>
  app.post('/first-run', async (c) => {
    await authorize(c, 'read')
    const { type: name } = readQuery(c.req.url, firstRunQuery)
    const type = pathType(c, name)
    checkTypes(c, name)
    const { db, isolate } = callerOf(c)
    const { counters } = await findCounters(db, type, { prefix: '', after: null, limit: 1 })
    const [reading] = await readCounters(db, counters)
    // A name is stored before its counter counts.
    const isCounted =
      reading !== undefined && (reading.rolledUpAt !== null || reading.pending !== 0n || reading.total !== 0n)
    if (reading?.rolledUpAt === null && reading.pending !== 0n) {
      await finished(c, rollUpNow(isolate, new Date()))
    }
    const first = isCounted ? { key: counters[0]!.name, count: toJsonNumber(countIn(reading)) } : null
    return c.json({ first, refused: refusedHit(isolate, type) }, 200, { 'Cache-Control': 'no-store' })
  })

/** The latest hit that this isolate ignored, in words. */
function refusedHit({ ignoredHits }: Isolate, { name }: CounterType): string {
  const hit = ignoredHits.get(name)
  if (hit === undefined) return ''
  const { cause, advice } = HIT_REASONS[hit.reason]
  return `A hit${hit.origin === null ? '' : ` from ${hit.origin}`} was not counted. ${cause} ${advice}`
}
