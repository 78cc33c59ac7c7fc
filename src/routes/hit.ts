import type { Context } from 'hono'
import * as v from 'valibot'
import type { Config } from '../config/config.ts'
import { pageKey } from '../counters/keys/key-address.ts'
import { ignoredBecause } from '../hit-reasons.ts'
import { callerOf } from '../http/caller.ts'
import type { AppEnv, HonoApp } from '../http/hono.ts'
import { readJson } from '../http/json-body.ts'
import { HttpProblem, reportedXHit, xHitOf } from '../http/problem-response.ts'
import { rememberedQueries } from '../http/url.ts'
import { visitorOf } from '../http/visitor.ts'
import { isolateOf } from '../isolate.ts'
import { COUNTING, operation, route, userAgent } from '../openapi/contract.ts'
import * as fields from '../openapi/fields.ts'
import { flag, strictObject } from '../schemas.ts'
import { countVisit, type Visit } from '../service/count-visit.ts'
import { configuredType, counterOfKey } from '../service/named-counters.ts'
import { invalidRequest } from '../service/problem.ts'

const hitQuery = () => ({
  type: fields.named.type,
  key: v.string('must be given, as text'),
  automated: v.pipe(
    v.optional(v.picklist(['0', '1'], 'must be 0 or 1'), '0'),
    v.transform((value) => value === '1'),
  ),
})

const visitor = () => userAgent(', nor are programs such as curl. A request without this header is counted.')

const HIT_NOTES = {
  key: 'The key, in the query percent-encoded. Encoded paths count under their decoded form: `/caf%C3%A9` under `/café`.',
  automated: 'Whether a program controls the browser: `navigator.webdriver`.',
}

const postHit = route('post', '/hit', 'anyone', {
  query: hitQuery,
  body: {
    schema: () => strictObject({ ...fields.named, automated: flag }, 'must be an object with type and key'),
    // Fits a type's name and a key of 512 bytes, escaped as \u00xx.
    maxBytes: 8 * 1024,
    // sendBeacon and requests that must not need a preflight send text/plain.
    contentTypes: ['application/json', 'text/plain'],
  },
  tellsHit: true,
})

export const hitContract = () =>
  operation(postHit, 'Counting', 'hit', {
    summary: 'Count a view',
    description:
      'Counts one view from a browser. The type’s `allowed_origins` must include the page’s origin. Send type and key in the query, ' +
      'which is faster, or in the body. JSON may be sent as text/plain, as `navigator.sendBeacon` does.',
    notes: HIT_NOTES,
    headers: visitor(),
    either: true,
    answers: { 204: { description: 'Accepted. `X-Hit` says whether the view was counted.' } },
    problems: COUNTING,
  })

export const pixelContract = () =>
  operation(route('get', '/hit.gif', 'anyone', { query: hitQuery, tellsHit: true }), 'Counting', 'hitPixel', {
    summary: 'Count a view with an image',
    description:
      'For pages without scripts. The response is always an image. `X-Hit` says whether the view was counted.',
    notes: HIT_NOTES,
    headers: visitor(),
    answers: {
      200: {
        description: 'A transparent pixel, even if the view was not counted.',
        contentType: 'image/gif',
      },
    },
  })

const readHitQuery = rememberedQueries(postHit.query)
const readPixelQuery = rememberedQueries(hitQuery, true)

