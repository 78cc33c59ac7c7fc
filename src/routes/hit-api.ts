import * as z from 'zod'
import { typeParam } from '../openapi/fields.ts'
import type { Operation } from '../openapi/operation.ts'
import { COUNTING, exampleProblem } from '../openapi/problems.ts'
import { once } from '../query.ts'
import { keyField, typeField } from './fields.ts'

const parameter = (rule: string) => z.string({ error: rule })
const hitQuery = {
  type: once(parameter('must be the name of a counter type').describe(typeParam.description!)),
  key: once(parameter('must be a key').describe('The key, percent-encoded.')),
}

/** Who sends it decides whether it counts. */
const VISITOR = {
  'User-Agent': z
    .string()
    .optional()
    .describe('Who calls itself a bot is not counted, and programs such as curl are bots here. Without one it counts.'),
}
const FIREFOX = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }

export const postHit = {
  id: 'hit',
  tag: 'Counting',
  method: 'post',
  path: '/hit',
  summary: 'Count a view, from a browser',
  description:
    'Counts one, of a type whose `allowed_origins` let the page do so. Type and key stand either in the body or in the query, which is ' +
    'quicker. JSON may be sent as text/plain, as `navigator.sendBeacon` does.',
  access: 'anyone',
  query: hitQuery,
  headers: VISITOR,
  body: {
    schema: z.strictObject(
      { type: typeField.describe(typeParam.description!), key: keyField.describe('The key, as it is.') },
      { error: 'must be an object with type and key' },
    ),
    // sendBeacon and requests that must not need a preflight send text/plain.
    contentTypes: ['application/json', 'text/plain'],
  },
  either: true,
  answers: { 204: { description: 'Taken; `X-Hit` says whether it was counted.', headers: ['X-Hit'] } },
  problems: [
    'malformed_body',
    'malformed_query',
    'body_too_large',
    'unsupported_media_type',
    'invalid_request',
    ...COUNTING,
  ],
  problemHeaders: ['X-Hit'],
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
} as const satisfies Operation

export const getPixel = {
  id: 'hitPixel',
  tag: 'Counting',
  method: 'get',
  path: '/hit.gif',
  summary: 'Count a view, by an image',
  description: 'For pages without scripts. The answer is an image in any case; `X-Hit` says what became of the view.',
  access: 'anyone',
  query: hitQuery,
  headers: VISITOR,
  answers: {
    200: { description: 'A transparent pixel, whatever became of it.', contentType: 'image/gif', headers: ['X-Hit'] },
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
} as const satisfies Operation
