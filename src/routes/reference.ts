import { Hono } from 'hono'
import { cors } from 'hono/cors'
import type { RouterRoute } from 'hono/types'
import type { AppEnv } from '../app-env.ts'
import { type OpenApiDocument, openApiDocument } from '../openapi/document.ts'
import { describe } from '../openapi/operation.ts'
import { revalidated } from '../revalidation.ts'
import { readDocument } from './reference-api.ts'

/** It changes with a deployment only. */
const CACHE_CONTROL = 'public, max-age=300'

const shared = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD'],
  exposeHeaders: ['ETag', 'X-Request-Id'],
  maxAge: 86_400,
})

/**
 * The API's own description, for programs.
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
  return routes.get(
    '/openapi.json',
    revalidated,
    describe(readDocument, (c) => c.json({ ...document() }, 200, { 'Cache-Control': CACHE_CONTROL })),
  )
}