/** The hot path. No middlewares: each copies the response's headers. What they add is added where needed. */
export function hit(app: HonoApp): void {
  app.options('/hit', (c) => {
    const headers = new Headers([
      ...crossOrigin(isolateOf(c.env).config, c.req.header('Origin')),
      ['Access-Control-Allow-Methods', 'POST'],
      ['Access-Control-Allow-Headers', 'Content-Type'],
      ['Access-Control-Max-Age', '86400'],
    ])
    return new Response(null, { status: 204, headers })
  })

  app.post('/hit', async (c) => {
    const isolate = isolateOf(c.env)
    c.set('isolate', isolate)
    const { config } = isolate
    try {
      // The query is faster: reading a body costs as much as the rest of a hit.
      const { url } = c.req
      const hit = url.includes('?') ? readHitQuery(url) : await readJson(c, postHit.body)
      // Created in advance: see CountOptions.answerReady.
      const counted = noContent(c, config, 'counted')
      const xHit = await countVisit(callerOf(c), await visitOf(c, hit))
      return xHit === 'counted' ? counted : noContent(c, config, xHit)
    } catch (error) {
      for (const [name, value] of crossOrigin(config, c.req.header('Origin'))) c.header(name, value)
      c.header('X-Hit', xHitOf(error))
      throw error
    }
  })

  // Always an image: a page must not show a broken one if counting fails.
  app.get('/hit.gif', async (c) => {
    const counted = pixel('counted')
    try {
      c.set('isolate', isolateOf(c.env))
      const hit = readPixelQuery(c.req.url)
      const xHit = await countVisit(callerOf(c), await visitOf(c, hit))
      return xHit === 'counted' ? counted : pixel(xHit)
    } catch (error) {
      return pixel(reportedXHit(c, error))
    }
  })
}

// Responses without a body belong to no request, and creating one is a tenth of the cost of a hit. By configuration, outcome and origin.
const kept = new WeakMap<Config, { any: boolean; answers: Map<string, Response> }>()

function noContent(c: Context<AppEnv>, config: Config, xHit: string): Response {
  let known = kept.get(config)
  if (known === undefined) {
    known = { any: allowedOrigins(config).includes('*'), answers: new Map() }
    kept.set(config, known)
  }
  const { any, answers } = known
  const origin = any ? '*' : (c.req.header('Origin') ?? '')
  const id = any ? xHit : `${xHit} ${origin}`
  const answer = answers.get(id)
  if (answer !== undefined) return answer
  const headers = new Headers(crossOrigin(config, origin))
  headers.set('X-Hit', xHit)
  const made = new Response(null, { status: 204, headers })
  if (headers.has('Access-Control-Allow-Origin')) answers.set(id, made)
  return made
}

/** The smallest image that browsers accept: a transparent pixel, GIF89a. */
const PIXEL = Uint8Array.from(atob('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'), (character) =>
  character.charCodeAt(0),
)

// Copying headers is faster than creating them. The body of a response can be used only once.
const pixelHeaders = new Map<string, Headers>()

function pixel(xHit: string): Response {
  let headers = pixelHeaders.get(xHit)
  if (headers === undefined) {
    headers = new Headers({ 'Content-Type': 'image/gif', 'Cache-Control': 'no-store, max-age=0', 'X-Hit': xHit })
    pixelHeaders.set(xHit, headers)
  }
  return new Response(PIXEL, { headers })
}

type Hit = v.InferOutput<ReturnType<typeof postHit.body.schema>>

async function visitOf(c: Context<AppEnv>, { type: name, key: sent, automated }: Hit): Promise<Visit> {
  const isolate = c.get('isolate')
  const { addresses } = isolate
  const type = configuredType(isolate, name)
  if (type === undefined) {
    const { code, detail, errors } = invalidRequest([{ field: 'type', message: 'is not a configured counter type' }])
    throw new HttpProblem(code, detail, { 'X-Hit': ignoredBecause('type') }, errors)
  }
  const key = pageKey(sent)
  return {
    type,
    counter: addresses.cached(type, key) ?? (await counterOfKey(addresses, type, key)),
    visitor: visitorOf(c),
    purpose: 'page',
    automated,
    answerReady: true,
  }
}

/** CORS headers. The type may be in the body, so they admit the origins of every type; `countVisit` checks those of the type. */
function crossOrigin(config: Config, origin = ''): [string, string][] {
  const allowed = allowedOrigins(config)
  const expose: [string, string] = ['Access-Control-Expose-Headers', 'X-Hit']
  if (allowed.includes('*')) return [['Access-Control-Allow-Origin', '*'], expose]
  if (!allowed.includes(origin)) return [['Vary', 'Origin']]
  return [['Access-Control-Allow-Origin', origin], expose, ['Vary', 'Origin']]
}

function allowedOrigins({ types }: Config): string[] {
  return [...types.values()].flatMap((type) => type.allowedOrigins)
}
