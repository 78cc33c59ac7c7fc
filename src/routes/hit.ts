import type { Context } from 'hono'
import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import type { Config } from '../config.ts'
import { hitOf } from '../hit-header.ts'
import { type Isolate, isolateOf } from '../isolate.ts'
import { readShortJson } from '../json-body.ts'
import { log } from '../log.ts'
import { describe } from '../openapi/operation.ts'
import { logFailure, Problem } from '../problem.ts'
import { RememberedQueries } from '../query.ts'
import { invalidRequest, namedCounter } from '../request.ts'
import { PIXEL } from '../views/pixel.ts'
import { exclusionOf } from '../visits/exclusion.ts'
import { countVisit } from '../visits/visit.ts'
import { getPixel, postHit } from './hit-api.ts'

const BODY = {
  // A type's name and a key of 512 bytes, every one of them escaped as \u00xx, fit.
  maxBytes: 8 * 1024,
  contentTypes: postHit.body.contentTypes,
}

// Of both: they take the same.
const queries = new RememberedQueries(postHit.query)

const routes = new Hono<AppEnv>()

routes.options('/hit', (c) => {
  const { config } = isolateOf(c.env)
  const headers = new Headers(crossOrigin(config, c.req.header('Origin')))
  headers.set('Access-Control-Allow-Methods', 'POST')
  headers.set('Access-Control-Allow-Headers', 'Content-Type')
  headers.set('Access-Control-Max-Age', '86400')
  return new Response(null, { status: 204, headers })
})

/**
 * Counting from browsers: no token, one at a time, told why when a hit is not counted.
 *
 * This is the hot path. It is mounted before the middlewares and does without them, because each copies the response's
 * headers once more; what they add it adds itself, to failures only where that is enough.
 */
export const hit = routes
  .post(
    '/hit',
    describe(postHit, async (c) => {
      let isolate: Isolate | null = null
      try {
        isolate = isolateOf(c.env)
        // In the query, for those who can choose: reading a body costs as much as all the rest of a hit.
        const { url } = c.req
        const { type, key } = url.includes('?') ? queries.read(url) : await readShortJson(c, postHit.body.schema, BODY)
        // Made before it is known, because nothing can be made afterwards (CountOptions.answerReady).
        const counted = noContent(c, isolate.config, 'counted')
        const said = await countHit(c, isolate, type, key)
        return said === 'counted' ? counted : noContent(c, isolate.config, said)
      } catch (error) {
        const config = isolate?.config
        if (config) for (const [name, value] of crossOrigin(config, c.req.header('Origin'))) c.header(name, value)
        c.header('X-Hit', hitOf(error))
        throw error
      }
    }),
  )
  // An image is shown whatever became of the hit: a page must not look broken because counting failed.
  .get(
    '/hit.gif',
    describe(getPixel, async (c) => {
      // Hono answers HEAD as if it were GET; who asks for no image has not looked at it.
      if (c.req.method === 'HEAD') return pixel('ignored; reason=head')
      const counted = pixel('counted')
      const said = await countPixel(c).catch((error: unknown) => {
        if (!(error instanceof Problem)) log('error', 'pixel_not_counted', { error: String(error) })
        else if (error.status >= 500) logFailure(c, error)
        return hitOf(error)
      })
      return said === 'counted' ? counted : pixel(said)
    }),
  )

// The same few answers a million times: kept as they are, for each configuration, outcome, and origin that it allows. An
// answer without a body belongs to no request, and making one with its headers is a tenth of what a hit costs.
const kept = new WeakMap<Config, Map<string, Response>>()

function noContent(c: Context<AppEnv>, config: Config, said: string): Response {
  const origin = anyOrigin(config) ? '*' : (c.req.header('Origin') ?? '')
  let answers = kept.get(config)
  if (answers === undefined) {
    answers = new Map()
    kept.set(config, answers)
  }
  const id = `${said} ${origin}`
  const known = answers.get(id)
  if (known !== undefined) return known
  const headers = new Headers(crossOrigin(config, origin))
  headers.set('X-Hit', said)
  const answer = new Response(null, { status: 204, headers })
  if (headers.has('Access-Control-Allow-Origin')) answers.set(id, answer)
  return answer
}

// Its headers are taken over from what is kept as well, which is quicker than to make them; its body can be given out once only.
const pixelHeaders = new Map<string, Headers>()

function pixel(said: string): Response {
  let headers = pixelHeaders.get(said)
  if (headers === undefined) {
    headers = new Headers({ 'Content-Type': 'image/gif', 'Cache-Control': 'no-store, max-age=0', 'X-Hit': said })
    pixelHeaders.set(said, headers)
  }
  return new Response(PIXEL, { headers })
}

async function countPixel(c: Context<AppEnv>): Promise<string> {
  const { type, key } = queries.read(c.req.url)
  return countHit(c, isolateOf(c.env), type, key)
}

/**
 * Counts one hit, if it stands for a visitor, and once for each where the type asks for that.
 *
 * @returns what to say in `X-Hit`
 * @throws {Problem}
 */
async function countHit(c: Context<AppEnv>, isolate: Isolate, typeName: string, key: string | number): Promise<string> {
  const type = isolate.config.types.get(typeName)
  if (type === undefined) {
    const { code, details } = invalidRequest([{ field: 'type', message: 'is not a configured counter type' }])
    throw new Problem(code, { ...details, headers: { 'X-Hit': 'ignored; reason=type' } })
  }
  const remembered = typeof key === 'string' ? isolate.known.recall(type, key) : undefined
  const counter = remembered ?? (await namedCounter(isolate.known, type, key, 'key'))
  if (!isAllowed(c, type.allowedOrigins)) return 'ignored; reason=origin'
  const excluded = await exclusionOf(c, isolate, type)
  if (excluded !== null) return `ignored; reason=${excluded}`
  return countVisit(c, isolate, counter, {
    dedupeSeconds: type.dedupeSeconds ?? 0,
    advice: 'Views are not worth sending twice.',
    answerReady: true,
  })
}

function isAllowed(c: Context<AppEnv>, allowed: readonly string[]): boolean {
  if (allowed.includes('*')) return true
  const sender = c.req.header('Origin') ?? c.req.header('Referer')
  return sender !== undefined && URL.canParse(sender) && allowed.includes(new URL(sender).origin)
}

/**
 * What lets a page's script read the answer. The type is in the body, so this lets in every origin that some type allows;
 * the handler looks at the type's own.
 */
function crossOrigin(config: Config, origin: string | undefined): [string, string][] {
  const expose: [string, string] = ['Access-Control-Expose-Headers', 'X-Hit']
  if (anyOrigin(config)) return [['Access-Control-Allow-Origin', '*'], expose]
  for (const { allowedOrigins } of config.types.values()) {
    if (origin !== undefined && allowedOrigins.includes(origin)) {
      return [['Access-Control-Allow-Origin', origin], expose, ['Vary', 'Origin']]
    }
  }
  return [['Vary', 'Origin']]
}

function anyOrigin(config: Config): boolean {
  for (const { allowedOrigins } of config.types.values()) if (allowedOrigins.includes('*')) return true
  return false
}
