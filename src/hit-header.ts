import { createMiddleware } from 'hono/factory'
import type { AppEnv } from './app-env.ts'
import { Problem } from './problem.ts'

/**
 * Sees to it that every answer of a counting path says in `X-Hit` what became of it, failures included: `counted`,
 * `ignored; reason=…`, or `unknown`.
 */
export const tellHit = createMiddleware<AppEnv>(async (c, next) => {
  await next()
  if (c.res.headers.has('X-Hit')) return
  const code = c.error instanceof Problem ? c.error.code : 'error'
  c.res.headers.set('X-Hit', code === 'outcome_unknown' ? 'unknown' : `ignored; reason=${code}`)
})
