import type { Context } from 'hono'
import * as v from 'valibot'
import type { CounterType } from '../config/counter-types.ts'
import { type CounterAddress, counterId } from '../counters/counter-address.ts'
import { countIn, RECENT_DAYS, type RecentPeriod } from '../counters/read/read-counters.ts'
import { toJsonNumber } from '../database/values.ts'
import { callerOf, withinTime } from '../http/caller.ts'
import type { AppEnv, HonoApp } from '../http/hono.ts'
import { reportedXHit, xHitOf } from '../http/problem-response.ts'
import { rawPathKey, readQuery } from '../http/url.ts'
import { visitorOf } from '../http/visitor.ts'
import { count, described, namedObject, operation, route, userAgent, whole } from '../openapi/contract.ts'
import * as fields from '../openapi/fields.ts'
import { parsed, textThat } from '../schemas.ts'
import type { ParametersOf } from '../service/check-input.ts'
import { countVisit } from '../service/count-visit.ts'
import { listedPrefix } from '../service/named-counters.ts'
import { Problem } from '../service/problem.ts'
import { readCounters, readSum } from '../service/read.ts'
import {
  BADGE_STYLES,
  type Badge,
  COLOR_RULE,
  drawBadge,
  isBadgeText,
  MAX_LABEL,
  parseColor,
  SVG_HEADERS,
  showCompact,
} from '../views/badge.ts'
import { showCount } from '../views/english.ts'
import {
  answerImage,
  answersOf,
  type ImageSubject,
  images,
  refusal,
  SHIELDS_CACHE_SECONDS,
  svgAnswers,
  WRONG,
} from './images.ts'

const LABEL_RULE = `must have at most ${MAX_LABEL} characters, none of them a control character`
const PERIODS = ['all', ...(Object.keys(RECENT_DAYS) as RecentPeriod[])] as const

const badgeQuery = () => ({
  label: v.optional(textThat(LABEL_RULE, isBadgeText)),
  color: v.optional(parsed(parseColor, COLOR_RULE)),
  label_color: v.optional(parsed(parseColor, COLOR_RULE)),
  period: v.optional(fields.choice(PERIODS), 'all'),
  compact: fields.trueOrFalse(),
  style: v.optional(fields.choice(BADGE_STYLES)),
})

const BADGE_NOTES = {
  period: 'In UTC: today, or the last 7 or 30 days including today. `all`: all time.',
  style: 'Default: `flat`.',
}

const totalQuery = () => ({ ...badgeQuery(), prefix: fields.prefix() })

type BadgeQuery = ParametersOf<typeof badgeQuery>

/** The JSON that the endpoint badge of shields.io expects (https://shields.io/badges/endpoint-badge). */
function jsonAnswers() {
  const members = (messageMeans: string) => ({
    schemaVersion: v.literal(1),
    label: v.string(),
    message: described(v.string(), messageMeans),
    color: v.string(),
  })
  const shown = namedObject('ShieldsBadge', {
    ...members('The count, formatted for display.'),
    labelColor: v.optional(v.string()),
    style: v.optional(v.string()),
    cacheSeconds: whole,
    count: described(
      v.optional(count),
      'The count as a number; left out for shields.io, which rejects unknown members.',
    ),
  })
  const wrong = namedObject('ShieldsError', {
    ...members('What went wrong.'),
    isError: v.literal(true),
    cacheSeconds: whole,
  })
  return answersOf('The badge.', { schema: shown }, (status) => ({
    schema: wrong,
    ...(status >= 429 && { headers: ['Retry-After'] }),
  }))
}

export const svgTotalBadgeContract = () =>
  operation(route('get', '/badge/{type}.svg', 'anyone', { query: totalQuery }), 'Images', 'badgeTotalSvg', {
    summary: 'Get the badge of a total as SVG',
    description: 'The sum of all counters of a type, or of those whose keys begin with a prefix.',
    notes: BADGE_NOTES,
    ...svgAnswers('The badge.'),
  })

export const jsonTotalBadgeContract = () =>
  operation(route('get', '/badge/{type}.json', 'anyone', { query: totalQuery }), 'Images', 'badgeTotalJson', {
    summary: 'Get the badge of a total for shields.io',
    description: 'The same as JSON for the endpoint badge of shields.io.',
    notes: BADGE_NOTES,
    ...jsonAnswers(),
  })

export const svgBadgeContract = () =>
  operation(route('get', '/badge/{type}/{key}.svg', 'anyone', { query: badgeQuery }), 'Images', 'badgeSvg', {
    summary: 'Get a badge as SVG',
    description:
      'Viewing a badge does not count. Errors are badges too: they show a message and have the matching status.',
    notes: BADGE_NOTES,
    ...svgAnswers('The badge.'),
  })

export const jsonBadgeContract = () =>
  operation(route('get', '/badge/{type}/{key}.json', 'anyone', { query: badgeQuery }), 'Images', 'badgeJson', {
    summary: 'Get a badge for shields.io',
    description: 'JSON for the endpoint badge of shields.io. Use it as `https://img.shields.io/endpoint?url=…`.',
    notes: BADGE_NOTES,
    ...jsonAnswers(),
  })

/** Badges of public types. */
export const badges = images('/badge/:type/*', ['svg', 'json'], (c, subject, format) =>
  (format === 'svg' ? svg : json)(c, subject),
)

