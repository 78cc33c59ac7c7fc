import { type Context, Hono } from 'hono'
import { cors } from 'hono/cors'
import type { RouterRoute } from 'hono/types'
import type { AppEnv } from '../app-env.ts'
import { type OpenApiDocument, openApiDocument } from '../openapi/document.ts'
import { describe } from '../openapi/operation.ts'
import { revalidated } from '../revalidation.ts'
import { referencePage } from '../views/reference/page.ts'
import { STYLE } from '../views/reference/style.ts'
import { readDocument, readReference } from './reference-api.ts'

/** It changes with a deployment only. */
const CACHE_CONTROL = 'public, max-age=300'
/** Stands in the page where the Worker's origin belongs. */
const ANY_ORIGIN = 'https://origin.invalid'

const shared = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD'],
  exposeHeaders: ['ETag', 'X-Request-Id'],
  maxAge: 86_400,
})

/**
 * The API's own description: for programs, and as a page.
 *
 * @param app whose routes are described; also those that are added to it later
 */
export function reference(app: { routes: readonly RouterRoute[] }) {
  // Made when they are first asked for, which in most isolates never happens, and kept: data that belongs to no request.
  let made: OpenApiDocument | undefined
  let json: string | undefined
  let page: string | undefined
  const document = () => {
    made ??= openApiDocument(app.routes)
    return made
  }

  const routes = new Hono<AppEnv>()
  routes.on(['GET', 'OPTIONS'], '/openapi.json', shared)
  return routes
    .get(
      '/openapi.json',
      revalidated,
      describe(readDocument, (c) => {
        json ??= JSON.stringify(document())
        // What c.json would make of it, but once.
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

/** Where the Worker is, for commands to copy. Names of hosts may hold what a shell takes for its own; no real one does. */
function originOf(c: Context<AppEnv>): string {
  const { origin } = new URL(c.req.url)
  return /^https?:\/\/[\w.:[\]-]+$/.test(origin) ? origin : 'https://YOUR-WORKER'
}

/** Nothing but the page's own style. */
async function policy(): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(STYLE))
  const style = btoa(String.fromCharCode(...new Uint8Array(hash)))
  return `default-src 'none'; style-src 'sha256-${style}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}
