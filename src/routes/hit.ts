import { Hono } from 'hono'
import { cors } from 'hono/cors'
import * as z from 'zod'
import type { AppEnv } from '../app-env.ts'
import { count } from '../counters/count.ts'
import { countingProblem } from '../database-problem.ts'
import { tellHit } from '../hit-header.ts'
import { limitBody, readJson } from '../json-body.ts'
import { Problem } from '../problem.ts'
import { invalidRequest, namedCounter } from '../request.ts'
import { keyField, typeField } from './fields.ts'

/** A type's name and a key of 512 bytes, every one of them escaped as \u00xx, fit. */
const MAX_BODY_BYTES = 8 * 1024

const hitBody = z.strictObject({ type: typeField, key: keyField }, { error: 'must be an object with type and key' })

/** Counting from browsers: no token, one at a time, told why when a hit is not counted. */
export const hit = new Hono<AppEnv>()

hit.use(
  '/hit',
  cors({
    // The type is in the body, so this lets in every origin that some type allows; the handler looks at the type's own.
    origin: (origin, c) => {
      const allowed = [...c.var.config.types.values()].flatMap((type) => type.allowedOrigins)
      return allowed.includes('*') ? '*' : allowed.includes(origin) ? origin : null
    },
    allowMethods: ['POST'],
    allowHeaders: ['Content-Type'],
    exposeHeaders: ['X-Hit'],
    maxAge: 86_400,
  }),
)

hit.post('/hit', tellHit, limitBody(MAX_BODY_BYTES), async (c) => {
  // sendBeacon and requests that must not need a preflight send text/plain.
  const body = await readJson(c, hitBody, { contentTypes: ['application/json', 'text/plain'] })
  const type = c.var.config.types.get(body.type)
  if (type === undefined) {
    const { code, details } = invalidRequest([{ field: 'type', message: 'is not a configured counter type' }])
    throw new Problem(code, { ...details, headers: { 'X-Hit': 'ignored; reason=type' } })
  }
  const counter = await namedCounter(type, body.key, 'key')
  if (!isAllowed(type.allowedOrigins, c.req.header('Origin') ?? c.req.header('Referer'))) {
    return c.body(null, 204, { 'X-Hit': 'ignored; reason=origin' })
  }
  await count(c.var.counting, [{ counter, by: 1n }]).catch(countingProblem('Views are not worth sending twice.'))
  return c.body(null, 204, { 'X-Hit': 'counted' })
})

function isAllowed(allowed: readonly string[], sender: string | undefined): boolean {
  if (allowed.includes('*')) return true
  return sender !== undefined && URL.canParse(sender) && allowed.includes(new URL(sender).origin)
}
