import {
  createExecutionContext,
  createMessageBatch,
  createScheduledController,
  getQueueResult,
  waitOnExecutionContext,
} from 'cloudflare:test'
import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { CounterOptions } from '../../src/config/config.ts'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../src/config/config.ts'
import type { Counter } from '../../src/index.ts'
import { createSlottedCounter, type SlottedCounter } from '../../src/slotted-counter.ts'
import { freshDatabase } from '../harness/database.ts'
import { logged } from '../harness/logged.ts'
import { stopClock } from '../harness/stopped-clock.ts'
import { TOKEN } from '../harness/worker.ts'

let env: Record<string, unknown>
beforeAll(async () => {
  const ranges = inject('ranges')
  const sharded = ranges > 1 ? { SHARDING: { ranges }, PLAN: 'paid' } : {}
  env = { DATABASE_URL: (await freshDatabase()).url, API_TOKEN: TOKEN, ...sharded }
})

const TYPES = {
  page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
  number: { record_type: 2 },
} as const satisfies CounterOptions['COUNTERS']

/** Runs one event of a Worker, and what it leaves to `waitUntil`. */
async function event<Result>(work: (context: ExecutionContext) => Result): Promise<Awaited<Result>> {
  const context = createExecutionContext()
  const result = await work(context)
  await waitOnExecutionContext(context)
  return result
}

const send = (to: Pick<SlottedCounter, 'fetch'>, path: string, init: RequestInit = {}) =>
  event((context) => to.fetch(new Request(`http://host.test${path}`, init), env, context))

describe('a counter in a Hono app', () => {
  const counter = createSlottedCounter({ BASE_PATH: '/counter', COUNTERS: TYPES })
  /** An app with routes, middlewares and answers of its own. */
  const host = new Hono<{ Bindings: object }>()
  host.use(secureHeaders())
  host.get('/', (c) => c.text('the blog'))
  host.route('/counter', counter.routes)
  const asHost = (app: Hono<{ Bindings: object }>) => ({
    fetch: (request: Request, bindings: object, context: ExecutionContext) => app.fetch(request, bindings, context),
  })

  it('serves everything below its base path, and leaves the rest to the app', async () => {
    const hit = await send(asHost(host), '/counter/hit?type=page_view&key=hono', { method: 'POST' })
    expect([hit.status, hit.headers.get('X-Hit')]).toEqual([204, 'counted'])
    const read = await send(asHost(host), '/counter/v1/counters/page_view/hono')
    expect(await read.json()).toMatchObject({ count: 1 })
    expect(await (await send(asHost(host), '/counter')).text()).toContain('action="/counter/login"')
    expect(await (await send(asHost(host), '/')).text()).toBe('the blog')
    expect((await send(asHost(host), '/hit?type=page_view&key=hono', { method: 'POST' })).status).toBe(404)
  })

  it('does not keep the headers that the app adds', async () => {
    const path = '/counter/hit?type=page_view&key=headers'
    const mounted = await send(asHost(host), path, { method: 'POST' })
    expect(mounted.headers.get('X-Frame-Options')).toBe('SAMEORIGIN')
    expect((await send(counter, path, { method: 'POST' })).headers.get('X-Frame-Options')).toBeNull()
  })

  it('may be mounted above its base path', async () => {
    const above = new Hono<{ Bindings: object }>().get('/page', (c) => c.text('page')).route('/', counter.routes)
    above.notFound((c) => c.text('nothing', 404))
    const hit = await send(asHost(above), '/counter/hit?type=page_view&key=above', { method: 'POST' })
    expect(hit.headers.get('X-Hit')).toBe('counted')
    expect(await (await send(asHost(above), '/page')).text()).toBe('page')
    expect(await (await send(asHost(above), '/other')).text()).toBe('nothing')
  })

  it.each([
    ['/stats', '/counter', counter],
    ['/counter/inside', '/counter', counter],
    ['/stats', '', createSlottedCounter({ COUNTERS: TYPES })],
  ])('says that it is mounted at %j, and not at its base path %j', async (path, base, wrong) => {
    const app = new Hono<{ Bindings: object }>().route(path, wrong.routes)
    await logged(async () => {
      const response = await send(asHost(app), `${path}/hit?type=page_view&key=a`, { method: 'POST' })
      expect(response.status).toBe(503)
      expect(await response.json()).toMatchObject({
        code: 'configuration_invalid',
        errors: [{ message: `must be "${path}", where the routes are mounted, not "${base}"` }],
      })
    })
  })

  it('reports a base path that is written in a wrong way', async () => {
    const wrong = createSlottedCounter({ COUNTERS: TYPES, BASE_PATH: '/stats/' })
    const app = new Hono<{ Bindings: object }>().route('/stats', wrong.routes)
    await logged(async () => {
      const response = await send(asHost(app), '/stats/hit?type=page_view&key=a', { method: 'POST' })
      expect(await response.json()).toMatchObject({
        code: 'configuration_invalid',
        errors: [{ field: 'BASE_PATH', message: expect.stringMatching(/^must be a path such as/) }],
      })
    })
  })
})

