import { WorkerEntrypoint } from 'cloudflare:workers'
import type { Context, Hono as HonoType } from 'hono'
import { basePath } from 'hono/route'
import { serve } from './app.ts'
import { runQueued, runScheduled } from './background.ts'
import { type BoundCounter, bindCounter } from './bound-counter.ts'
import { bindingsOf, type CounterOptions } from './config/config.ts'
import { type Bindings, ConfigurationError, underOwnNames } from './config/read-settings.ts'
import type { Delivery } from './counters/write/queue.ts'
import { Hono } from './http/hono.ts'
import { problemResponse, reported } from './http/problem-response.ts'
import { basePathOf, belowBasePath } from './http/url.ts'
import { isolateOf } from './isolate.ts'

/** A counter, to be mounted in a Worker. Pass the platform's own `env` object: isolates keep their state by it. */
export interface SlottedCounter {
  /** Answers a request below the base path. Responses may be shared: copy one before you change its headers. */
  fetch(request: Request, env: object, ctx: ExecutionContext): Response | Promise<Response>
  /** Runs the task of a cron trigger. @throws {Error} for an unknown expression, and if the task fails */
  scheduled(controller: Pick<ScheduledController, 'cron' | 'scheduledTime'>, env: object): Promise<void>
  /** Counts a batch of the queue that is bound as `BATCHES`. */
  queue(batch: { readonly messages: readonly Delivery[] }, env: object): Promise<void>
  /** The same as `fetch`, for a Hono app to mount at the base path: `app.route('/counter', counter.routes)`. */
  routes: HonoType<{ Bindings: object }>
  /** Counts and reads without HTTP, within a request or another event of the Worker. */
  bind(env: object, ctx: Pick<ExecutionContext, 'waitUntil'>): BoundCounter
  /** Lets other Workers count and read over a service binding: `export class Counter extends counter.Entrypoint {}`. */
  Entrypoint: new (
    ctx: ExecutionContext,
    env: never,
  ) => WorkerEntrypoint & BoundCounter
}

/**
 * Makes a counter. The first call of its methods reports wrong options, together with wrong secrets and bindings.
 * @param options settings that replace those in wrangler.toml
 * @example
 * const counter = createSlottedCounter({ BASE_PATH: '/counter', COUNTERS: { page_view: { record_type: 1, public: true } } })
 * export default { fetch: counter.fetch, scheduled: counter.scheduled, queue: counter.queue }
 */
export function createSlottedCounter(options: CounterOptions = {}): SlottedCounter {
  const withoutOptions = Object.keys(options).length === 0
  const made = new WeakMap<object, Bindings>()
  const bindingsFor = (env: object): Bindings => {
    if (withoutOptions) return env as Bindings
    let bindings = made.get(env)
    if (bindings === undefined) {
      bindings = bindingsOf(options, env)
      made.set(env, bindings)
    }
    return bindings
  }

  const fetch: SlottedCounter['fetch'] = (request, env, ctx) => serve(request, bindingsFor(env), ctx)
  const bind: SlottedCounter['bind'] = (env, ctx) => bindCounter(bindingsFor(env), ctx)
  class Entrypoint extends WorkerEntrypoint<object> {
    override fetch(request: Request): Response | Promise<Response> {
      return fetch(request, this.env, this.ctx)
    }
  }
  type Call = (...args: unknown[]) => unknown
  // RPC finds only methods of the prototype.
  for (const name of Object.keys(bindCounter({}, { waitUntil() {} })) as (keyof BoundCounter)[]) {
    const method = function (this: { env: object; ctx: ExecutionContext }, ...args: unknown[]) {
      return (bind(this.env, this.ctx)[name] as Call)(...args)
    }
    Object.defineProperty(Entrypoint.prototype, name, { value: method })
  }
  return {
    fetch,
    scheduled: ({ cron, scheduledTime }, env) => runScheduled(bindingsFor(env), cron, new Date(scheduledTime)),
    queue: ({ messages }, env) => runQueued(bindingsFor(env), messages),
    routes: mountable(fetch, bindingsFor),
    bind,
    Entrypoint: Entrypoint as unknown as SlottedCounter['Entrypoint'],
  }
}

/** A Hono app that passes requests below the base path to the counter, with their whole path. */
function mountable(fetch: SlottedCounter['fetch'], bindingsFor: (env: object) => Bindings): SlottedCounter['routes'] {
  const routes = new Hono<{ Bindings: object }>()
  routes.all('*', async (c, next) => {
    const bindings = bindingsFor(c.env)
    const base = basePathOf(bindings)
    const mountedAt = basePath(c).replace(/\/$/, '')
    if (belowBasePath(mountedAt, base) === null) return wrongMount(c, bindings, mountedAt)
    // Mounted above the base path: the outer app has other routes.
    if (belowBasePath(base, c.req.path) === null) return next()
    const response = await fetch(c.req.raw, c.env, c.executionCtx as ExecutionContext)
    // A copy, because the outer app's middlewares change headers.
    return new Response(response.body, response)
  })
  return routes
}

function wrongMount(c: Context, bindings: Bindings, mountedAt: string): Response {
  const message = `must be "${mountedAt}", where the routes are mounted, not "${basePathOf(bindings)}"`
  const mount = underOwnNames(bindings, [{ field: 'BASE_PATH', message }])
  // A malformed base path is the reason.
  const malformed = isolateOf(bindings).mistakes.filter(({ field }) => field === mount[0]!.field)
  return problemResponse(c, reported(c, new ConfigurationError(malformed.length > 0 ? malformed : mount), bindings))
}
