import type { Context } from 'hono'
import { dayText, startOf } from '../counters/calendar.ts'
import { authorize, checkTypes } from '../http/authorization.ts'
import { callerOf } from '../http/caller.ts'
import { sessionToken } from '../http/cookies.ts'
import type { AppEnv } from '../http/hono.ts'
import { limitReading } from '../http/reading.ts'
import { OVER_MS } from '../service/history.ts'
import { readWeeks } from '../service/weekly-feed.ts'
import { siteOf } from '../views/frame.ts'
import { weeklyFeed } from '../views/weekly-feed.ts'

/** Seconds for which a feed may be cached, here too: it takes more rows than a page. An import may still add to its weeks. */
const MAX_AGE = 3_600

/** Answers with the weekly feed of a type: to everybody if it has a page for everybody, otherwise to a token that may read it. */
export async function weeklyFeedOf(c: Context<AppEnv>, name: string): Promise<Response> {
  const [isolate, caller, { base, site }] = [c.get('isolate'), callerOf(c), siteOf(c)]
  const type = isolate.config.types.get(name)
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
  const { value: weeks, askedAt } = await isolate.kept.answer(['feed', name, end, await caller.hasToken()], {
    keptMs: MAX_AGE * 1_000,
    read: () => readWeeks(caller, type, now),
    waitUntil: caller.waitUntil,
  })
  const left = Math.max(0, MAX_AGE - Math.floor((Date.now() - askedAt) / 1_000))
  return c.body(weeklyFeed(new URL(c.req.url).origin + base, site, type, weeks, end), 200, {
    'Cache-Control': `${type.publicPage ? 'public' : 'private'}, max-age=${left}`,
    'Content-Type': 'application/atom+xml; charset=utf-8',
  })
}
