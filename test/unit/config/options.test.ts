import { describe, expect, it } from 'vitest'
import { ConfigurationError, readConfig } from '../../../src/config/config.ts'
import { bindingsOf, type CounterOptions } from '../../../src/config/options.ts'
import { VALID } from './valid-config.ts'

const ENV = { DATABASE_URL: VALID.DATABASE_URL, API_TOKEN: VALID.API_TOKEN }

const read = (options: CounterOptions, env: object = ENV) => readConfig(bindingsOf(options, env))

/** What is wrong with options, also with some that their type does not allow. */
function problems(options: object, env: object = ENV): string[] {
  try {
    read(options, env)
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems.map(({ field, message }) => `${field} ${message}`)
    throw error
  }
}

const TYPES = { page_view: { recordType: 1 } }

describe('options', () => {
  it('give the configuration that the same settings in wrangler.toml give', () => {
    const options: CounterOptions = {
      basePath: '/counter',
      types: {
        page_view: {
          recordType: 1,
          public: true,
          allowedOrigins: ['https://example.com'],
          sameKey: ['letter_case'],
          also: 'visitor',
        },
        visitor: { recordType: 3, dedupeSeconds: 86_400, sameKey: ['letter_case'], also: 'reader' },
        reader: { recordType: 4, dedupeSeconds: 86_400, visitorsOf: 'site' },
        number: {
          recordType: 2,
          title: 'Numbers',
          unit: 'numbers',
          key: 'integer',
          newKeysPerMinute: 'unlimited',
          dedupeSeconds: 30,
          countBots: true,
        },
      },
      plan: 'paid',
      rollUp: { pageSlots: 100, maxStatements: 1_000 },
      pruning: { idempotencyHours: 48 },
      history: { hourDays: 31 },
      sharding: { ranges: 4 },
      exclude: { networks: ['203.0.113.0/24'] },
      crons: { rollUp: '*/5 * * * *', pruning: '1 * * * *' },
    }
    const settings = {
      BASE_PATH: '/counter',
      COUNTERS: {
        page_view: {
          record_type: 1,
          public: true,
          allowed_origins: ['https://example.com'],
          same_key: ['letter_case'],
          also: 'visitor',
        },
        visitor: { record_type: 3, dedupe_seconds: 86_400, same_key: ['letter_case'], also: 'reader' },
        reader: { record_type: 4, dedupe_seconds: 86_400, visitors_of: 'site' },
        number: {
          record_type: 2,
          title: 'Numbers',
          unit: 'numbers',
          key: 'integer',
          new_keys_per_minute: 'unlimited',
          dedupe_seconds: 30,
          count_bots: true,
        },
      },
      PLAN: 'paid',
      ROLLUP: { page_slots: 100, max_statements: 1_000 },
      PRUNING: { idempotency_hours: 48 },
      HISTORY: { hour_days: 31 },
      SHARDING: { ranges: 4 },
      EXCLUDE: { networks: ['203.0.113.0/24'] },
      CRONS: { roll_up: '*/5 * * * *', pruning: '1 * * * *' },
    }
    expect(read(options)).toEqual(readConfig({ ...ENV, ...settings }))
  })

  it('take the place of whole settings, and leave the others as they are', () => {
    const env = { ...ENV, COUNTERS: { other: { record_type: 9 } }, ROLLUP: { max_seconds: 7, page_slots: 11 } }
    expect(read({}, env)).toEqual(readConfig(env))
    const config = read({ types: TYPES, pruning: { maxSeconds: 5 } }, env)
    expect([...config.types.keys()]).toEqual(['page_view'])
    expect(config.rollUp).toMatchObject({ maxSeconds: 7, pageSlots: 11 })
    expect(config.pruning.maxSeconds).toBe(5)
  })

  it('are refused with every mistake, in the spelling of their author', () => {
    expect(
      problems({
        types: {
          page_view: { recordType: 0, allowedOrigins: ['https://example.com/'], record_type: 1, publik: true },
          download: { recordType: 2, dedupeSeconds: 90_000 },
          'no name': { recordType: 3 },
        },
        rollUp: { maxSeconds: 0, pageSlot: 5 },
        crons: { rollUp: 'often' },
        basePath: 'counter/',
        prune: {},
        bindings: { database: 'X' },
      }).map((problem) => problem.split(' ').slice(0, 3).join(' ')),
    ).toEqual([
      'bindings.database is not',
      'types.page_view.record_type is not',
      'prune is not',
      'types.page_view.recordType must be',
      'types.page_view.allowedOrigins.0 must be',
      'types.page_view.publik is not',
      'types.no name must',
      'basePath must be',
      'crons.rollUp must be',
      'rollUp.maxSeconds must be',
      'rollUp.pageSlot is not',
    ])
  })

  it('and settings of wrangler.toml are named in one list, each as it was written', () => {
    expect(
      problems(
        { types: { a: { recordType: 1 }, b: { recordType: 1 } }, rollUp: { maxSeconds: 0 } },
        { ...ENV, PRUNING: { page_slots: 0 } },
      ),
    ).toEqual([
      'rollUp.maxSeconds must be a whole number from 1 to 840',
      'PRUNING.page_slots must be a whole number from 1 to 10000',
      'types.b.recordType is also that of a: every type needs its own',
    ])
  })

  it('are named in messages too', () => {
    expect(
      problems({ types: { a: { recordType: 1, dedupeSeconds: 7_200 } }, pruning: { idempotencyHours: 1 } }),
    ).toEqual(['types.a.dedupeSeconds must be at most 3600: pruning.idempotencyHours is 1'])
    expect(
      problems({ types: { a: { recordType: 1, also: 'b' }, b: { recordType: 2, also: 'c' }, c: { recordType: 3 } } }),
    ).toEqual([
      'types.a.also needs a type that counts a visitor once: set types.b.dedupeSeconds',
      'types.b.also needs a type that counts a visitor once: set types.c.dedupeSeconds',
    ])
    expect(problems({ types: TYPES, sharding: { ranges: 16 } })).toEqual([
      expect.stringMatching(/^ROLLUP\.max_statements must be .* because sharding\.ranges is 16: .* PLAN = "paid"$/),
      expect.stringMatching(/^PRUNING\.max_statements must be .* because sharding\.ranges is 16: .* PLAN = "paid"$/),
    ])
  })

  it.each([1, 'x', [], null])('that are %j where a table belongs are refused', (value) => {
    expect(problems({ types: TYPES, rollUp: value })).toEqual([expect.stringMatching(/^rollUp /)])
    expect(problems({ types: value })).toEqual([expect.stringMatching(/^types /)])
    expect(problems({ types: { page_view: value } })).toEqual([expect.stringMatching(/^types\.page_view /)])
  })
})

