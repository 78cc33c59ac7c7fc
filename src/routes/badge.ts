import type { Context } from 'hono'
import * as z from 'zod/mini'
import type { CounterType } from '../config/counter-types.ts'
import { RECENT_PERIOD_HOURS, type RecentPeriod } from '../counters/history/recent-period.ts'
import type { CounterAddress } from '../counters/keys/counter-address.ts'
import { countIn } from '../counters/read/read-counters.ts'
import { toJsonNumber } from '../database/values.ts'
import { callerOf } from '../http/caller.ts'
import type { AppEnv } from '../http/context.ts'
import { typed } from '../http/endpoint.ts'
import { Hono } from '../http/hono.ts'
import { decodeKey, pathType, rawPathKey } from '../http/path.ts'
import { logFailure } from '../http/problem-response.ts'
import { readImageQuery } from '../http/query-string.ts'
import { limitReading, readableByAll, revalidated } from '../http/reading.ts'
import { type Answer, operation, route } from '../openapi/contract.ts'
import { count, described, namedObject } from '../openapi/described.ts'
import { choice, once, parsed, prefixField } from '../service/fields.ts'
import { counterOfKey, listedPrefix } from '../service/named-counters.ts'
import { Problem, problemOf } from '../service/problem.ts'
import { readCounters, readRecent, readRecentSum, readSum } from '../service/read.ts'
import {
  BADGE_STYLES,
  type Badge,
  COLOR_RULE,
  drawBadge,
  isBadgeText,
  MAX_LABEL,
  parseColor,
  refusalText,
  SVG_HEADERS,
  showCount,
} from '../views/badge.ts'

const LABEL_RULE = `must have at most ${MAX_LABEL} characters, none of them a control character`
const PERIODS = ['all', ...(Object.keys(RECENT_PERIOD_HOURS) as RecentPeriod[])] as const

const look = () => ({
  label: once(z.optional(z.string().check(z.refine(isBadgeText, LABEL_RULE)))),
  color: once(z.optional(parsed(parseColor, COLOR_RULE))),
  label_color: once(z.optional(parsed(parseColor, COLOR_RULE))),
  period: once(z._default(choice(PERIODS), 'all')),
  compact: once(z._default(z.enum(['true', 'false'], { error: 'must be true or false' }), 'false')),
})

export const svgQuery = () => ({ ...look(), style: once(z._default(choice(BADGE_STYLES), 'flat')) })

export type SvgQuery = z.output<z.ZodMiniObject<ReturnType<typeof svgQuery>>>

// shields.io draws what the JSON says, and has one more style.
const jsonQuery = () => ({ ...look(), style: once(z.optional(choice([...BADGE_STYLES, 'social']))) })

export const WRONG = {
  400: 'The key or the query string is not percent-encoded UTF-8.',
  404: 'The type does not exist or is not public.',
  422: 'The key or a parameter is invalid. The badge says which.',
  429: 'Too many requests from this network.',
  503: 'The database is unavailable.',
}

/** The responses of a badge: itself, or one that shows the error, in a form that may depend on the status. */
function answersOf(badge: Omit<Answer, 'description'>, wrong: (status: number) => Omit<Answer, 'description'>) {
  const refusals = Object.entries(WRONG).map(([status, description]): [string, Answer] => [
    status,
    { description, ...wrong(Number(status)) },
  ])
  return {
    tag: 'Badges',
    answers: { 200: { description: 'The badge.', ...badge }, ...Object.fromEntries(refusals) },
    revalidated: true,
  } as const
}

function svgAnswers() {
  const contentType = 'image/svg+xml'
  return answersOf({ contentType }, () => ({ contentType, headers: ['Cache-Control'] }))
}

/** The JSON that the endpoint badge of shields.io expects (https://shields.io/badges/endpoint-badge). */
function jsonAnswers() {
  const shown = namedObject('ShieldsBadge', {
    schemaVersion: z.literal(1),
    label: z.string(),
    message: described(z.string(), 'The count, formatted for display.'),
    color: z.string(),
    labelColor: z.optional(z.string()),
    style: z.optional(z.string()),
    cacheSeconds: z.int(),
    count: described(
      z.optional(count),
      'The count as a number; left out for shields.io, which rejects unknown members.',
    ),
  })
  const wrong = namedObject('ShieldsError', {
    schemaVersion: z.literal(1),
    label: z.string(),
    message: described(z.string(), 'What went wrong.'),
    color: z.string(),
    isError: z.literal(true),
    cacheSeconds: z.int(),
  })
  return answersOf({ schema: shown }, (status) => ({
    schema: wrong,
    ...(status >= 429 && { headers: ['Retry-After'] }),
  }))
}

