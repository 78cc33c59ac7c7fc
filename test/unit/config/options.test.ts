import { describe, expect, it } from 'vitest'
import { bindingsOf, type CounterOptions, readConfig } from '../../../src/config/config.ts'
import { problemsOf, VALID } from './valid-config.ts'

const ENV = { DATABASE_URL: VALID.DATABASE_URL, API_TOKEN: VALID.API_TOKEN }

const read = (options: CounterOptions, env: object = ENV) => readConfig(bindingsOf(options, env)).config

/** What is wrong with options, also with some that their type does not allow. */
const problems = (options: object, env: object = ENV) => problemsOf(bindingsOf(options, env))

const COUNTERS = { page_view: { record_type: 1 } }

describe('options', () => {
  it('give the configuration that the same settings in wrangler.toml give', () => {
    const options: CounterOptions = {
      BASE_PATH: '/counter',
      COUNTERS: { page_view: { record_type: 1, public: true, allowed_origins: ['https://example.com'] } },
      PLAN: 'paid',
      PRUNING: { idempotency_hours: 48 },
    }
    expect(read(options)).toEqual(readConfig({ ...ENV, ...options }).config)
  })

  it('take the place of whole settings, and leave the others as they are', () => {
    const env = { ...ENV, COUNTERS: { other: { record_type: 9 } }, HISTORY: { hour_days: 70 } }
    expect(read({}, env)).toEqual(readConfig(env).config)
    const config = read({ COUNTERS, PRUNING: { idempotency_hours: 5 } }, env)
    expect([...config.types.keys()]).toEqual(['page_view'])
    expect([config.history.hourDays, config.pruning.idempotencyHours]).toEqual([70, 5])
  })

  it('are refused with every mistake, together with those of wrangler.toml', () => {
    const options = {
      COUNTERS: { page_view: { record_type: 0 } },
      HISTORY: { hour_day: 5 },
      PRUNE: {},
      bindings: { DATABASE: 'X', ASSETS: 'FILES' },
    }
    expect(problems(options, { ...ENV, PRUNING: { idempotency_hours: 0 }, MY_OWN: 1 })).toEqual([
      'PRUNE is unknown',
      'bindings.DATABASE is unknown',
      'COUNTERS.page_view.record_type must be a whole number from 1 to 65535',
      'PRUNING.idempotency_hours must be a whole number from 1 to 8760',
      'HISTORY.hour_day is unknown: did you mean hour_days?',
    ])
  })
})

describe('BASE_PATH', () => {
  it.each(['/counter', '/a/b-c/d_e', ''])('may be %j', (path) => {
    expect(problems({ COUNTERS, BASE_PATH: path })).toEqual([])
  })

  it.each(['/', 'counter', '/counter/', '//a', '/a b', '/ä', '/a.b', '/%41', 'https://example.com/counter', 5])(
    'is not %j',
    (path) => {
      expect(problems({ COUNTERS, BASE_PATH: path })).toEqual([
        expect.stringMatching(/^BASE_PATH must be a path such as/),
      ])
    },
  )
})

describe('bindings', () => {
  it('may have other names, by which their problems are named', () => {
    const options = { COUNTERS, bindings: { DATABASE_URL: 'COUNTER_DATABASE_URL', API_TOKEN: 'COUNTER_TOKEN' } }
    const env = { COUNTER_DATABASE_URL: ENV.DATABASE_URL, COUNTER_TOKEN: 'mine', API_TOKEN: 'another' }
    expect(read(options, env)).toMatchObject({ databaseUrl: ENV.DATABASE_URL, apiToken: 'mine' })
    expect(problems(options)).toEqual([
      'COUNTER_DATABASE_URL is missing: set it with `wrangler secret put COUNTER_DATABASE_URL`, or in .dev.vars',
      'COUNTER_TOKEN is missing: set it with `wrangler secret put COUNTER_TOKEN`, or in .dev.vars',
    ])
  })

  it('are missing if an option names them, only dead batches have a queue, or, unless mounted, another has nearly their name', () => {
    const queue = { send: async () => {}, sendBatch: async () => {} }
    const limit = { limit: async () => ({ success: true }) }
    const bindings = { BATCHES: 'MY_BATCHES', DEAD_BATCHES: 'MY_DEAD', VISITOR_LIMIT: 'MY_LIMIT' }
    expect(problems({ COUNTERS, bindings }, { ...ENV, MY_DEAD: queue, MY_LIMIT: limit })).toEqual([
      'MY_BATCHES is missing: bind it in wrangler.toml',
    ])
    const misspelt = { ...ENV, VISITORS_LIMIT: limit, batches: queue, DEAD_BATCHES: queue }
    expect(problemsOf({ ...misspelt, COUNTERS })).toEqual([
      'batches is not known here, and BATCHES is not bound',
      'VISITORS_LIMIT is not known here, and VISITOR_LIMIT is not bound',
    ])
    expect(problems({ COUNTERS }, { ...ENV, DEAD_BATCHES: queue })).toEqual([
      'BATCHES is missing: bind it in wrangler.toml',
    ])
    // What an application binds for itself.
    const others = { VISITORS_LIMIT: limit, VISITOR_LIMIT: limit, MAIL: queue, READERS_LIMIT: 5, COUNTER: {} }
    expect(problemsOf({ ...ENV, COUNTERS, ...others })).toEqual([])
    expect(problems({ COUNTERS }, { ...ENV, READERS_LIMIT: limit, BATCHES_2: queue })).toEqual([])
  })
})
