import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { ConfigurationError, readConfig } from '../../src/config.ts'
import type { Env } from '../../src/env.ts'
import { PRUNING_CRON, ROLL_UP_CRON } from '../../src/maintenance.ts'

const VALID = {
  DATABASE_URL: 'https://user:password@aws.connect.psdb.cloud',
  API_TOKEN: 'token',
  COUNTERS: { page_view: { record_type: 1 } },
}
const read = (changes: Env) => readConfig({ ...VALID, ...changes })
const typed = (settings: unknown) => read({ COUNTERS: { page_view: settings } }).types.get('page_view')

/** What is wrong, as `field message`. */
function problems(changes: Env): string[] {
  try {
    read(changes)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems.map(({ field, message }) => `${field} ${message}`)
    throw error
  }
  return []
}
const typeProblems = (settings: object) => problems({ COUNTERS: { page_view: { record_type: 1, ...settings } } })

describe('the configuration', () => {
  it('needs two secrets and one type, and has a default for everything else', () => {
    expect(read({})).toEqual({
      databaseUrl: VALID.DATABASE_URL,
      apiToken: 'token',
      batches: null,
      deadBatches: null,
      rateLimit: null,
      types: new Map([
        [
          'page_view',
          {
            name: 'page_view',
            recordType: 1,
            key: 'string',
            public: false,
            allowedOrigins: [],
            slots: null,
            dedupeSeconds: null,
            redirectTo: null,
            countBots: false,
            respectDoNotTrack: false,
          },
        ],
      ]),
      rollUp: { pageSlots: 2_000, maxStatements: 45, maxSeconds: 50 },
      pruning: { idempotencyHours: 24, pageSlots: 1_000, maxStatements: 45 },
      history: { hourDays: 90, pageHours: 1_000, maxStatements: 49 },
    })
  })

  it('takes every setting as it is given', () => {
    const config = read({
      COUNTERS: {
        b: {
          record_type: 65_535,
          key: 'integer',
          public: true,
          allowed_origins: ['*'],
          slots: 100,
          dedupe_seconds: 30,
          redirect_to: 'https://files.example.com/dist/',
          count_bots: true,
          respect_do_not_track: true,
        },
        a: { record_type: 2 },
      },
      ROLLUP: { page_slots: 1, max_statements: 14, max_seconds: 840 },
      PRUNING: { idempotency_hours: 1, page_slots: 10_000, max_statements: 2 },
      HISTORY: { hour_days: 31, page_hours: 1, max_statements: 10_000 },
    })
    expect([...config.types.keys()]).toEqual(['b', 'a'])
    expect(config.types.get('b')).toEqual({
      name: 'b',
      recordType: 65_535,
      key: 'integer',
      public: true,
      allowedOrigins: ['*'],
      slots: 100,
      dedupeSeconds: 30,
      redirectTo: 'https://files.example.com/dist/',
      countBots: true,
      respectDoNotTrack: true,
    })
    expect(config.rollUp).toEqual({ pageSlots: 1, maxStatements: 14, maxSeconds: 840 })
    expect(config.pruning).toEqual({ idempotencyHours: 1, pageSlots: 10_000, maxStatements: 2 })
    expect(config.history).toEqual({ hourDays: 31, pageHours: 1, maxStatements: 10_000 })
  })

  it('names everything that is wrong at once', () => {
    expect(
      problems({
        DATABASE_URL: undefined,
        API_TOKEN: '',
        COUNTERS: { page_view: { record_type: 0, key: 'text' }, download: { public: 'yes' } },
        ROLLUP: { max_seconds: 0 },
        PRUNING: { page_slots: '5' },
      }).map((problem) => problem.split(' ')[0]),
    ).toEqual([
      'DATABASE_URL',
      'API_TOKEN',
      'COUNTERS.page_view.record_type',
      'COUNTERS.page_view.key',
      'COUNTERS.download.record_type',
      'COUNTERS.download.public',
      'ROLLUP.max_seconds',
      'PRUNING.page_slots',
    ])
  })

  it('says all of it in the message of the error', () => {
    expect(() => read({ API_TOKEN: '', ROLLUP: { max_seconds: 0 } })).toThrow(
      /^The configuration has errors: API_TOKEN must not be empty .*; ROLLUP\.max_seconds must be a whole number from 1 to 840$/,
    )
  })

  it('never repeats a value', () => {
    const secret = 'geheim'
    const wrong: Env[] = [
      { DATABASE_URL: secret },
      { DATABASE_URL: `mysql://user:${secret}@${secret}.example/${secret}` },
      { DATABASE_URL: `https://${secret}@host` },
      { DATABASE_URL: `ftp://user:${secret}@host` },
      { DATABASE_URL: { [secret]: secret } },
      { API_TOKEN: `${secret} ${secret}` },
      { API_TOKEN: [secret] },
      { COUNTERS: secret },
      { COUNTERS: { page_view: secret } },
      { COUNTERS: { page_view: { record_type: secret } } },
      { COUNTERS: { page_view: { record_type: 1, key: secret } } },
      { COUNTERS: { page_view: { record_type: 1, public: secret } } },
      { COUNTERS: { page_view: { record_type: 1, slots: secret } } },
      { COUNTERS: { page_view: { record_type: 1, allowed_origins: secret } } },
      { COUNTERS: { page_view: { record_type: 1, allowed_origins: [secret, `https://${secret}/`] } } },
      { COUNTERS: { page_view: { record_type: 1, unknown: secret } } },
      { ROLLUP: secret },
      { ROLLUP: { page_slots: secret, unknown: secret } },
      { PRUNING: { idempotency_hours: secret } },
    ]
    for (const changes of wrong) {
      const found = problems(changes)
      expect(found, JSON.stringify(changes)).not.toEqual([])
      expect(found.join()).not.toContain(secret)
    }
  })

  it('takes the shipped wrangler.toml once the secrets are set, whose values are the defaults', () => {
    const { vars, triggers } = unstable_readConfig({ config: resolve(import.meta.dirname, '../../wrangler.toml') })
    const { DATABASE_URL, API_TOKEN } = VALID
    const config = readConfig({ ...vars, DATABASE_URL, API_TOKEN })
    const { rollUp, pruning, history } = read({})
    expect(config).toMatchObject({ rollUp, pruning, history })
    expect([...config.types.values()]).toEqual([
      {
        name: 'page_view',
        recordType: 1,
        key: 'string',
        public: true,
        allowedOrigins: ['*'],
        slots: null,
        dedupeSeconds: null,
        redirectTo: null,
        countBots: false,
        respectDoNotTrack: false,
      },
      {
        name: 'download',
        recordType: 2,
        key: 'string',
        public: true,
        allowedOrigins: ['*'],
        slots: null,
        dedupeSeconds: null,
        redirectTo: 'http://127.0.0.1:8788/files/',
        countBots: false,
        respectDoNotTrack: false,
      },
    ])
    expect(triggers.crons).toEqual([ROLL_UP_CRON, PRUNING_CRON])
  })
})