const REFUSED = { schemaVersion: 1, label: 'counter', color: 'red', isError: true, cacheSeconds: 300 }
/** An old badge is better than none. */
const CACHE_CONTROL = 'public, max-age=60, stale-while-revalidate=300, stale-if-error=86400'

const svgTotalBadge = route('get', '/badge/{type}.svg', 'anyone', {
  query: () => ({ ...svgQuery(), prefix: prefixField() }),
})

export const svgTotalBadgeContract = () =>
  operation(svgTotalBadge, {
    id: 'badgeTotalSvg',
    summary: 'Get the badge of a total as SVG',
    description: 'The sum of all counters of a type, or of those whose keys begin with a prefix.',
    ...svgAnswers(),
    examples: {
      badge: {
        summary: 'All downloads in the last 30 days',
        params: { type: 'download' },
        query: { period: 'month', label: 'downloads' },
        says: { 'Cache-Control': CACHE_CONTROL },
      },
    },
  })

const jsonTotalBadge = route('get', '/badge/{type}.json', 'anyone', {
  query: () => ({ ...jsonQuery(), prefix: prefixField() }),
})

export const jsonTotalBadgeContract = () =>
  operation(jsonTotalBadge, {
    id: 'badgeTotalJson',
    summary: 'Get the badge of a total for shields.io',
    description: 'The same as JSON for the endpoint badge of shields.io.',
    ...jsonAnswers(),
    examples: {
      unlisted: {
        summary: 'A prefix that the type does not list',
        params: { type: 'download' },
        query: { prefix: 'app-' },
        status: 422,
        answer: { ...REFUSED, message: 'prefix is not public' },
      },
    },
  })

const svgBadge = route('get', '/badge/{type}/{key}.svg', 'anyone', { query: svgQuery })

export const svgBadgeContract = () =>
  operation(svgBadge, {
    id: 'badgeSvg',
    summary: 'Get a badge as SVG',
    description:
      'Viewing a badge does not count. Errors are badges too: they show a message and have the matching status.',
    ...svgAnswers(),
    examples: {
      badge: {
        summary: 'Downloads in the last 7 days',
        params: { type: 'download', key: 'app-1.2.0.tgz' },
        query: { period: 'week', label: 'downloads', style: 'flat-square' },
        says: { 'Cache-Control': CACHE_CONTROL },
      },
      misspelt: {
        summary: 'An unknown color',
        params: { type: 'download', key: 'app-1.2.0.tgz' },
        query: { color: 'blurple' },
        status: 422,
        says: { 'Cache-Control': 'public, max-age=60' },
      },
    },
  })

const jsonBadge = route('get', '/badge/{type}/{key}.json', 'anyone', { query: jsonQuery })

export const jsonBadgeContract = () =>
  operation(jsonBadge, {
    id: 'badgeJson',
    summary: 'Get a badge for shields.io',
    description: 'JSON for the endpoint badge of shields.io. Use it as `https://img.shields.io/endpoint?url=…`.',
    ...jsonAnswers(),
    examples: {
      badge: {
        summary: 'All downloads',
        params: { type: 'download', key: 'never.tgz' },
        query: { label: 'downloads', color: 'green' },
        answer: { schemaVersion: 1, label: 'downloads', message: '0', color: 'green', cacheSeconds: 300, count: 0 },
      },
      unknownType: {
        summary: 'A type that is not configured',
        params: { type: 'nothing', key: 'app.tgz' },
        status: 404,
        answer: { ...REFUSED, message: 'not found' },
      },
    },
  })

/** The least that shields.io accepts. */
const SHIELDS_CACHE_SECONDS = 300

const routes = new Hono<AppEnv>()
routes.on(['GET', 'OPTIONS'], '/badge/:type/*', readableByAll)

/** Badges of public types. Every response is a badge, errors included: an image has no other way to report an error. */
export const badges = routes.get(
  '/badge/:type/*',
  revalidated,
  typed<
    typeof svgBadgeContract | typeof jsonBadgeContract | typeof svgTotalBadgeContract | typeof jsonTotalBadgeContract
  >(async (c) => {
    // Before decoding: a key may itself end in .svg, and the suffix of the path follows it.
    const path = rawPathKey(c)
    const isTotal = path === '' && !new URL(c.req.url).pathname.endsWith('/')
    const [, ofType, format] = /^(.*)\.(svg|json)$/s.exec(isTotal ? (c.req.param('type') ?? '') : path) ?? []
    if (ofType === undefined) return c.notFound()
    try {
      await limitReading(c)
      const shown = isTotal ? totalShown(c, ofType) : await counterShown(c, ofType)
      return format === 'svg' ? await svg(c, shown) : await json(c, shown)
    } catch (error) {
      const problem = problemOf(error)
      if (problem.status >= 500) logFailure(c, problem)
      return refusal(c, problem, format === 'svg')
    }
  }),
)

