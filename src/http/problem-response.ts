import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { isolateOf } from '../isolate.ts'
import { PROBLEMS, Problem, type ProblemCode, problemOf, reportOf } from '../service/problem.ts'
import type { AppEnv } from './hono.ts'

/** A problem whose answer has further headers. */
export class HttpProblem extends Problem {
  readonly headers: Record<string, string>

  constructor(code: ProblemCode, detail: string, headers: Record<string, string>, errors: Problem['errors'] = []) {
    super(code, detail, { errors })
    this.headers = headers
  }
}

/** The status and the headers of the answer to a problem. */
export function answerTo(problem: Problem) {
  const known = PROBLEMS[problem.code]
  return {
    status: known.status,
    headers: {
      'Cache-Control': 'no-store',
      ...('retryAfter' in known && { 'Retry-After': String(known.retryAfter) }),
      ...(problem instanceof HttpProblem && problem.headers),
    },
  }
}

/** The problem document (RFC 9457), with the headers that the response already has (request id, CORS). */
export function problemResponse(c: Context<AppEnv>, problem: Problem): Response {
  const { status, headers } = answerTo(problem)
  const document = { ...reportOf(problem), requestId: c.get('requestId') }
  return c.body(JSON.stringify(document), status, { 'Content-Type': 'application/problem+json', ...headers })
}

/** The problem of an error. Logs it, with the underlying error, if it is not the client's fault. */
export function reported(c: Context<AppEnv>, error: unknown, bindings = c.env): Problem {
  const problem = problemOf(error)
  if (PROBLEMS[problem.code].status >= 500) {
    const path = new URL(c.req.url).pathname
    isolateOf(bindings).refused.add(problem, { requestId: c.get('requestId'), path })
  }
  return problem
}

/** Adds `X-Hit` to the failures of a path that counts. */
export const tellHit = createMiddleware<AppEnv>(async (c, next) => {
  await next()
  if (!c.res.headers.has('X-Hit')) c.res.headers.set('X-Hit', xHitOf(c.error))
})

/** The value of `X-Hit` for an error that the response hides. Logs it if it is not the visitor's fault. */
export function reportedXHit(c: Context<AppEnv>, error: unknown): string {
  return xHitOf(reported(c, error))
}

/** The value of `X-Hit` for an error. */
export function xHitOf(error: unknown): string {
  const problem = problemOf(error)
  if (problem.code === 'outcome_unknown') return 'unknown'
  return (problem instanceof HttpProblem && problem.headers['X-Hit']) || `ignored; reason=${problem.code}`
}
