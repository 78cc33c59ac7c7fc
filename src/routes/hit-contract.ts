import * as z from 'zod/mini'
import { once } from '../http/query-string.ts'
import { documented, type Route } from '../openapi/contract.ts'
import { described } from '../openapi/described.ts'
import { COUNTING, exampleProblem } from '../openapi/problem-schema.ts'
import { TYPE_DESCRIPTION } from '../openapi/shared-schemas.ts'
import { keyField, typeField } from './request-fields.ts'

const parameter = (rule: string) => z.string({ error: rule })
const AUTOMATED = 'Whether a program drives the browser: `navigator.webdriver`.'
const hitQuery = {
  type: once(described(parameter('must be the name of a counter type'), TYPE_DESCRIPTION)),
  key: once(described(parameter('must be a key'), 'The key, percent-encoded.')),
  automated: once(
    described(
      z.pipe(
        z._default(z.enum(['0', '1'], { error: 'must be 0 or 1' }), '0'),
        z.transform((value) => value === '1'),
      ),
      AUTOMATED,
    ),
  ),
}

/** The header by which bots are recognized. */
const visitor = () => ({
  'User-Agent': described(
    z.optional(z.string()),
    'Clients that identify themselves as bots are not counted, nor are programs such as curl. A request without this header is counted.',
  ),
})
const FIREFOX = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }

export const postHit = {
  method: 'post',
  path: '/hit',
  access: 'anyone',
  query: hitQuery,
  body: {
    schema: z.strictObject(
      {
        type: described(typeField, TYPE_DESCRIPTION),
        key: described(keyField, 'The key, not percent-encoded.'),
        automated: described(z._default(z.boolean({ error: 'must be true or false' }), false), AUTOMATED),
      },
      { error: 'must be an object with type and key' },
    ),
    // Fits a type's name and a key of 512 bytes, each of them escaped as \u00xx.
    maxBytes: 8 * 1024,
    // sendBeacon and requests that must not need a preflight send text/plain.
    contentTypes: ['application/json', 'text/plain'],
  },
  problemHeaders: ['X-Hit'],
} as const satisfies Route

export const postHitContract = /* @__PURE__ */ documented(postHit, () => ({
  id: 'hit',
  tag: 'Counting',
  summary: 'Count a view',
  description:
    'Counts one view from a browser. The type’s `allowed_origins` must include the page’s origin. Send the type and the key in the ' +
    'query, which is faster, or in the body. JSON may be sent as text/plain, as `navigator.sendBeacon` does.',
  headers: visitor(),
  either: true,
  answers: { 204: { description: 'Accepted. `X-Hit` says whether the view was counted.', headers: ['X-Hit'] } },
  problems: [
    'malformed_body',
    'malformed_query',
    'body_too_large',
    'unsupported_media_type',
    'invalid_request',
    ...COUNTING,
  ],
  examples: {
    body: {
      summary: 'In the body',
      headers: FIREFOX,
      body: { type: 'page_view', key: '/blog/hello' },
      says: { 'X-Hit': 'counted' },
    },
    query: {
      summary: 'In the query',
      query: { type: 'page_view', key: '/blog/hello' },
      headers: FIREFOX,
      says: { 'X-Hit': 'counted' },
    },
    bot: {
      summary: 'A bot, which is not counted',
      query: { type: 'page_view', key: '/blog/hello' },
      headers: { 'User-Agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' },
      says: { 'X-Hit': 'ignored; reason=bot' },
    },
    automated: {
      summary: 'A browser that a program drives, which is not counted',
      query: { type: 'page_view', key: '/blog/hello', automated: '1' },
      headers: FIREFOX,
      says: { 'X-Hit': 'ignored; reason=automated' },
    },
    unknownType: {
      summary: 'A type that is not configured',
      headers: FIREFOX,
      body: { type: 'nothing', key: '/blog/hello' },
      status: 422,
      answer: exampleProblem('invalid_request', 'type is not a configured counter type.', [
        { field: 'type', message: 'is not a configured counter type' },
      ]),
      says: { 'X-Hit': 'ignored; reason=type' },
    },
  },
}))

export const getPixel = {
  method: 'get',
  path: '/hit.gif',
  access: 'anyone',
  query: hitQuery,
} as const satisfies Route

export const getPixelContract = /* @__PURE__ */ documented(getPixel, () => ({
  id: 'hitPixel',
  tag: 'Counting',
  summary: 'Count a view with an image',
  description: 'For pages without scripts. The response is always an image. `X-Hit` says whether the view was counted.',
  headers: visitor(),
  answers: {
    200: {
      description: 'A transparent pixel, even if the view was not counted.',
      contentType: 'image/gif',
      headers: ['X-Hit'],
    },
  },
  problems: [],
  examples: {
    pixel: {
      summary: 'A view',
      query: { type: 'page_view', key: '/blog/hello' },
      headers: FIREFOX,
      says: { 'X-Hit': 'counted' },
    },
    unknownType: {
      summary: 'A type that is not configured',
      query: { type: 'nothing', key: '/blog/hello' },
      headers: FIREFOX,
      says: { 'X-Hit': 'ignored; reason=type' },
    },
  },
}))
