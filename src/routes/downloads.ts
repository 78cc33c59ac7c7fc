import { type Context, Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import type { CounterType } from '../config.ts'
import type { Counter } from '../counters/counter.ts'
import { hitOf, tellHit } from '../hit-header.ts'
import { isolateOf } from '../isolate.ts'
import { log } from '../log.ts'
import { describe } from '../openapi/operation.ts'
import { logFailure, Problem } from '../problem.ts'
import { decodeKey, namedCounter, pathType } from '../request.ts'
import { destinationOf } from '../visits/destination.ts'
import { exclusionOf } from '../visits/exclusion.ts'
import { startsElsewhere } from '../visits/range.ts'
import { countVisit } from '../visits/visit.ts'
import { download } from './downloads-api.ts'

/** Milliseconds that a download waits to be counted; counting goes on without it. */
const MAX_WAIT_MS = 500
/** What counts as one download, where its type says nothing: a double click (COUNTER Code of Practice, release 5, section 7.2). */
const DEDUPE_SECONDS = 30

/** Downloads: counted, then sent on to where the file is. */
export const downloads = new Hono<AppEnv>().get(
  '/d/:type/*',
  tellHit,
  describe(download, async (c) => {
    const type = pathType(c)
    if (type.redirectTo === null) {
      throw new Problem('not_found', {
        detail: 'This type has no downloads: redirect_to in its settings says where they are.',
      })
    }
    // The rest of the path, slashes and all.
    const key = decodeKey(new URL(c.req.url).pathname.split('/').slice(3).join('/'))
    const destination = destinationOf(type.redirectTo, key)
    if (destination === null) {
      throw new Problem('not_found', {
        detail: 'A download is a path of names, without empty ones, ".", "..", backslashes and control characters.',
      })
    }
    const counter = await namedCounter(c.var.known, type, key, 'key')
    const said = await withinBound(c, countDownload(c, type, counter))
    return new Response(null, {
      status: 302,
      headers: { Location: destination, 'Cache-Control': 'no-store', 'X-Hit': said },
    })
  }),
)

/** Counts a download, if it is one. Never fails. */
async function countDownload(c: Context<AppEnv>, type: CounterType, counter: Counter): Promise<string> {
  if (c.req.method === 'HEAD') return 'ignored; reason=head'
  if (startsElsewhere(c.req.header('Range'))) return 'ignored; reason=range'
  try {
    const isolate = isolateOf(c.env)
    const excluded = await exclusionOf(c, isolate, type, { downloads: true })
    if (excluded !== null) return `ignored; reason=${excluded}`
    const dedupeSeconds = type.dedupeSeconds ?? DEDUPE_SECONDS
    return await countVisit(c, isolate, counter, { dedupeSeconds, advice: 'The download goes on all the same.' })
  } catch (error) {
    if (!(error instanceof Problem)) log('error', 'download_not_counted', { error: String(error) })
    else if (error.status >= 500) logFailure(c, error)
    return hitOf(error)
  }
}

/** Waits for what is being counted, but not for long, and sees to it that it goes on. */
async function withinBound(c: Context<AppEnv>, counting: Promise<string>): Promise<string> {
  c.executionCtx.waitUntil(counting)
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(resolve, MAX_WAIT_MS, 'unknown')
  try {
    return await Promise.race([counting, late])
  } finally {
    clearTimeout(timer)
  }
}
