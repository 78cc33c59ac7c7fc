import { type Context, Hono } from 'hono'
import * as z from 'zod/mini'
import type { AppEnv } from '../http/context.ts'
import { describe } from '../http/endpoint.ts'
import { revalidated } from '../http/etag.ts'
import { readableByAll } from '../http/reading-cors.ts'
import type { Operation } from '../openapi/contract.ts'
import { described } from '../openapi/described.ts'
import { type OpenApiDocument, openApiDocument } from '../openapi/document.ts'
import { referencePage } from '../views/reference/page.ts'
import { STYLE } from '../views/reference/style.ts'

const readDocument = {
  id: 'openapi',
  tag: 'Reference',
  method: 'get',
  path: '/openapi.json',
  summary: 'Get the OpenAPI document',
  description: 'The API as an OpenAPI 3.1 document, for tools and code generators.',
  access: 'anyone',
  answers: {
    200: {
      description: 'An OpenAPI 3.1 document.',
      schema: described(z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }), {
        id: 'OpenApi',
      }),
    },
  },
  revalidated: true,
  problems: [],
  examples: { document: { summary: 'The document', says: { 'Cache-Control': 'public, max-age=300' } } },
} as const satisfies Operation

const readReference = {
  id: 'docs',
  tag: 'Reference',
  method: 'get',
  path: '/docs',
  summary: 'Get the documentation',
  description:
    'A page made from the OpenAPI document, with commands to copy for every operation. It runs no scripts and loads nothing from other sites.',
  access: 'anyone',
  answers: {
    200: { description: 'The page.', contentType: 'text/html', headers: ['Content-Security-Policy'] },
  },
  revalidated: true,
  problems: [],
  examples: { page: { summary: 'The page', says: { 'Cache-Control': 'public, max-age=300' } } },
} as const satisfies Operation

/** Seconds; it changes only with a deployment. */
const CACHE_CONTROL = 'public, max-age=300'
/** Placeholder for the Worker's origin in the cached page. */
const ANY_ORIGIN = 'https://origin.invalid'

/**
 * The API's description: as OpenAPI for programs, and as a page.
 *
 * @param app the app to describe, including routes that are added later
 */
export function reference(app: { routes: readonly { handler: object }[] }) {
  // Created on the first request, which most isolates never get, and then kept.
  let made: OpenApiDocument | undefined
  let json: string | undefined
  let page: string | undefined
  const document = () => {
    made ??= openApiDocument(app.routes)
    return made
  }

  const routes = new Hono<AppEnv>()
  routes.on(['GET', 'OPTIONS'], '/openapi.json', readableByAll)
  return routes
    .get(
      '/openapi.json',
      revalidated,
      describe(readDocument, (c) => {
        json ??= JSON.stringify(document())
        // The same as c.json, but serialized once.
        return c.body(json, 200, { 'Content-Type': 'application/json', 'Cache-Control': CACHE_CONTROL }) as never
      }),
    )
    .get(
      '/docs',
      revalidated,
      describe(readReference, async (c) => {
        page ??= String(await referencePage(document(), ANY_ORIGIN))
        return c.body(page.replaceAll(ANY_ORIGIN, originOf(c)), 200, {
          'Content-Type': 'text/html; charset=utf-8',
          'Cache-Control': CACHE_CONTROL,
          'Content-Security-Policy': await policy(),
          'X-Content-Type-Options': 'nosniff',
          'Referrer-Policy': 'no-referrer',
        })
      }),
    )
}

/** The Worker's origin, for commands to copy. A host header may contain characters that a shell interprets; real hosts do not. */
function originOf(c: Context<AppEnv>): string {
  const { origin } = new URL(c.req.url)
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? origin : 'https://YOUR-WORKER'
}

/** Allows the page's own style and nothing else. */
async function policy(): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(STYLE))
  const style = btoa(String.fromCharCode(...new Uint8Array(hash)))
  return `default-src 'none'; style-src 'sha256-${style}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}
