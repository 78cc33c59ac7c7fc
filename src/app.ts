import { type Context, type ExecutionContext, Hono } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { requestId } from 'hono/request-id'
import type { Bindings } from './config/bindings.ts'
import { ConfigurationError } from './config/config.ts'
import { shortTokenProblem } from './config/tokens.ts'
import type { AppEnv } from './http/context.ts'
import { logFailure, Problem } from './http/problem.ts'
import { problemOf } from './http/problem-of.ts'
import { databaseTimed, timed } from './http/server-timing.ts'
import { isolateOf } from './isolate.ts'
import { hit } from './routes/hit.ts'
import { BROWSER_ROUTES, PROGRAM_ROUTES } from './routes/route-list.ts'

/** The Worker's HTTP side. */
export const app = new Hono<AppEnv>()

// Before the middlewares, which a hit does not need.
app.route('/', hit)

app.use(requestId())
app.use(async (c, next) => {
  // Reports wrong settings, whatever the path.
  const { config } = isolateOf(c.env)
  const problem = shortTokenProblem(config.apiToken, c.req.url)
  if (problem !== null) throw new ConfigurationError([problem])
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

for (const routes of PROGRAM_ROUTES) if (routes !== hit) app.route('/', routes)
for (const routes of BROWSER_ROUTES) app.route('/', routes)

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
    // The hot path has no request id until one is needed.
    c.set('requestId', crypto.randomUUID())
    c.header('X-Request-Id', c.get('requestId'))
  }
  const problem = problemOf(error)
  if (problem.status >= 500) logFailure(c, problem)
  return problem.toResponse(c)
}

/**
 * The hot path, in an app of its own: Hono composes a route with every matching middleware of its app and awaits each of them.
 * A route without middleware is called directly (bench/README.md). The whole app answers what this one does not serve.
 */
const hot = new Hono<AppEnv>().route('/', hit)
hot.onError(failed)
hot.notFound((c) => app.fetch(c.req.raw, c.env, c.executionCtx))

/** Answers a request by the shortest way. */
export function serve(request: Request, bindings: Bindings, context: ExecutionContext): Response | Promise<Response> {
  const { url } = request
  // The path begins after the scheme and the host.
  return (url.startsWith('/hit', url.indexOf('/', 8)) ? hot : app).fetch(request, bindings, context)
}
