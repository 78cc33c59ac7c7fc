import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { log } from '../log.ts'
import { type Problem, problemOf } from '../service/problem.ts'
import type { AppEnv } from './hono.ts'

/** The problem document (RFC 9457), with the headers that the response already has (request id, CORS). */
export function problemResponse(c: Context<AppEnv>, problem: Problem): Response {
  const document = { ...problem.report, requestId: c.get('requestId') }
  return c.body(JSON.stringify(document), problem.status, {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    ...problem.details.headers,
  })
}

/** The problem of an error. Logs it if it is not the client's fault. */
export function reported(c: Context<AppEnv>, error: unknown): Problem {
  const problem = problemOf(error)
  if (problem.status >= 500) logFailure(c, problem)
  return problem
}

/** Logs a problem with the underlying error. */
export function logFailure(c: Context<AppEnv>, problem: Problem): void {
  log('error', problem.code, {
    requestId: c.get('requestId'),
    path: new URL(c.req.url).pathname,
    error: problem.reason,
  })
}

/** Adds `X-Hit` to the failures of a path that counts. */
export const tellHit = createMiddleware<AppEnv>(async (c, next) => {
  await next()
  if (!c.res.headers.has('X-Hit')) c.res.headers.set('X-Hit', hitOf(c.error))
})

/** The value of `X-Hit` for an error that the response hides. Logs it if it is not the visitor's fault. */
export function saidOf(c: Context<AppEnv>, error: unknown): string {
  return hitOf(reported(c, error))
}

/** The value of `X-Hit` for an error. */
export function hitOf(error: unknown): string {
  const { code, details } = problemOf(error)
  if (code === 'outcome_unknown') return 'unknown'
  return details.headers?.['X-Hit'] ?? `ignored; reason=${code}`
}
