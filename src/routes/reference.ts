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
  // Made when it is first asked for: most isolates never are.
  let made: OpenApiDocument | undefined
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
      describe(readDocument, (c) => c.json({ ...document() }, 200, { 'Cache-Control': CACHE_CONTROL })),
    )
    .get(
      '/docs',
      revalidated,
      describe(readReference, async (c) =>
        c.body(String(await referencePage(document(), originOf(c))), 200, {
          'Content-Type': 'text/html; charset=utf-8',
          'Cache-Control': CACHE_CONTROL,
          'Content-Security-Policy': await policy(),
          'X-Content-Type-Options': 'nosniff',
          'Referrer-Policy': 'no-referrer',
        }),
      ),
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