describe('DATABASE_URL', () => {
  it.each(['https://u:p@host', 'http://u:p@127.0.0.1:1234/', 'https://u:p%40ss@host/database'])('may be %s', (url) => {
    expect(read({ DATABASE_URL: url }).databaseUrl).toBe(url)
  })

  it.each([
    ['is missing', undefined, /^DATABASE_URL is missing: .*wrangler secret put DATABASE_URL.*\.dev\.vars/],
    ['is empty', '', /^DATABASE_URL must be a URL of the form https:\/\/USER:PASSWORD@HOST$/],
    ['is no URL', 'host.example', /must be a URL of the form/],
    ['has another scheme', 'ftp://u:p@host', /must be a URL of the form/],
    ['is for the MySQL protocol', 'mysql://u:p@host/db', /must start with https:\/\/, not mysql:\/\/: .*HTTP API/],
    ['has no user', 'https://host', /must name a user and a password/],
    ['has no password', 'https://user@host', /must name a user and a password/],
  ])('that %s is rejected with what to do', (_, url, message) => {
    expect(problems({ DATABASE_URL: url })).toEqual([expect.stringMatching(message)])
  })
})

describe('API_TOKEN', () => {
  it.each(['', ' ', 'a b', 'tab\t', 'line\n', 'größe', '\x7f'])('must not be %j', (token) => {
    expect(problems({ API_TOKEN: token })).toEqual([
      expect.stringMatching(/^API_TOKEN must not be empty and have only/),
    ])
  })

  it('must be there', () => {
    expect(problems({ API_TOKEN: undefined })).toEqual([expect.stringMatching(/^API_TOKEN is missing: .*wrangler/)])
  })

  it('may have any visible ASCII character', () => {
    const token = String.fromCharCode(...Array.from({ length: 0x7f - 0x21 }, (_, i) => 0x21 + i))
    expect(read({ API_TOKEN: token }).apiToken).toBe(token)
  })
})

