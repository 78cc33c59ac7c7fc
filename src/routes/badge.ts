import { type Context, Hono } from 'hono'
import type { CounterType } from '../config/counter-types.ts'
import type { RecentPeriod } from '../counters/history/recent-period.ts'
import { hash64 } from '../counters/ids.ts'
import type { CounterAddress } from '../counters/keys/counter-address.ts'
import { countIn } from '../counters/read/read-counters.ts'
import { toJsonNumber } from '../database/values.ts'
import { callerOf } from '../http/caller.ts'
import type { AppEnv } from '../http/context.ts'
import { describe } from '../http/endpoint.ts'
import { decodeKey, pathType, rawPathKey } from '../http/path.ts'
import { logFailure } from '../http/problem-response.ts'
import { readQuery } from '../http/query-string.ts'
import { limitReading, readableByAll, revalidated } from '../http/reading.ts'
import { counterOfKey, listedPrefix } from '../service/named-counters.ts'
import { Problem, problemOf } from '../service/problem.ts'
import { readCounters, readRecent, readRecentTotal, readTotal } from '../service/read.ts'
import { type Badge, drawBadge, showCount } from '../views/badge.ts'
import {
  CACHE_CONTROL,
  jsonBadge,
  type jsonBadgeContract,
  jsonTotalBadge,
  type jsonTotalBadgeContract,
  type SvgQuery,
  svgBadge,
  type svgBadgeContract,
  svgQuery,
  svgTotalBadge,
  type svgTotalBadgeContract,
} from './badge-contract.ts'

/** The least that shields.io accepts. */
const SHIELDS_CACHE_SECONDS = 300

/** Makes an image harmless if it is opened as a page, and lets every page embed it. */
export const SVG_HEADERS = {
  'Content-Type': 'image/svg+xml; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

const routes = new Hono<AppEnv>()
routes.on(['GET', 'OPTIONS'], '/badge/:type/*', readableByAll)

/**
 * Counts as badges for README pages: `/badge/:type/:key.svg`, `/badge/:type.svg` for totals, and `.json` for shields.io to draw. Only
 * for public types. Every answer is a badge, errors included: a page must not look broken, and an image has no other way to report
 * an error.
 */
export const badges = routes.get(
  // Also without a key.
  '/badge/:type/*',
  revalidated,
  describe<
    typeof svgBadgeContract | typeof jsonBadgeContract | typeof svgTotalBadgeContract | typeof jsonTotalBadgeContract
  >([svgTotalBadge, jsonTotalBadge, svgBadge, jsonBadge], async (c) => {
    // Not decoded yet: the suffix is part of the path. A key may also end in a suffix, in front of the path's own.
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

/** What a badge shows. */
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
        ? (await readTotal(callerOf(c), type, prefix, 'exact')).reading
        : await readRecentTotal(callerOf(c), type, prefix, period),
    )
  }
  return { type, queries: { svg: svgTotalBadge, json: jsonTotalBadge }, countOf: shown }
}

/** The type that the path names. Types that are not public do not exist for images, which have no token. */
export function publicType(c: Context<AppEnv>, name?: string): CounterType {
  const type = pathType(c, name)
  if (!type.public) throw new Problem('unknown_type', { detail: 'The type in the path is not configured.' })
  return type
}

async function svg(c: Context<AppEnv>, { type, queries, countOf }: Shown): Promise<Response> {
  const query = readQuery(c, queries.svg.query)
  const badge = badgeOf(type, await countOf(query), query)
  // A hash of what is shown, because the bytes contain random ids. Weak for the same reason.
  const tag = (await hash64(JSON.stringify(badge))).toString(16)
  return c.body(drawBadge(badge), 200, { ...SVG_HEADERS, 'Cache-Control': CACHE_CONTROL, ETag: `W/"${tag}"` })
}

/** The badge of a count, as it was asked for. */
export function badgeOf(type: CounterType, count: bigint, query: SvgQuery): Badge {
  return {
    label: query.label ?? type.name.replaceAll('_', ' '),
    message: showCount(count, { compact: query.compact === 'true' }),
    color: query.color ?? 'blue',
    labelColor: query.label_color ?? 'grey',
    style: query.style,
  }
}

async function json(c: Context<AppEnv>, { type, queries, countOf }: Shown): Promise<Response> {
  const query = readQuery(c, queries.json.query)
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
    // shields.io shows "invalid properties: count" for a member that its schema does not have
    // (badges/shields, services/endpoint-common.js). Its servers give their name; all others get the number.
    ...(!/^shields/i.test(c.req.header('User-Agent') ?? '') && { count: toJsonNumber(count) }),
  }
  return c.json(answer, 200, { 'Cache-Control': CACHE_CONTROL, Vary: 'User-Agent' })
}

/** The number that the badge of a counter shows. */
export async function countShown(
  c: Context<AppEnv>,
  counter: CounterAddress,
  period: RecentPeriod | 'all',
): Promise<bigint> {
  if (period !== 'all') return readRecent(callerOf(c), counter, period)
  const { readings } = await readCounters(callerOf(c), [counter])
  return countIn(readings[0]!)
}

/** A badge that says what is wrong. It never repeats what the client sent. */
export function refusal(c: Context<AppEnv>, problem: Problem, drawn: boolean, message = saidOf(problem)): Response {
  // Soon, or for somebody else, the answer may be a count.
  const passes = problem.status >= 500 || problem.status === 429
  const badge = { label: 'counter', message, color: passes ? 'lightgrey' : 'red' }
  const cacheControl = passes ? 'no-store' : 'public, max-age=60'
  const headers = { 'Cache-Control': cacheControl, ...problem.details.headers }
  if (drawn) {
    const image = drawBadge({ ...badge, labelColor: 'grey', style: 'flat' })
    return c.body(image, problem.status, { ...SVG_HEADERS, ...headers })
  }
  const answer = { schemaVersion: 1, ...badge, isError: true, cacheSeconds: SHIELDS_CACHE_SECONDS }
  return c.json(answer, problem.status, headers)
}

function saidOf({ code, status, details }: Problem): string {
  if (code === 'malformed_key') return 'key is not percent-encoded UTF-8'
  if (code === 'malformed_query') return 'query is not percent-encoded UTF-8'
  if (code === 'not_found') return 'write / in the key as %2F'
  const [wrong] = details.errors ?? []
  // The rules are our own text. A field name is repeated only if it is one of ours.
  if (code === 'invalid_request' && wrong !== undefined) {
    const ours = wrong.field === 'key' || Object.hasOwn(svgQuery(), wrong.field)
    // How to list it is for the owner, not for an image.
    if (wrong.field === 'prefix' && wrong.message.startsWith('is not public')) return 'prefix is not public'
    return ours ? `${wrong.field} ${wrong.message}` : 'unknown parameter'
  }
  if (code === 'too_many_keys') return 'too many keys'
  if (status === 404) return 'not found'
  if (status === 429) return 'too many requests'
  return status === 503 ? 'unavailable' : 'error'
}
