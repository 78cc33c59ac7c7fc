import { createMiddleware } from 'hono/factory'
import type { AppEnv } from './context.ts'
import { problemOf } from './problem-of.ts'

/**
 * Adds `X-Hit` to every response of a path that counts, failures included: `counted`, `queued`, `ignored; reason=…` or
 * `unknown`.
 */
export const tellHit = createMiddleware<AppEnv>(async (c, next) => {
  await next()
  if (c.res.headers.has('X-Hit')) return
  c.res.headers.set('X-Hit', hitOf(c.error))
})

/** What `X-Hit` says about an error. */
export function hitOf(error: unknown): string {
  const { code, details } = problemOf(error)
  if (code === 'outcome_unknown') return 'unknown'
  return details.headers?.['X-Hit'] ?? `ignored; reason=${code}`
}