describe('COUNTERS', () => {
  it.each([
    ['is missing', undefined],
    ['is null', null],
    ['is a text', 'page_view'],
    ['is a list', []],
  ])('that %s is rejected with what to add', (_, counters) => {
    expect(problems({ COUNTERS: counters })).toEqual([expect.stringMatching(/^COUNTERS .*\[vars\.COUNTERS\.<name>\]/)])
  })

  it('must name at least one type', () => {
    expect(problems({ COUNTERS: {} })).toEqual(['COUNTERS must name at least one type'])
  })

  it.each(['a', 'Z9', 'a-b_c', 'constructor', 'toString', 'hasOwnProperty', `a${'b'.repeat(62)}`])(
    'may have a type called %s',
    (name) => {
      const { types } = read({ COUNTERS: { [name]: { record_type: 1 } } })
      expect([...types.keys()]).toEqual([name])
    },
  )

  it.each(['', '1a', '-a', '_a', 'a b', 'a.b', 'a/b', 'ä', 'a\n', `a${'b'.repeat(63)}`])(
    'may not have a type called %j',
    (name) => {
      expect(problems({ COUNTERS: { [name]: { record_type: 1 } } })).toEqual([
        expect.stringMatching(`COUNTERS.${name} `),
      ])
    },
  )

  it('knows only the types it was given, whatever objects inherit', () => {
    const counters: unknown = JSON.parse('{"page_view":{"record_type":1},"__proto__":{"record_type":2,"polluted":1}}')
    expect(problems({ COUNTERS: counters }).every((problem) => problem.includes('__proto__'))).toBe(true)
    const { types } = read({})
    expect(['__proto__', 'constructor', 'toString'].filter((name) => types.has(name))).toEqual([])
    expect({}).not.toHaveProperty('polluted')
  })

  it('must give every type a number of its own', () => {
    expect(problems({ COUNTERS: { a: { record_type: 7 }, b: { record_type: 8 }, c: { record_type: 7 } } })).toEqual([
      'COUNTERS.c.record_type is the same as that of a: every type needs one of its own',
    ])
    // Also when there is something else to say.
    expect(problems({ COUNTERS: { a: { record_type: 7, slots: 0 }, b: { record_type: 7 } } })).toHaveLength(2)
  })

  it('must have usable names and be tables', () => {
    expect(problems({ COUNTERS: { '9 a': { record_type: 7 } } })).toEqual([
      expect.stringMatching(/^COUNTERS\.9 a must be a name/),
    ])
    expect(problems({ COUNTERS: 'x' })).toEqual([expect.stringMatching(/^COUNTERS must hold a table/)])
    expect(problems({ ROLLUP: 'x' })).toEqual(['ROLLUP must be a table of settings'])
  })

  it('names settings it does not know', () => {
    expect(typeProblems({ pubic: true, slot: 1 })).toEqual([
      'COUNTERS.page_view.pubic is not known here',
      'COUNTERS.page_view.slot is not known here',
    ])
  })

  it('wants a table for each type', () => {
    for (const settings of ['string', 1, null, [], true]) {
      expect(problems({ COUNTERS: { page_view: settings } })).toEqual([
        'COUNTERS.page_view must be a table of settings',
      ])
    }
  })

  it.each([1, 65_535])('takes the record type %j', (recordType) => {
    expect(typed({ record_type: recordType })).toMatchObject({ recordType })
  })

  it.each([undefined, null, 0, 65_536, -1, 1.5, Number.NaN, '1'])('does not take the record type %j', (value) => {
    expect(typeProblems({ record_type: value })).toEqual([
      'COUNTERS.page_view.record_type must be a whole number from 1 to 65535',
    ])
  })

  it.each(['String', 'bigint', '', 1, null])('does not take the kind of key %j', (key) => {
    expect(typeProblems({ key })).toEqual(['COUNTERS.page_view.key must be "string" or "integer"'])
  })

  it.each(['true', 1, null])('does not take %j for public', (value) => {
    expect(typeProblems({ public: value })).toEqual(['COUNTERS.page_view.public must be true or false'])
  })

  it.each([1, 100_000])('takes %j slots', (slots) => {
    expect(typed({ record_type: 1, slots })).toMatchObject({ slots })
  })

  it.each([0, 100_001, 1.5, '100', null])('does not take %j slots', (slots) => {
    expect(typeProblems({ slots })).toEqual(['COUNTERS.page_view.slots must be a whole number from 1 to 100000'])
  })

  it('takes origins and "*"', () => {
    const origins = ['*', 'https://example.com', 'http://127.0.0.1:8080', 'https://xn--bcher-kva.example']
    expect(typed({ record_type: 1, allowed_origins: origins })).toMatchObject({ allowedOrigins: origins })
  })

  it.each([
    'https://example.com/',
    'https://example.com/path',
    'https://example.com:443',
    'https://Example.com',
    'https://user@example.com',
    'https://*.example.com/',
    'example.com',
    'null',
    '',
    1,
  ])('does not take the origin %j', (origin) => {
    expect(typeProblems({ allowed_origins: ['*', origin] })).toEqual([
      expect.stringMatching(
        /^COUNTERS\.page_view\.allowed_origins\.1 must be an origin such as "https:\/\/example\.com"/,
      ),
    ])
  })

  it('does not take a single origin for the list', () => {
    expect(typeProblems({ allowed_origins: '*' })).toEqual([
      'COUNTERS.page_view.allowed_origins must be a list of origins',
    ])
  })
})