describe('types', () => {
  interface Env {
    MINE: string
    COUNTER: Service<Counter>
  }
  const counter = createSlottedCounter({ BASE_PATH: '/counter', COUNTERS: TYPES })

  it('fit a Worker with bindings of its own and a service binding', () => {
    const app = new Hono<{ Bindings: Env }>().route('/counter', counter.routes)
    const { scheduled, queue } = counter
    const worker = {
      async fetch(request, env, context) {
        const read = await env.COUNTER.read('page_view', '/')
        if (!read.ok) return Response.json(read.errors)
        await env.COUNTER.fetch(`https://counter/v1/counters/page_view?key=${read.count + 1n}`)
        return counter.fetch(request, env, context)
      },
      scheduled,
      queue,
    } satisfies ExportedHandler<Env>
    const mounted = { fetch: app.fetch, scheduled, queue } satisfies ExportedHandler<Env>
    expect([typeof worker.fetch, typeof mounted.fetch]).toEqual(['function', 'function'])
  })

  it('refuse options that the settings do not have', () => {
    // @ts-expect-error: settings are in snake case
    createSlottedCounter({ COUNTERS: { page_view: { recordType: 1 } } })
    // @ts-expect-error: misspelled
    createSlottedCounter({ PRUNING: { idempotency_hour: 1 } })
    // @ts-expect-error: misspelled
    createSlottedCounter({ COUNTRES: {} })
    // @ts-expect-error: neither "any" nor "known"
    createSlottedCounter({ COUNTERS: { page_view: { record_type: 1, new_keys: 'all' } } })
    // @ts-expect-error: record_type is missing
    createSlottedCounter({ COUNTERS: { page_view: {} } })
  })
})

describe('several counters in a Worker', () => {
  it('with different options do not mix', async () => {
    const other = (await freshDatabase()).url
    const one = createSlottedCounter({ BASE_PATH: '/one', COUNTERS: { views: { record_type: 1, public: true } } })
    const two = createSlottedCounter({
      BASE_PATH: '/two',
      COUNTERS: { visits: { record_type: 1, public: true } },
      bindings: { DATABASE_URL: 'OTHER_DATABASE_URL' },
    })
    env.OTHER_DATABASE_URL = other
    const increment = (counter: SlottedCounter, type: string) =>
      event((context) => counter.bind(env, context).increment(type, 'a'))
    expect(await increment(one, 'views')).toMatchObject({ ok: true })
    expect(await increment(one, 'visits')).toMatchObject({ ok: false, code: 'invalid_request' })
    expect(await increment(two, 'visits')).toMatchObject({ ok: true })
    expect(await increment(two, 'visits')).toMatchObject({ ok: true })
    const count = async (counter: SlottedCounter, path: string) =>
      ((await (await send(counter, path)).json()) as { count: number }).count
    expect(await count(one, '/one/v1/counters/views/a')).toBe(1)
    expect(await count(two, '/two/v1/counters/visits/a')).toBe(2)
    expect((await send(one, '/two/v1/counters/visits/a')).status).toBe(404)
  })
})

describe('wrong options', () => {
  it('are reported with every mistake by HTTP, and by calls with those that concern them', async () => {
    const wrong = createSlottedCounter({
      COUNTERS: { page_view: { record_type: 0 }, other: { record_type: 2, slots: 0 } },
      HISTORY: { hour_days: 0 },
    })
    const fields = ['COUNTERS.page_view.record_type', 'COUNTERS.other.slots', 'HISTORY.hour_days']
    const errors = fields.map((field) => expect.objectContaining({ field }))
    await logged(async () => {
      const response = await send(wrong, '/healthz')
      expect(await response.json()).toMatchObject({ code: 'configuration_invalid', errors })
      const called = await event((context) => wrong.bind(env, context).increment('page_view', 'a'))
      expect(called).toMatchObject({
        ok: false,
        status: 503,
        code: 'configuration_invalid',
        errors: errors.slice(0, 1),
      })
    })
  })
})

describe('cron triggers', () => {
  it('start their tasks, and others are refused', async () => {
    const counter = createSlottedCounter({ COUNTERS: TYPES })
    const fire = (cron: string) =>
      counter.scheduled(createScheduledController({ cron, scheduledTime: new Date() }), env)
    const lines = await logged(async () => {
      await fire(ROLL_UP_CRON)
      await fire(PRUNING_CRON)
      await expect(fire('*/5 * * * *')).rejects.toThrow(
        'no task for cron expression "*/5 * * * *": "* * * * *" rolls up, "*/2 * * * *" prunes',
      )
    })
    expect(lines.map(({ event }) => event)).toEqual(expect.arrayContaining(['rollup', 'prune', 'scheduled_failed']))
  })
})