describe('basePath', () => {
  it.each(['/counter', '/a/b-c/d_e', ''])('may be %j', (basePath) => {
    expect(problems({ types: TYPES, basePath })).toEqual([])
  })

  it.each(['/', 'counter', '/counter/', '//a', '/a b', '/ä', '/a.b', '/%41', 'https://example.com/counter', 5])(
    'is not %j',
    (basePath) => {
      expect(problems({ types: TYPES, basePath })).toEqual([expect.stringMatching(/^basePath must be a path such as/)])
    },
  )
})

describe('crons', () => {
  it('must differ', () => {
    expect(problems({ types: TYPES, crons: { pruning: '* * * * *' } })).toEqual([
      'crons.pruning must differ from crons.rollUp: each task needs its own run',
    ])
  })
})

describe('bindings', () => {
  it('may have other names, by which their problems are named', () => {
    const options = { types: TYPES, bindings: { databaseUrl: 'COUNTER_DATABASE_URL', apiToken: 'COUNTER_TOKEN' } }
    const env = { COUNTER_DATABASE_URL: ENV.DATABASE_URL, COUNTER_TOKEN: 'mine', API_TOKEN: 'another' }
    expect(read(options, env)).toMatchObject({ databaseUrl: ENV.DATABASE_URL, apiToken: 'mine' })
    expect(problems(options)).toEqual([
      'COUNTER_DATABASE_URL is missing: set it with `wrangler secret put COUNTER_DATABASE_URL`, or in .dev.vars',
      'COUNTER_TOKEN is missing: set it with `wrangler secret put COUNTER_TOKEN`, or in .dev.vars',
    ])
  })
})
