import type { Context } from 'hono'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import type { AppEnv } from '../app-env.ts'
import type { CounterType } from '../config.ts'
import type { Counter } from '../counters/counter.ts'
import { hash64 } from '../counters/hash.ts'
import { type Period, readPeriod } from '../counters/read-period.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { databaseProblem } from '../database-problem.ts'
import { describe } from '../openapi/operation.ts'
import { logFailure, Problem } from '../problem.ts'
import { readQuery } from '../query.ts'
import { readFor } from '../reading.ts'
import { decodeKey, namedCounter, pathType } from '../request.ts'
import { revalidated } from '../revalidation.ts'
import { type Badge, drawBadge } from '../views/badge.ts'
import { showCount } from '../views/badge-count.ts'
import { svgQuery } from './badge-query.ts'
import { jsonBadge, svgBadge } from './badges-api.ts'

/** Pages are looked at more often than their numbers matter; an old badge is better than none. */
const CACHE_CONTROL = 'public, max-age=60, stale-while-revalidate=300, stale-if-error=86400'
/** The least that shields.io accepts. */
const SHIELDS_CACHE_SECONDS = 300

/** What makes an image harmless where it is opened as a page, and lets every page embed it. */
const SVG_HEADERS = {
  'Content-Type': 'image/svg+xml; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

const shared = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD'],
  exposeHeaders: ['ETag', 'X-Request-Id'],
  maxAge: 86_400,
})

const routes = new Hono<AppEnv>()
routes.on(['GET', 'OPTIONS'], '/badge/:type/*', shared)

/**
 * Counts as badges for README pages: `/badge/:type/:key.svg`, and `.json` for shields.io to draw. Only for public types.
 * Whatever is wrong, the answer is a badge that says so: a page must not look broken, and images have no other way to talk.
 */
export const badges = routes.get(
  '/badge/:type/*',
  revalidated,
  describe([svgBadge, jsonBadge], async (c) => {
    // As it was sent: the suffix belongs to the path, and may also be the end of a key, with the path's own after it.
    const [key = '', ...beyond] = new URL(c.req.url).pathname.split('/').slice(3)
    const format = /\.(svg|json)$/.exec([key, ...beyond].join('/'))?.[1]
    if (format === undefined) return c.notFound()
    try {
      if (beyond.length > 0) throw new Problem('not_found', { detail: 'A key is one segment.' })
      const type = publicType(c)
      const name = decodeKey(key.slice(0, -1 - format.length))
      const counter = await namedCounter(c.var.known, type, name, 'key')
      return format === 'svg' ? await svg(c, type, counter) : await json(c, type, counter)
    } catch (error) {
      const problem = error instanceof DatabaseFailure ? databaseProblem(error) : error
      if (!(problem instanceof Problem)) throw error
      if (problem.status >= 500) logFailure(c, problem)
      return refusal(c, problem, format === 'svg')
    }
  }),
)

/** The type that the path names; the others are not there for anybody who has no token, and images have none. */
function publicType(c: Context<AppEnv>): CounterType {
  const type = pathType(c)
  if (!type.public) throw new Problem('unknown_type', { detail: 'The type in the path is not configured.' })
  return type
}

async function svg(c: Context<AppEnv>, type: CounterType, counter: Counter): Promise<Response> {
  const query = readQuery(c, svgBadge.query)
  const count = await countOf(c, counter, query.period)
  const badge: Badge = {
    label: query.label ?? labelOf(type),
    message: showCount(count, { compact: query.compact === 'true' }),
    color: query.color ?? 'blue',
    labelColor: query.label_color ?? 'grey',
    style: query.style,
  }
  // Of what is shown, not of its bytes, in which ids are drawn at random. Weak for the same reason.
  const tag = (await hash64(JSON.stringify(badge))).toString(16)
  return c.body(drawBadge(badge), 200, { ...SVG_HEADERS, 'Cache-Control': CACHE_CONTROL, ETag: `W/"${tag}"` })
}

async function json(c: Context<AppEnv>, type: CounterType, counter: Counter): Promise<Response> {
  const query = readQuery(c, jsonBadge.query)
  const count = await countOf(c, counter, query.period)
  const answer = {
    schemaVersion: 1,
    label: query.label ?? labelOf(type),
    message: showCount(count, { compact: query.compact === 'true' }),
    color: query.color ?? 'blue',
    ...(query.label_color !== undefined && { labelColor: query.label_color }),
    ...(query.style !== undefined && { style: query.style }),
    cacheSeconds: SHIELDS_CACHE_SECONDS,
    // shields.io shows "invalid properties: count" for a member that its schema does not have
    // (badges/shields, services/endpoint-common.js). Its servers give their name; all others get the number.
    ...(!/^shields/i.test(c.req.header('User-Agent') ?? '') && { count: toJsonNumber(count) }),
  }
  return c.json(answer, 200, { 'Cache-Control': CACHE_CONTROL, Vary: 'User-Agent' })
}

/** Reads the number that a badge shows. */
async function countOf(c: Context<AppEnv>, counter: Counter, period: Period | 'all'): Promise<bigint> {
  if (period !== 'all') return readPeriod(c.var.db, counter, period, new Date())
  const { readings } = await readFor(c, [counter])
  const [reading] = readings
  return reading!.total + reading!.pending
}

function labelOf(type: CounterType): string {
  return type.name.replaceAll('_', ' ')
}

/** The badge that says what is wrong. Nothing of what was sent comes back in it. */
function refusal(c: Context<AppEnv>, problem: Problem, drawn: boolean): Response {
  const badge = { label: 'counter', message: saidOf(problem), color: problem.status < 500 ? 'red' : 'lightgrey' }
  const cacheControl = problem.status < 500 ? 'public, max-age=60' : 'no-store'
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
  // The rules are ours; of the names, only those that are ours too.
  if (code === 'invalid_request' && wrong !== undefined) {
    const ours = wrong.field === 'key' || Object.hasOwn(svgQuery, wrong.field)
    return ours ? `${wrong.field} ${wrong.message}` : 'unknown parameter'
  }
  if (status === 404) return 'not found'
  return status === 503 ? 'unavailable' : 'error'
}