interface Shown {
  type: CounterType
  queries: { svg: typeof svgBadge | typeof svgTotalBadge; json: typeof jsonBadge | typeof jsonTotalBadge }
  countOf: (query: { period: RecentPeriod | 'all'; prefix?: string | undefined }) => Promise<bigint>
}

async function counterShown(c: Context<AppEnv>, rawKey: string): Promise<Shown> {
  if (rawKey.includes('/')) throw new Problem('not_found', { detail: 'A key is one segment.' })
  const type = publicType(c)
  const counter = await counterOfKey(c.get('isolate').addresses, type, decodeKey(rawKey))
  const queries = { svg: svgBadge, json: jsonBadge }
  return { type, queries, countOf: ({ period }) => countShown(c, counter, period) }
}

function totalShown(c: Context<AppEnv>, name: string): Shown {
  const type = publicType(c, name)
  const shown: Shown['countOf'] = async ({ period, prefix: asked }) => {
    const prefix = listedPrefix(type, asked)
    return countIn(
      period === 'all'
        ? (await readSum(callerOf(c), type, prefix, 'exact')).reading
        : await readRecentSum(callerOf(c), type, prefix, period),
    )
  }
  return { type, queries: { svg: svgTotalBadge, json: jsonTotalBadge }, countOf: shown }
}

/** The type that the path names. An image has no token, so other types do not exist for it. @throws {Problem} 404 */
export function publicType(c: Context<AppEnv>, name?: string): CounterType {
  const type = pathType(c, name)
  if (!type.public) throw new Problem('unknown_type', { detail: 'The type in the path is not configured.' })
  return type
}

async function svg(c: Context<AppEnv>, { type, queries, countOf }: Shown): Promise<Response> {
  const query = readImageQuery(c, queries.svg.query)
  const badge = badgeOf(type, await countOf(query), query)
  return c.body(drawBadge(badge), 200, { ...SVG_HEADERS, 'Cache-Control': CACHE_CONTROL })
}

export function badgeOf(type: CounterType, count: bigint, query: SvgQuery): Badge {
  return {
    label: query.label ?? type.unit,
    message:
      showCount(count, { compact: query.compact === 'true' }) + (query.period === 'all' ? '' : `/${query.period}`),
    color: query.color ?? 'blue',
    labelColor: query.label_color ?? 'grey',
    style: query.style,
  }
}

async function json(c: Context<AppEnv>, { type, queries, countOf }: Shown): Promise<Response> {
  const query = readImageQuery(c, queries.json.query)
  const count = await countOf(query)
  const { label, message, color } = badgeOf(type, count, { ...query, style: 'flat' })
  const answer = {
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
  return c.json(answer, 200, { 'Cache-Control': CACHE_CONTROL, Vary: 'User-Agent' })
}

export async function countShown(
  c: Context<AppEnv>,
  counter: CounterAddress,
  period: RecentPeriod | 'all',
): Promise<bigint> {
  if (period !== 'all') return readRecent(callerOf(c), counter, period)
  const { readings } = await readCounters(callerOf(c), [counter])
  return countIn(readings[0]!)
}

/** A badge that shows an error. It never repeats what the client sent. */
export function refusal(c: Context<AppEnv>, problem: Problem, drawn: boolean, message?: string): Response {
  const passes = problem.status >= 500 || problem.status === 429
  const text = message ?? refusalText(problem)
  const badge = { label: 'counter', message: text, color: passes ? 'lightgrey' : 'red' }
  const cacheControl = passes ? 'no-store' : 'public, max-age=60'
  const headers = { 'Cache-Control': cacheControl, ...problem.details.headers }
  if (drawn) {
    const image = drawBadge({ ...badge, labelColor: 'grey', style: 'flat' })
    return c.body(image, problem.status, { ...SVG_HEADERS, ...headers })
  }
  const answer = { schemaVersion: 1, ...badge, isError: true, cacheSeconds: SHIELDS_CACHE_SECONDS }
  return c.json(answer, problem.status, headers)
}