describe.each([
  ['ROLLUP', 'page_slots', 1, 20_000],
  ['ROLLUP', 'max_statements', 14, 10_000],
  ['ROLLUP', 'max_seconds', 1, 840],
  ['PRUNING', 'idempotency_hours', 1, 8_760],
  ['PRUNING', 'page_slots', 1, 10_000],
  ['PRUNING', 'max_statements', 2, 10_000],
  ['HISTORY', 'hour_days', 31, 3_660],
  ['HISTORY', 'page_hours', 1, 10_000],
  ['HISTORY', 'max_statements', 4, 10_000],
])('%s.%s', (table, setting, min, max) => {
  it(`is a whole number from ${min} to ${max}`, () => {
    for (const value of [min, max]) expect(problems({ [table]: { [setting]: value } })).toEqual([])
    for (const value of [min - 1, max + 1, min + 0.5, String(min), null, true]) {
      expect(problems({ [table]: { [setting]: value } })).toEqual([
        `${table}.${setting} must be a whole number from ${min} to ${max}`,
      ])
    }
  })

  it('must not be misspelt', () => {
    expect(problems({ [table]: { [`${setting}s`]: min } })).toEqual([`${table}.${setting}s is not known here`])
  })

  it('may be left out while its neighbours are set', () => {
    expect(problems({ [table]: {} })).toEqual([])
  })
})

describe.each(['ROLLUP', 'PRUNING', 'HISTORY'])('%s', (table) => {
  it.each([null, 'x', 1, []])('is a table, not %j', (value) => {
    expect(problems({ [table]: value })).toEqual([expect.stringMatching(`^${table} `)])
  })
})

