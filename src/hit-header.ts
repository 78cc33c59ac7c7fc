import { createMiddleware } from 'hono/factory'
import type { AppEnv } from './app-env.ts'
import { ConfigurationError } from './config.ts'
import { Problem } from './problem.ts'

/**
 * Sees to it that every answer of a counting path says in `X-Hit` what became of it, failures included: `counted`,
 * `ignored; reason=…`, or `unknown`.
 */
export const tellHit = createMiddleware<AppEnv>(async (c, next) => {
  await next()
  if (c.res.headers.has('X-Hit')) return
  c.res.headers.set('X-Hit', hitOf(c.error))
})

/** What `X-Hit` says of an error. */
export function hitOf(error: unknown): string {
  if (!(error instanceof Problem))
    return `ignored; reason=${error instanceof ConfigurationError ? 'configuration_invalid' : 'internal_error'}`
  if (error.code === 'outcome_unknown') return 'unknown'
  return error.details.headers?.['X-Hit'] ?? `ignored; reason=${error.code}`
}
