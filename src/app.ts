import { type Context, type ExecutionContext, Hono } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { requestId } from 'hono/request-id'
import type { AppEnv } from './app-env.ts'
import { ConfigurationError } from './config.ts'
import { DatabaseFailure } from './database/errors.ts'
import { databaseProblem } from './database-problem.ts'
import type { Env } from './env.ts'
import { isolateOf } from './isolate.ts'
import { logFailure, Problem } from './problem.ts'
import { badges } from './routes/badges.ts'
import { beacon } from './routes/beacon.ts'
import { counters } from './routes/counters.ts'
import { dashboard } from './routes/dashboard.ts'
import { downloads } from './routes/downloads.ts'
import { exports } from './routes/export.ts'
import { health } from './routes/health.ts'
import { history } from './routes/history.ts'
import { hit } from './routes/hit.ts'
import { imports } from './routes/imports.ts'
import { increments } from './routes/increments.ts'
import { operations } from './routes/operations.ts'
import { reference } from './routes/reference.ts'
import { search } from './routes/search.ts'
import { settings } from './routes/set.ts'
import { top } from './routes/top.ts'
import { verify } from './routes/verify.ts'
import { databaseTimed, timed } from './server-timing.ts'

/** The Worker's HTTP side. */
export const app = new Hono<AppEnv>()

app.route('/', hit)
app.route('/', beacon)

app.use(requestId())
app.use(async (c, next) => {
  const { config, db, counting, known, visitors, reads } = isolateOf(c.env)
  c.set('config', config)
  c.set('db', db)
  c.set('counting', counting)
  c.set('known', known)
  c.set('visitors', visitors)
  c.set('reads', reads)
  await next()
})
app.use('/v1/*', timed, databaseTimed)
app.use('/badge/*', timed, databaseTimed)
app.use(
  methodNotAllowed({
    app,
    onMethodNotAllowed: (c, methods) =>
      new Problem('method_not_allowed', {
        detail: `This path takes ${methods.join(', ')}.`,
        headers: { Allow: methods.join(', ') },
      }).toResponse(c),
  }),
)

app.route('/', health)
app.route('/', increments)
app.route('/', counters)
app.route('/', settings)
app.route('/', imports)
app.route('/', history)
app.route('/', top)
app.route('/', search)
app.route('/', exports)
app.route('/', downloads)
app.route('/', badges)
app.route('/', operations)
app.route('/', verify)
app.route('/', reference(app))
app.route('/', dashboard)

app.notFound((c) =>
  new Problem('not_found', {
    detail:
      'Nothing is served at this path. A key is one segment: write its slashes as %2F. The keys "." and ".." cannot stand in a ' +
      'path; ask for them with ?key=.',
  }).toResponse(c),
)

app.onError(failed)

function failed(error: Error, c: Context<AppEnv>): Response {
  if (c.get('requestId') === undefined) {
    // The hot path goes without one until there is something to be asked about.
    c.set('requestId', crypto.randomUUID())
    c.header('X-Request-Id', c.get('requestId'))
  }
  const problem = problemOf(error)
  if (problem.status >= 500) logFailure(c, problem, error)
  return problem.toResponse(c)
}

/** The one place where an error becomes an answer. Only messages that were written for clients leave. */
function problemOf(error: Error): Problem {
  if (error instanceof Problem) return error
  if (error instanceof ConfigurationError) {
    return new Problem('configuration_invalid', {
      detail: 'Correct the settings listed under errors and deploy again.',
      errors: error.problems,
    })
  }
  if (error instanceof DatabaseFailure) return databaseProblem(error)
  return new Problem('internal_error', { detail: 'This was logged under the request id.' })
}

/**
 * What browsers count with, alone in an app of its own: Hono composes a route with every middleware of its app that matches, and
 * awaits each; a route without any is called as it is (bench/README.md). Whatever is not served here, the whole app answers.
 */
const hot = new Hono<AppEnv>().route('/', hit)
hot.onError(failed)
hot.notFound((c) => app.fetch(c.req.raw, c.env, c.executionCtx))

/** Answers a request by the shortest way. */
export function serve(request: Request, env: Env, context: ExecutionContext): Response | Promise<Response> {
  const { url } = request
  // Its path begins behind the scheme and the host.
  return (url.startsWith('/hit', url.indexOf('/', 8)) ? hot : app).fetch(request, env, context)
}