describe('dedupe_seconds', () => {
  const deduped = (...seconds: unknown[]) => ({
    COUNTERS: Object.fromEntries(
      seconds.map((dedupe_seconds, i) => [`type${i}`, { record_type: i + 1, dedupe_seconds }]),
    ),
  })

  it.each([0, 1, 1_800, 86_400])('may be %d, within the 24 hours for which visits are recognised', (seconds) => {
    expect(typed({ record_type: 1, dedupe_seconds: seconds })).toMatchObject({ dedupeSeconds: seconds })
  })

  it.each([-1, 1.5, 31_536_001, '1800', null, true])('does not take %j', (seconds) => {
    expect(typeProblems({ dedupe_seconds: seconds })).toEqual([
      'COUNTERS.page_view.dedupe_seconds must be a whole number from 0 to 31536000',
    ])
  })

  it('must not be longer than visits are recognised, for each type', () => {
    expect(problems(deduped(86_401, 86_400, 31_536_000, undefined))).toEqual([
      'COUNTERS.type0.dedupe_seconds must be at most 86400: visits are recognised for PRUNING.idempotency_hours, which is 24',
      'COUNTERS.type2.dedupe_seconds must be at most 86400: visits are recognised for PRUNING.idempotency_hours, which is 24',
    ])
  })

  it('goes by the hours that are set', () => {
    expect(problems({ ...deduped(3_601), PRUNING: { idempotency_hours: 1 } })).toEqual([
      'COUNTERS.type0.dedupe_seconds must be at most 3600: visits are recognised for PRUNING.idempotency_hours, which is 1',
    ])
    expect(problems({ ...deduped(3_600), PRUNING: { idempotency_hours: 1 } })).toEqual([])
    expect(problems({ ...deduped(31_536_000), PRUNING: { idempotency_hours: 8_760 } })).toEqual([])
  })
})

describe('redirect_to', () => {
  it.each(['https://files.example.com/', 'http://127.0.0.1:8788/files/', 'https://x.example/a%20b/c/', '/', '/files/'])(
    'may be %s',
    (base) => {
      expect(typed({ record_type: 1, redirect_to: base })).toMatchObject({ redirectTo: base })
    },
  )

  it.each([
    '',
    'files.example.com/',
    'files/',
    'https://files.example.com',
    'https://files.example.com/dist',
    'https://files.example.com/?file=',
    'https://files.example.com/#/',
    'https://files.example.com/a/../b/',
    'HTTPS://files.example.com/',
    'ftp://files.example.com/',
    'javascript:/',
    'data:/',
    '//files.example.com/',
    '/\\files.example.com/',
    '/a/../',
    '/a b/',
    1,
    null,
    true,
  ])('does not take %j', (base) => {
    expect(typeProblems({ redirect_to: base })).toEqual([
      expect.stringContaining('COUNTERS.page_view.redirect_to must be where the files are'),
    ])
  })
})

describe.each(['count_bots', 'respect_do_not_track'])('%s', (name) => {
  it.each(['true', 1, null])('is true or false, not %j', (value) => {
    expect(typeProblems({ [name]: value })).toEqual([`COUNTERS.page_view.${name} must be true or false`])
  })
})

describe('VISITOR_LIMIT', () => {
  it('may be a rate limit, which is kept as it is', () => {
    const limit = { limit: async () => ({ success: true }) }
    expect(read({ VISITOR_LIMIT: limit }).rateLimit).toBe(limit)
    expect(read({}).rateLimit).toBeNull()
  })

  it.each([1, 'x', {}, null])('is not %j', (value) => {
    expect(problems({ VISITOR_LIMIT: value })).toEqual([
      'VISITOR_LIMIT must be a rate limiting binding: [[ratelimits]] in wrangler.toml',
    ])
  })
})

describe.each(['BATCHES', 'DEAD_BATCHES'])('%s', (name) => {
  it('may be a queue, which is kept as it is', () => {
    const queue = { send: async () => {}, sendBatch: async () => {} }
    const { batches, deadBatches } = read({ [name]: queue })
    expect(name === 'BATCHES' ? [batches, deadBatches] : [deadBatches, batches]).toEqual([queue, null])
    expect(name === 'BATCHES' ? batches : deadBatches).toBe(queue)
  })

  it.each([null, '', 'batches', 1, true, {}, [], { queue: 'batches' }, { send: () => {} }, { sendBatch: 'no' }])(
    'is not %j',
    (value) => {
      expect(problems({ [name]: value })).toEqual([
        `${name} must be a queue binding: [[queues.producers]] in wrangler.toml`,
      ])
    },
  )
})
