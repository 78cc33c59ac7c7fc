import { type Context, Hono } from 'hono'
import type { CounterType } from '../config/counter-types.ts'
import { type CounterAddress, counterId } from '../counters/keys/counter-address.ts'
import { callerOf } from '../http/authorization.ts'
import type { AppEnv } from '../http/context.ts'
import { typed } from '../http/endpoint.ts'
import { decodeKey, rawPathKey } from '../http/path.ts'
import { hitOf, logFailure, saidOf } from '../http/problem-response.ts'
import { readQuery } from '../http/query-string.ts'
import { limitReading } from '../http/reading.ts'
import { visitorOf, withinTime } from '../http/visit.ts'
import type { Operation, Route } from '../openapi/contract.ts'
import { COUNTER_PARAMS } from '../openapi/described.ts'
import { userAgent } from '../openapi/headers.ts'
import { countVisit, type Visit } from '../service/count.ts'
import { counterOfKey } from '../service/named-counters.ts'
import { Problem, problemOf } from '../service/problem.ts'
import { drawBadge, SVG_HEADERS } from '../views/badge.ts'
import { badgeOf, countShown, publicType, refusal, type SvgQuery, svgQuery, WRONG } from './badge.ts'

const countingBadge = {
  method: 'get',
  path: '/hit/{type}/{key}.svg',
  access: 'anyone',
  params: COUNTER_PARAMS,
  query: svgQuery,
} as const satisfies Route

export const countingBadgeContract = () =>
  ({
    ...countingBadge,
    id: 'countingBadge',
    tag: 'Counting',
    summary: 'Count a view with a badge',
    description:
      'For README files and profiles. Counts one view, and shows the count including it, or the one of the last roll-up if very much is pending. The type must have `counting_badge`. ' +
      'The badge is never cached and never de-duplicated, because image proxies such as GitHub’s hide the visitors. It is an ' +
      'image even if the database is unavailable: then it shows the last known count.',
    headers: userAgent('. Here, the image proxies of GitHub and GitLab are not treated as bots.'),
    answers: {
      200: badge('The badge. `X-Hit` says whether the view was counted.'),
      400: badge(WRONG[400]),
      404: badge('The type does not exist, is not public, or has no counting badge.'),
      422: badge(WRONG[422]),
      429: badge(WRONG[429]),
    },
    examples: {
      badge: {
        summary: 'A profile',
        params: { type: 'page_view', key: 'profile' },
        query: { label: 'visits' },
        headers: { 'User-Agent': 'github-camo (876de43e)' },
        says: { 'X-Hit': 'counted', 'Cache-Control': 'no-cache, no-store, max-age=0, must-revalidate' },
      },
      notSet: {
        summary: 'A type without counting badges',
        params: { type: 'download', key: 'app.tgz' },
        status: 404,
        says: { 'X-Hit': 'ignored; reason=not_found' },
      },
    },
  }) as const satisfies Operation

function badge(description: string) {
  return { description, contentType: 'image/svg+xml', headers: ['Cache-Control', 'X-Hit'] } as const
}

/** Milliseconds that an image waits for its count. go-camo gives up after 4 s (`--timeout`). Counting goes on without it. */
const MAX_WAIT_MS = 3_000

/**
 * GitHub asks for `no-cache` (docs.github.com, "About anonymized URLs"); a cache that looks at ages only needs `max-age=0`. Both
 * proxies hand the header on to the browser (server.coffee of atmos/camo, `ValidRespHeaders` of cactus/go-camo). There is no
 * ETag, so that nobody gets a 304 in place of the next count.
 */
const CACHE_CONTROL = 'no-cache, no-store, max-age=0, must-revalidate'

const NOT_SET = 'counting_badge is not set'

/** What became of a request, and the count to show; `null` if it is not known. */
interface Shown {
  said: string
  count: bigint | null
}

const LATE: Shown = { said: 'unknown', count: null }

/**
 * Badges that count those who look at them: `/hit/:type/:key.svg`. Every answer is an image. It is 200 if the failure is ours,
 * because proxies show nothing for a 5xx.
 */
export const countingBadges = new Hono<AppEnv>().get(
  '/hit/:type/*',
  typed<typeof countingBadgeContract>(async (c) => {
    const path = rawPathKey(c)
    if (!path.endsWith('.svg')) return c.notFound()
    try {
      await limitReading(c)
      if (path.includes('/')) throw new Problem('not_found', { detail: 'A key is one segment.' })
      const type = publicType(c)
      if (!type.countingBadge) return refused(c, new Problem('not_found', { detail: NOT_SET }), NOT_SET)
      const key = decodeKey(path.slice(0, -'.svg'.length))
      const counter = await counterOfKey(c.get('isolate').addresses, type, key)
      const query = readQuery(c, countingBadge.query)
      const { said, count } = await withinTime(c, countAndRead(c, type, counter, query), MAX_WAIT_MS, LATE)
      return c.body(draw(type, shownCount(c, counter, query, count), query), 200, {
        ...SVG_HEADERS,
        'Cache-Control': CACHE_CONTROL,
        'X-Hit': said,
      })
    } catch (error) {
      return refused(c, problemOf(error))
    }
  }),
)

function refused(c: Context<AppEnv>, problem: Problem, message?: string): Response {
  const { status, body, headers } = refusal(c, problem, true, message)
  const ours = status >= 500
  if (ours) logFailure(c, problem)
  const answer = new Response(body, { status: ours ? 200 : status, headers })
  answer.headers.set('Cache-Control', CACHE_CONTROL)
  answer.headers.set('X-Hit', hitOf(problem))
  return answer
}

function draw(type: CounterType, count: bigint | null, query: SvgQuery): string {
  if (count !== null) return drawBadge(badgeOf(type, count, query))
  return drawBadge({ ...badgeOf(type, 0n, query), message: 'unavailable', color: 'lightgrey' })
}

/** The count, or the one that this isolate showed last. */
function shownCount(
  c: Context<AppEnv>,
  counter: CounterAddress,
  { period }: SvgQuery,
  count: bigint | null,
): bigint | null {
  const { shownCounts } = c.get('isolate')
  const id = `${counterId(counter)} ${period}`
  if (count === null) return shownCounts.get(id) ?? null
  shownCounts.set(id, count)
  return count
}

/**
 * Counts a request, if it is a visit, and reads the count then. It needs no origin: proxies send none, and the owner asked for
 * badges. Never fails.
 */
async function countAndRead(
  c: Context<AppEnv>,
  type: CounterType,
  counter: CounterAddress,
  { period }: SvgQuery,
): Promise<Shown> {
  const visitor = visitorOf(c)
  const isHead = c.req.method === 'HEAD'
  const visit: Visit = {
    type,
    counter,
    visitor,
    purpose: 'image',
    isHead,
    dedupeSeconds: 0,
    advice: 'Do not retry a view.',
  }
  let said: string | null = null
  try {
    said = await countVisit(callerOf(c), visit)
    // What is in the queue cannot be read yet.
    if (said === 'queued') return { said, count: null }
    return { said, count: await countShown(c, counter, period) }
  } catch (error) {
    const failed = saidOf(c, error)
    return { said: said ?? failed, count: null }
  }
}
