import type { Context } from 'hono'
import { dayText, startOf } from '../counters/calendar.ts'
import { authorize, checkTypes } from '../http/authorization.ts'
import { callerOf } from '../http/caller.ts'
import { sessionToken } from '../http/cookies.ts'
import type { AppEnv } from '../http/hono.ts'
import { limitReading } from '../http/reading.ts'
import { OVER_MS } from '../service/history.ts'
import { readForAll } from '../service/read.ts'
import { readWeeks } from '../service/weekly-feed.ts'
import { siteOf } from '../views/frame.ts'
import { weeklyFeed } from '../views/weekly-feed.ts'

/** Milliseconds for which a feed may be cached, here too: it takes more rows than a page. An import may still add to its weeks. */
const KEPT_MS = 3_600_000

/** Answers with the weekly feed of a type: to everybody if it has a page for everybody, otherwise to a token that may read it. */
export async function weeklyFeedOf(c: Context<AppEnv>, name: string): Promise<Response> {
  const [caller, { base, site }] = [callerOf(c), siteOf(c)]
  const type = caller.isolate.config.types.get(name)
  if (!type?.publicPage) {
    // Strangers must not learn what is counted.
    if (c.req.header('Authorization') === undefined && (await sessionToken(c)) === null) return c.notFound()
    await authorize(c, 'read')
    if (type === undefined) return c.notFound()
    checkTypes(c, name)
  }
  await limitReading(c)
  // A week is over once every roll-up that began in it has ended.
  const now = new Date(Date.now() - OVER_MS)
  const end = dayText(startOf('week', now))
  // With a token, more rows are added up.
  const question = ['feed', name, end, await caller.hasToken()]
  const { value: weeks, maxAge } = await readForAll(caller, question, KEPT_MS, () => readWeeks(caller, type, now))
  return c.body(weeklyFeed(new URL(c.req.url).origin + base, site, type, weeks, end), 200, {
    'Cache-Control': `${type.publicPage ? 'public' : 'private'}, max-age=${maxAge}`,
    'Content-Type': 'application/atom+xml; charset=utf-8',
  })
}