/** The count that an image shows. A prefix is for totals. */
async function countShown(
  c: Context<AppEnv>,
  { type, counter }: ImageSubject,
  { period, prefix }: { period: RecentPeriod | 'all'; prefix?: string | undefined },
): Promise<bigint> {
  const caller = callerOf(c)
  const which = period === 'all' ? 'exact' : period
  if (counter === null) return countIn((await readSum(caller, type, listedPrefix(type, prefix), which)).reading)
  return countIn((await readCounters(caller, [counter], which)).readings[0]!)
}

async function svg(c: Context<AppEnv>, subject: ImageSubject): Promise<string> {
  const query = readQuery(c.req.url, subject.counter === null ? totalQuery : badgeQuery, true)
  return drawBadge(badgeOf(subject.type, await countShown(c, subject, query), query))
}

function badgeOf(type: CounterType, count: bigint, query: BadgeQuery): Badge {
  return {
    label: query.label ?? type.unit,
    message:
      (query.compact === 'true' ? showCompact(count) : showCount(count)) +
      (query.period === 'all' ? '' : `/${query.period}`),
    color: query.color ?? 'blue',
    labelColor: query.label_color ?? 'grey',
    style: query.style ?? 'flat',
  }
}

async function json(c: Context<AppEnv>, subject: ImageSubject): Promise<object> {
  const query = readQuery(c.req.url, subject.counter === null ? totalQuery : badgeQuery, true)
  const count = await countShown(c, subject, query)
  const { label, message, color } = badgeOf(subject.type, count, query)
  return {
    schemaVersion: 1,
    label,
    message,
    color,
    ...(query.label_color !== undefined && { labelColor: query.label_color }),
    ...(query.style !== undefined && { style: query.style }),
    cacheSeconds: SHIELDS_CACHE_SECONDS,
    // shields.io refuses unknown members (badges/shields, services/endpoint-common.js). Its servers identify themselves.
    ...(!/^shields/i.test(c.req.header('User-Agent') ?? '') && { count: toJsonNumber(count) }),
  }
}

const countingRoute = () => route('get', '/hit/{type}/{key}.svg', 'anyone', { query: badgeQuery, tellsHit: true })

export const countingBadgeContract = () =>
  operation(countingRoute(), 'Counting', 'countingBadge', {
    summary: 'Count a view with a badge',
    description:
      'For README files and profiles. Counts one view and shows the count including it, or the count of the last roll-up if too many slots are pending. The type must have `counting_badge`. ' +
      'It is never cached and never de-duplicated, because image proxies such as GitHub’s hide the visitors. If the database is ' +
      'unavailable, it shows the last known count.',
    notes: BADGE_NOTES,
    headers: userAgent('. Here, the image proxies of GitHub and GitLab are not treated as bots.'),
    answers: {
      200: countingAnswer('The badge. `X-Hit` says whether the view was counted.'),
      400: countingAnswer(WRONG[400]),
      404: countingAnswer('The type does not exist, is not public, or has no counting badge.'),
      422: countingAnswer(WRONG[422]),
      429: countingAnswer(WRONG[429]),
    },
  })

function countingAnswer(description: string) {
  return { description, contentType: 'image/svg+xml', headers: ['Cache-Control'] } as const
}

/** Milliseconds that an image waits for its count. go-camo gives up after 4 s (`--timeout`). */
const MAX_WAIT_MS = 3_000

/** GitHub asks for `no-cache`, other caches for `max-age=0`; camo and go-camo pass it on. No ETag: a 304 would hide the next count. */
const NOT_CACHED = 'no-cache, no-store, max-age=0, must-revalidate'

/** The outcome, and the count to show; `null`: unknown, so that the badge shows the last one that this isolate knows. */
const LATE = { xHit: 'unknown', count: null as bigint | null }

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
  if (!type.countingBadge) return refused(c, new Problem('not_found', 'counting_badge is not set'))
  const query = readQuery(c.req.url, badgeQuery, true)
  const { xHit, count } = await withinTime(c, countAndRead(c, type, counter, query), MAX_WAIT_MS, LATE)
  const { shownCounts } = c.get('isolate')
  const id = `${counterId(counter)} ${query.period}`
  if (count !== null) shownCounts.set(id, count)
  const known = count ?? shownCounts.get(id)
  const badge = badgeOf(type, known ?? 0n, query)
  const image = drawBadge(known === undefined ? { ...badge, message: 'unavailable', color: 'lightgrey' } : badge)
  return c.body(image, 200, { ...SVG_HEADERS, 'Cache-Control': NOT_CACHED, 'X-Hit': xHit })
}

function refused(c: Context<AppEnv>, problem: Problem): Response {
  const { status, body, headers } = refusal(c, problem, true)
  const answer = new Response(body, { status: status >= 500 ? 200 : status, headers })
  answer.headers.set('Cache-Control', NOT_CACHED)
  answer.headers.set('X-Hit', xHitOf(problem))
  return answer
}

/** Counts a visit, and then reads the count. Proxies send no origin, so none is needed. Never fails. */
async function countAndRead(c: Context<AppEnv>, type: CounterType, counter: CounterAddress, query: BadgeQuery) {
  let xHit: string | undefined
  let count: bigint | null = null
  try {
    xHit = await countVisit(callerOf(c), { type, counter, visitor: visitorOf(c), purpose: 'image' })
    // A queued count cannot be read yet.
    if (xHit !== 'queued') count = await countShown(c, { type, counter }, query)
  } catch (error) {
    const failed = reportedXHit(c, error)
    xHit ??= failed
  }
  return { xHit, count }
}