describe('a queue', () => {
  it('is counted', async () => {
    const counter = createSlottedCounter({ COUNTERS: TYPES })
    const messages = [{ id: '1', timestamp: new Date(), attempts: 1, body: 'no batch' }]
    const batch = createMessageBatch('batches', messages)
    await logged(async () => {
      await counter.queue(batch, env)
      expect((await getQueueResult(batch, createExecutionContext())).ackAll).toBe(false)
    })
  })
})

describe('calls without HTTP', () => {
  const counter = createSlottedCounter({ COUNTERS: TYPES })
  const call = <Result>(work: (bound: ReturnType<SlottedCounter['bind']>) => Promise<Result>) =>
    event((context) => work(counter.bind(env, context)))

  it('count and read exactly, beside hits over HTTP', async () => {
    const work: Promise<unknown>[] = []
    for (let i = 0; i < 40; i++) {
      work.push(send(counter, '/hit?type=page_view&key=beside', { method: 'POST' }))
      work.push(call((bound) => bound.increment('page_view', 'beside', { by: 2 })))
      const list = [
        { type: 'page_view', key: 'beside', by: 3 },
        { type: 'number', key: '7' },
      ]
      work.push(call((bound) => bound.incrementMany(list)))
    }
    await Promise.all(work)
    const counts = { count: 240n, total: 0n, pending: 240n, consistency: 'exact', rolledUpAt: null }
    const beside = { ok: true, type: 'page_view', key: 'beside', ...counts }
    expect(await call((bound) => bound.read('page_view', 'beside'))).toEqual(beside)
    const numbers = await call((bound) => bound.readMany('number', ['7', '8']))
    expect(numbers).toMatchObject({
      ok: true,
      counters: [
        { key: '7', count: 40n },
        { key: '8', count: 0n },
      ],
    })
    const over = await send(counter, '/v1/counters/page_view/beside')
    expect(await over.json()).toMatchObject({ count: 240 })
  })

  it('say what they did', async () => {
    const added = { ok: true, type: 'page_view', key: '/x', added: -4, queued: false }
    expect(await call((bound) => bound.increment('page_view', '/x', { by: -4 }))).toEqual(added)
    const accepted = { ok: true, accepted: 1, queued: false }
    expect(await call((bound) => bound.incrementMany([{ type: 'page_view', key: '/x' }]))).toEqual(accepted)
  })

  it('with the same key count once, also beside a request with that key', async () => {
    const idempotencyKey = 'order-4711'
    for (let i = 0; i < 3; i++) await call((bound) => bound.increment('page_view', 'once', { idempotencyKey }))
    await send(counter, '/v1/counters/page_view/once', {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}`, 'Idempotency-Key': idempotencyKey },
    })
    expect(await call((bound) => bound.read('page_view', 'once'))).toMatchObject({ count: 1n })
  })

  it('count even if nobody awaits them', async () => {
    await event((context) => {
      for (let i = 0; i < 20; i++) void counter.bind(env, context).increment('page_view', `unawaited ${i % 3}`)
      void counter.bind(env, context).incrementMany([{ type: 'page_view', key: 'unawaited 0', by: 100 }])
    })
    const keys = [0, 1, 2].map((i) => `unawaited ${i}`)
    expect(await call((bound) => bound.readMany('page_view', keys))).toMatchObject({
      counters: [{ count: 107n }, { count: 7n }, { count: 6n }],
    })
  })

  it('read counts that no number holds', async () => {
    const most = { by: Number.MAX_SAFE_INTEGER }
    for (let i = 0; i < 2; i++) await call((bound) => bound.increment('page_view', 'huge', most))
    await call((bound) => bound.increment('page_view', 'huge', { by: 1 }))
    expect(await call((bound) => bound.read('page_view', 'huge'))).toMatchObject({ count: 18_014_398_509_481_983n })
  })

  it('read totals as of the last roll-up', async () => {
    await call((bound) => bound.increment('page_view', 'rolled'))
    const rolled = await call((bound) => bound.read('page_view', 'rolled', { consistency: 'rolled' }))
    expect(rolled).toMatchObject({ ok: true, count: 0n, pending: null })
  })

  it('read the history that HTTP answers', async () => {
    // The month does not end.
    stopClock()
    await call((bound) => bound.increment('page_view', 'history', { by: 6 }))
    const { ok, ...history } = await call((bound) =>
      bound.history('page_view', 'history', { by: 'month', tz: 'Europe/Berlin' }),
    )
    expect(ok).toBe(true)
    const answer = await send(counter, '/v1/counters/page_view/history/history?by=month&tz=Europe%2FBerlin')
    expect(
      JSON.parse(JSON.stringify(history, (_, value) => (typeof value === 'bigint' ? Number(value) : value))),
    ).toEqual(await answer.json())
    expect(history).toMatchObject({ points: expect.arrayContaining([expect.objectContaining({ count: 6n })]) })
  })

  it.each<[string, (bound: ReturnType<SlottedCounter['bind']>) => Promise<unknown>, string]>([
    ['an unknown type', (bound) => bound.increment('nothing', 'a'), 'type'],
    ['an unknown type to read', (bound) => bound.readMany('nothing', ['a']), 'type'],
    ['an empty key', (bound) => bound.increment('page_view', ''), 'key'],
    ['a number as a key', (bound) => bound.increment('page_view', 5 as never), 'key'],
    ['a number among the keys', (bound) => bound.readMany('page_view', ['a', 5 as never]), 'key.1'],
    ['a key that is no text', (bound) => bound.read('page_view', {} as string), 'key'],
    ['a fraction', (bound) => bound.increment('page_view', 'wrong', { by: 0.5 }), 'by'],
    [
      'an empty idempotency key',
      (bound) => bound.increment('page_view', 'wrong', { idempotencyKey: '' }),
      'Idempotency-Key',
    ],
    ['an empty list', (bound) => bound.incrementMany([]), 'increments'],
    [
      'a wrong entry',
      (bound) => bound.incrementMany([{ type: 'page_view', key: 'wrong', by: 0.5 }]),
      'increments.0.by',
    ],
    ['a list of no keys', (bound) => bound.readMany('page_view', []), 'key'],
    ['a time zone that is none', (bound) => bound.history('page_view', 'a', { tz: 'Nowhere' }), 'tz'],
    ['a misspelled option', (bound) => bound.read('page_view', 'a', { consistent: true } as object), 'consistent'],
  ])('with %s return the problem that HTTP answers, and count nothing', async (_, work, field) => {
    expect(await call(work)).toMatchObject({
      ok: false,
      status: 422,
      code: 'invalid_request',
      type: 'urn:slotted-counter:problem:invalid_request',
      errors: [{ field, message: expect.any(String) }],
    })
    expect(await call((bound) => bound.read('page_view', 'wrong'))).toMatchObject({ count: 0n })
  })

  it('take null for no options', async () => {
    const nothing = null as unknown as undefined
    expect(await call((bound) => bound.increment('page_view', 'null', nothing))).toMatchObject({ ok: true, added: 1 })
    const increments = [{ type: 'page_view', key: 'null' }]
    expect(await call((bound) => bound.incrementMany(increments, nothing))).toMatchObject({ ok: true, accepted: 1 })
    expect(await call((bound) => bound.read('page_view', 'null', nothing))).toMatchObject({ ok: true, count: 2n })
  })

  it('return the problem of a database that does not answer, and log it', async () => {
    const dead = { ...env, DATABASE_URL: 'http://user:password@127.0.0.1:9' }
    const lines = await logged(async () => {
      const counted = await event((context) => counter.bind(dead, context).increment('page_view', 'a'))
      expect(counted).toMatchObject({ ok: false, status: 503 })
    })
    expect(lines).toContainEqual(expect.objectContaining({ call: 'increment' }))
  })
})

describe('the entrypoint for service bindings', () => {
  it('answers the same calls and requests', async () => {
    const counter = createSlottedCounter({ BASE_PATH: '/counter', COUNTERS: TYPES })
    const on = <Result>(work: (entrypoint: InstanceType<SlottedCounter['Entrypoint']>) => Result) =>
      event((context) => work(new counter.Entrypoint(context, env as never)))
    expect(await on((entrypoint) => entrypoint.increment('page_view', 'rpc', { by: 2 }))).toMatchObject({ ok: true })
    await on((entrypoint) => entrypoint.incrementMany([{ type: 'page_view', key: 'rpc' }]))
    expect(await on((entrypoint) => entrypoint.read('page_view', 'rpc'))).toMatchObject({ count: 3n })
    expect(await on((entrypoint) => entrypoint.readMany('page_view', ['rpc']))).toMatchObject({ ok: true })
    expect(await on((entrypoint) => entrypoint.history('page_view', 'rpc'))).toMatchObject({ ok: true })
    const response = await on((entrypoint) =>
      entrypoint.fetch!(new Request('http://host.test/counter/v1/counters/page_view/rpc')),
    )
    expect(await response.json()).toMatchObject({ count: 3 })
  })
})
