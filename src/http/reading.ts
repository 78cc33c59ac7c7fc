import type { Context } from 'hono'
import { cors } from 'hono/cors'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import { Problem } from '../service/problem.ts'
import { exceedsLimit } from '../visits/rate-limit.ts'
import { isAuthorized } from './authorization.ts'
import type { AppEnv } from './hono.ts'
import { visitorOf } from './visitor.ts'

/** Adds an `ETag`. A 304 keeps the headers that scripts of other sites need. */
export const revalidated = etag({
  retainedHeaders: [
    ...RETAINED_304_HEADERS,
    'access-control-allow-origin',
    'access-control-expose-headers',
    'x-request-id',
  ],
})

const READING = {
  allowMethods: ['GET', 'HEAD'],
  // Never Authorization, which would let a page try tokens. Without a list, every header that is asked for would be allowed.
  allowHeaders: ['Cache-Control', 'If-None-Match', 'X-Request-Id'],
  exposeHeaders: ['ETag', 'X-Request-Id'],
  maxAge: 86_400,
}

/** Lets scripts of every site read a response. */
export const readableByAll = cors({ origin: '*', ...READING })

/** Lets scripts of every site read responses about public types, errors and 304 included. For paths with `:type`. */
export const readableIfPublic = cors({
  origin: (_, c: Context<AppEnv>) => {
    // A preflight for another method must not let a page send the token.
    const asked = c.req.header('Access-Control-Request-Method') ?? 'GET'
    const reads = asked === 'GET' || asked === 'HEAD'
    return reads && c.get('isolate').config.types.get(c.req.param('type') ?? '')?.public ? '*' : null
  },
  ...READING,
})

/** Keys of one request that count as one reading. */
const KEYS_PER_READING = 100

/** Refuses readings without a token above a network's limit. @param totals asked for; each is a reading @throws {Problem} 429 */
export async function limitReading(c: Context<AppEnv>, totals = 0): Promise<void> {
  const { readLimit } = c.get('isolate').config
  if (readLimit === null || (await isAuthorized(c))) return
  // All parameters: a name can be spelled in many ways, such as k%65y=.
  const keys = c.req.url.split('&').length + totals * KEYS_PER_READING
  const { address } = visitorOf(c)
  for (let read = 0; read < keys; read += KEYS_PER_READING) {
    if (!(await exceedsLimit(readLimit, address))) continue
    const detail = 'Your network reads counters too often. Wait a minute, or send the API token.'
    throw new Problem('too_many_requests', detail)
  }
}
