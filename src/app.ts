import type { Context, ExecutionContext } from 'hono'
import { requestId } from 'hono/request-id'
import { getPath } from 'hono/utils/url'
import type { Bindings } from './config/read-settings.ts'
import { type AppEnv, Hono } from './http/hono.ts'
import { HttpProblem, reported } from './http/problem-response.ts'
import { basePathOf, belowBasePath } from './http/url.ts'
import { isolateOf } from './isolate.ts'
import { badges, countingBadges } from './routes/badge.ts'
import { deletion, imports, merging, readings, renaming, repairing, set } from './routes/changes.ts'
import { check } from './routes/check.ts'
import { compare, exports, search, top } from './routes/counter-lists.ts'
import { counter, counterHistory, counters, typeHistory, typeTotal } from './routes/counters.ts'
import { dashboard } from './routes/dashboard.ts'
import { downloads } from './routes/download.ts'
import { hit } from './routes/hit.ts'
import { charts } from './routes/images.ts'
import { increment, increments } from './routes/increment.ts'
import { latest } from './routes/latest.ts'
import { rollup, verify } from './routes/maintenance.ts'
import { reference } from './routes/reference.ts'
import { setup, setupState } from './routes/setup.ts'
import { shown } from './routes/shown.ts'
import { stats } from './routes/stats.ts'
import { health, metrics, status } from './routes/status.ts'
import { Problem } from './service/problem.ts'
import { troubleResponse } from './views/frame.ts'
import { isLocalHost, isLoopback } from './visits/network.ts'

/** All routes but `hit`. */
const ROUTES = [
  health,
  increments,
  increment,
  counter,
  counters,
  set,
  deletion,
  renaming,
  merging,
  repairing,
  imports,
  readings,
  latest,
  counterHistory,
  shown,
  typeTotal,
  typeHistory,
  top,
  compare,
  search,
  exports,
  status,
  metrics,
  rollup,
  verify,
  setupState,
  setup,
  downloads,
  badges,
  charts,
  countingBadges,
  dashboard,
  check,
  reference,
  stats,
]

/** Replaces every path outside the base path. Half a character: no URL decodes to it. */
const OUTSIDE = '/\ud800'

type App = ReturnType<typeof makeApp>

let made: App | undefined

/** The Worker's HTTP side, made for the first request that is not a hit: a first hit must not wait for all routes. */
export function wholeApp(): App {
  made ??= makeApp()
  return made
}

function makeApp() {
  const app = new Hono<AppEnv>({
    getPath: (request, options) => belowBasePath(basePathOf(options?.env ?? {}), getPath(request)) ?? OUTSIDE,
  })

  // Before the middlewares, which a hit does not need.
  hit(app)

  app.use(requestId())
  app.use(async (c, next) => {
    c.set('isolate', isolateOf(c.env))
    await next()
  })

  for (const add of ROUTES) add(app)

  app.notFound((c) => {
    const methods = methodsOf(app, c.req.path)
    if (methods.length > 0 && !methods.includes(c.req.method)) {
      const Allow = methods.join(', ')
      return troubleResponse(c, new HttpProblem('method_not_allowed', `This path supports ${Allow}.`, { Allow }))
    }
    const base = basePathOf(c.env)
    const outside = c.req.path === OUTSIDE && base !== ''
    const detail = outside
      ? `This path is not below ${base}, the base path. If the counter is mounted elsewhere, set basePath to that path.`
      : 'The address may be mistyped or no longer public. In a key, write / as %2F.'
    return troubleResponse(c, new Problem('not_found', detail))
  })

  return app.onError(failed)
}

function methodsOf(app: App, path: string): string[] {
  const handlers = (method: string) => app.router.match(method, path)[0].length
  const methods = new Set(app.routes.map(({ method }) => method))
  // Middlewares are registered for all methods.
  return [...methods]
    .filter((method) => handlers(method) > handlers('ALL'))
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method))
    .sort()
}

function failed(error: Error, c: Context<AppEnv>): Response | Promise<Response> {
  if (c.get('requestId') === undefined) {
    // The hot path creates it only if needed.
    c.set('requestId', crypto.randomUUID())
    c.header('X-Request-Id', c.get('requestId'))
  }
  return troubleResponse(c, reported(c, error))
}

/** The hot path, in a separate app: Hono awaits each matching middleware, but calls a route without any directly (bench/README.md). */
const hot = new Hono<AppEnv>({
  getPath: (request, options) => getPath(request).slice(basePathOf(options?.env ?? {}).length),
})
hit(hot)
hot.onError(failed)
hot.notFound((c) => wholeApp().fetch(c.req.raw, c.env, c.executionCtx))

/** Whether a request came over a network. Those of other Workers of the account have no address. */
function isFromOutside({ headers, url }: Request): boolean {
  const address = headers.get('CF-Connecting-IP')
  return address !== null && !isLoopback(address) && !isLocalHost(new URL(url).hostname)
}

/** Plain http exposes tokens and keys. 308 keeps the method; scripts of other sites may follow it. */
function redirectToHttps(url: string): Response {
  const headers = { Location: url.replace('http:', 'https:'), 'Access-Control-Allow-Origin': '*' }
  return new Response(null, { status: 308, headers })
}

/** Answers a request. */
export function serve(request: Request, bindings: Bindings, context: ExecutionContext): Response | Promise<Response> {
  const { url } = request
  const base = basePathOf(bindings)
  // The path begins after the scheme and the host.
  const begin = url.indexOf('/', 8)
  if (url.startsWith('http:') && isFromOutside(request)) return redirectToHttps(url)
  const isHit = url.startsWith('/hit', begin + base.length) && url.startsWith(base, begin)
  return (isHit ? hot : wholeApp()).fetch(request, bindings, context)
}
