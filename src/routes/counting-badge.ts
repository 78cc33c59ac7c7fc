import type { Context } from 'hono'
import type { CounterType } from '../config/counter-types.ts'
import { type CounterAddress, counterId } from '../counters/keys/counter-address.ts'
import { callerOf, withinTime } from '../http/caller.ts'
import type { AppEnv, HonoApp } from '../http/hono.ts'
import { hitOf, saidOf } from '../http/problem-response.ts'
import { rawPathKey, readQuery } from '../http/url.ts'
import { visitorOf } from '../http/visitor.ts'
import { operation, route, userAgent } from '../openapi/contract.ts'
import { countVisit } from '../service/count-visit.ts'
import { Problem } from '../service/problem.ts'
import { drawBadge, SVG_HEADERS } from '../views/badge.ts'
import { badgeOf, countShown, type SvgQuery, svgQuery } from './badge.ts'
import { answerImage, refusal, WRONG } from './public-image.ts'

export const countingBadgeContract = () =>
  operation(route('get', '/hit/{type}/{key}.svg', 'anyone', { query: svgQuery }), {
    id: 'countingBadge',
    tag: 'Counting',
    summary: 'Count a view with a badge',
    description:
      'For README files and profiles. Counts one view and shows the count including it, or that of the last roll-up if very many slots are pending. The type must have `counting_badge`. ' +
      'It is never cached and never de-duplicated, because image proxies such as GitHub’s hide the visitors. If the database is ' +
      'unavailable, it shows the last known count.',
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
  })

function badge(description: string) {
  return { description, contentType: 'image/svg+xml', headers: ['Cache-Control', 'X-Hit'] } as const
}

/** Milliseconds that an image waits for its count. go-camo gives up after 4 s (`--timeout`). Counting continues without it. */
const MAX_WAIT_MS = 3_000

/**
 * GitHub asks for `no-cache` (docs.github.com, "About anonymized URLs"), other caches for `max-age=0`. Both proxies pass the header
 * on (server.coffee of atmos/camo, `ValidRespHeaders` of cactus/go-camo). No ETag: a 304 would replace the next count.
 */
const CACHE_CONTROL = 'no-cache, no-store, max-age=0, must-revalidate'

const NOT_SET = 'counting_badge is not set'

/** The outcome, and the count to show. `null`: unknown, so that the badge shows the last one that this isolate knows. */
interface Shown {
  said: string
  count: bigint | null
}

const LATE: Shown = { said: 'unknown', count: null }

/** Badges that count their viewers. Every response is an image, and 200 if the failure is ours: proxies show nothing for a 5xx. */
export const countingBadges = (app: HonoApp) =>
  app.get('/hit/:type/*', (c) => {
    // Totals have none.
    if (rawPathKey(c) === '') return c.notFound()
    return answerImage(
      c,
      ['svg'],
      ({ type, counter }) => countingBadge(c, type, counter!),
      (problem) => refused(c, problem),
    )
  })

async function countingBadge(c: Context<AppEnv>, type: CounterType, counter: CounterAddress): Promise<Response> {
  if (!type.countingBadge) return refused(c, new Problem('not_found', NOT_SET))
  const query = readQuery(c.req.url, svgQuery, true)
  const { said, count } = await withinTime(c, countAndRead(c, type, counter, query), MAX_WAIT_MS, LATE)
  const { shownCounts } = c.get('isolate')
  const id = `${counterId(counter)} ${query.period}`
  if (count !== null) shownCounts.set(id, count)
  const known = count ?? shownCounts.get(id)
  const badge = badgeOf(type, known ?? 0n, query)
  const image = drawBadge(known === undefined ? { ...badge, message: 'unavailable', color: 'lightgrey' } : badge)
  return c.body(image, 200, { ...SVG_HEADERS, 'Cache-Control': CACHE_CONTROL, 'X-Hit': said })
}

function refused(c: Context<AppEnv>, problem: Problem): Response {
  const { status, body, headers } = refusal(c, problem, true)
  const answer = new Response(body, { status: status >= 500 ? 200 : status, headers })
  answer.headers.set('Cache-Control', CACHE_CONTROL)
  answer.headers.set('X-Hit', hitOf(problem))
  return answer
}

/** Counts a visit, and then reads the count. Proxies send no origin, so none is needed. Never fails. */
async function countAndRead(
  c: Context<AppEnv>,
  type: CounterType,
  counter: CounterAddress,
  query: SvgQuery,
): Promise<Shown> {
  let said: string | null = null
  try {
    said = await countVisit(callerOf(c), { type, counter, visitor: visitorOf(c), purpose: 'image' })
    // A queued count cannot be read yet.
    if (said === 'queued') return { said, count: null }
    return { said, count: await countShown(c, { type, counter }, query) }
  } catch (error) {
    const failed = saidOf(c, error)
    return { said: said ?? failed, count: null }
  }
}
