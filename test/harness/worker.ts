import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test'
import { env as configured } from 'cloudflare:workers'
import { beforeAll, inject } from 'vitest'
import { localCounters } from '../../local/worker/local-counters.ts'
import type { Bindings } from '../../src/config/read-settings.ts'
import { hash64 } from '../../src/counters/ids.ts'
import { rangeOf } from '../../src/counters/ranges.ts'
import worker from '../../src/index.ts'
import { isolateOf } from '../../src/isolate.ts'
import type { PLANS } from '../../src/plans.ts'
import { freshDatabase, type TestDatabase } from './database.ts'

/** The token of the Worker under test. */
export const TOKEN = 'a-token-for-tests'

type Plan = (typeof PLANS)['free']
type Budgets = { [Task in keyof Plan]?: Partial<Plan[Task]> }

/** The Worker with the configuration that it has on this machine, on a test database. */
export class TestWorker {
  readonly env: Bindings

  /** @param overrides settings that differ from wrangler.toml */
  constructor(databaseUrl: string, overrides: Bindings = {}) {
    const ranges = inject('ranges')
    // Several ranges need the paid plan.
    const sharded = ranges > 1 ? { SHARDING: { ranges }, PLAN: 'paid' } : {}
    const shipped = configured as Bindings
    // Tests send many requests from one address. Those of the limits and of the queues bind their own.
    const limits = { VISITOR_LIMIT: undefined, READER_LIMIT: undefined, NEW_KEY_LIMIT: undefined }
    const unbound = { ...limits, BATCHES: undefined, DEAD_BATCHES: undefined }
    this.env = {
      ...shipped,
      ...unbound,
      SITES: undefined,
      COUNTERS: localCounters(shipped.COUNTERS),
      ...sharded,
      DATABASE_URL: databaseUrl,
      API_TOKEN: TOKEN,
      ...overrides,
    }
  }

  /** Gives background runs other budgets than those of the plan. */
  withBudgets(budgets: Budgets): this {
    const { config } = isolateOf(this.env)
    for (const task of ['rollUp', 'pruning', 'history'] as const) Object.assign(config[task], budgets[task])
    return this
  }

  /** Sends a request. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return this.fetchAt('https://counter.test', path, init)
  }

  /** Sends a request to another of the Worker's addresses. */
  async fetchAt(origin: string, path: string, init: RequestInit = {}): Promise<Response> {
    const context = createExecutionContext()
    const request = new Request(origin + path, { redirect: 'manual', ...init })
    const response = await worker.fetch(request as Parameters<typeof worker.fetch>[0], this.env, context)
    await waitOnExecutionContext(context)
    return response
  }

  /** Sends JSON with the token. */
  async api(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch(path, {
      method,
      headers: {
        Authorization: `Bearer ${TOKEN}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  /** Counts a hit as a browser does. */
  async hit(type: string, key: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch('/hit', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ type, key }),
    })
  }

  /** Adds to several counters of a type. */
  async add(type: string, counts: Record<string, number>): Promise<Response> {
    const increments = Object.entries(counts).map(([key, by]) => ({ type, key, by }))
    return this.api('POST', '/v1/increments', { increments })
  }

  /** Imports counts. */
  async bring(counters: unknown, idempotencyKey: string = crypto.randomUUID()): Promise<Response> {
    return this.api('POST', '/v1/imports', { counters }, { 'Idempotency-Key': idempotencyKey })
  }

  /** Imports counts of any ranges, as the command does. */
  async bringAll(counters: readonly { key: string }[]): Promise<void> {
    const ids = await Promise.all(counters.map(({ key }) => hash64(key)))
    const parts = Map.groupBy(counters, (_, index) => rangeOf(ids[index]!, inject('ranges')))
    for (const part of parts.values()) {
      const response = await this.bring(part)
      if (response.status !== 200) throw new Error(await response.text())
    }
  }

  /** Reads a counter. */
  async read(type: string, key: string, query = ''): Promise<Record<string, unknown>> {
    const path = `${this.env.BASE_PATH ?? ''}/v1/counters/${type}/${encodeURIComponent(key)}${query}`
    return (await this.api('GET', path)).json()
  }

  /** The count of a counter. */
  async count(type: string, key: string, query = ''): Promise<number> {
    return (await this.read(type, key, query)).count as number
  }

  /** Fires a cron trigger. */
  async cron(expression: string, at = new Date()): Promise<void> {
    await worker.scheduled(createScheduledController({ cron: expression, scheduledTime: at }), this.env)
  }
}

/** A Worker with its own database. The tests of a file share both. */
export function sharedWorker(overrides: Bindings = {}): { db: TestDatabase; worker: TestWorker } {
  const db = {} as TestDatabase
  const worker = new TestWorker('', overrides)
  beforeAll(async () => {
    Object.assign(db, await freshDatabase())
    worker.env.DATABASE_URL = db.url
  })
  return { db, worker }
}
