import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { PRUNING_CRON, ROLL_UP_CRON, readConfig } from '../../../src/config/config.ts'
import { type Bindings, OPTIONS } from '../../../src/config/read-settings.ts'
import { problems, read, VALID } from './valid-config.ts'

/** A type without further settings. */
const PLAIN = {
  name: 'page_view',
  recordType: 1,
  title: 'Page view',
  unit: 'counts',
  keys: 'keys',
  unitOne: null,
  url: null,
  sameKey: [],
  newKeys: 'any',
  newKeysPerMinute: 120,
  public: false,
  allowedOrigins: [],
  slots: null,
  dedupeSeconds: null,
  publicPage: false,
  also: [],
  bots: null,
  visitorsOf: 'page',
  prefixes: [],
  redirectTo: null,
  readings: false,
  countBots: false,
  countAutomated: false,
  countingBadge: false,
  respectDoNotTrack: false,
}
const shipped = () => unstable_readConfig({ config: resolve(import.meta.dirname, '../../../wrangler.toml') })

describe('The configuration', () => {
  it('needs two secrets, and has defaults for all other settings', () => {
    expect(read({})).toEqual({
      databaseUrl: VALID.DATABASE_URL,
      apiToken: 'token',
      tokens: [],
      batches: null,
      deadBatches: null,
      rateLimit: null,
      readLimit: null,
      newKeyLimit: null,
      sites: [],
      types: new Map([['page_view', PLAIN]]),
      stopped: new Map(),
      redirects: new Map(),
      longestWindow: 30,
      site: 'Slotted Counter',
      plan: 'free',
      rollUp: { pageSlots: 800, maxStatements: 20, maxSeconds: 20 },
      pruning: { idempotencyHours: 24, pageSlots: 800, maxStatements: 6, maxSeconds: 60 },
      history: { hourDays: 90, pageHours: 800, maxStatements: 18, maxSeconds: 40 },
      mayExpire: true,
      ranges: 1,
      ownNetworks: [],
    })
  })

  it('accepts every setting', () => {
    const config = read({
      COUNTERS: {
        b: {
          record_type: 65_535,
          title: 'Bees',
          unit: 'bees',
          keys: 'hives',
          unit_one: 'bee',
          url: 'https://example.com/bees/',
          new_keys: ['1*', '2*'],
          new_keys_per_minute: 'unlimited',
          public: true,
          public_page: true,
          allowed_origins: ['*'],
          slots: 100,
          dedupe_seconds: 30,
          also: 'c',
          bots: 'd',
          visitors_of: 'page',
          redirect_to: 'https://files.example.com/dist/',
          readings: true,
          count_bots: true,
          count_automated: true,
          counting_badge: true,
          respect_do_not_track: true,
        },
        c: { record_type: 3, dedupe_seconds: 1_800 },
        d: { record_type: 4 },
        a: { record_type: 2, same_key: ['trailing_slash', 'letter_case', 'index_file'] },
      },
      SITE_NAME: 'example.com',
      SHARDING: { ranges: 1 },
      PRUNING: { idempotency_hours: 1 },
      HISTORY: { hour_days: 31 },
    })
    expect([...config.types.keys()]).toEqual(['b', 'c', 'd', 'a'])
    expect(config.types.get('b')).toEqual({
      ...PLAIN,
      name: 'b',
      recordType: 65_535,
      title: 'Bees',
      unit: 'bees',
      keys: 'hives',
      unitOne: 'bee',
      url: 'https://example.com/bees/',
      newKeys: ['1*', '2*'],
      newKeysPerMinute: null,
      public: true,
      publicPage: true,
      allowedOrigins: ['*'],
      slots: 100,
      dedupeSeconds: 30,
      also: [config.types.get('c')],
      bots: config.types.get('d'),
      redirectTo: 'https://files.example.com/dist/',
      readings: true,
      countBots: true,
      countAutomated: true,
      countingBadge: true,
      respectDoNotTrack: true,
    })
    expect(config.types.get('a')).toMatchObject({ sameKey: ['trailing_slash', 'letter_case', 'index_file'] })
    expect(config.site).toBe('example.com')
    expect([config.pruning.idempotencyHours, config.history.hourDays]).toEqual([1, 31])
  })

  it('reports all problems at once', () => {
    expect(
      problems({
        DATABASE_URL: undefined,
        API_TOKEN: '',
        COUNTERS: { page_view: { record_type: 0, key: 'text' }, download: { public: 'yes' } },
        PRUNING: { idempotency_hours: '5' },
        HISTORY: { hour_days: 0 },
      }).map((problem) => problem.split(' ')[0]),
    ).toEqual([
      'DATABASE_URL',
      'API_TOKEN',
      'COUNTERS.page_view.record_type',
      'COUNTERS.page_view.key',
      'COUNTERS.download.record_type',
      'COUNTERS.download.public',
      'PRUNING.idempotency_hours',
      'HISTORY.hour_days',
    ])
  })

  it.each<[Bindings, boolean, number]>([
    [{ HISTORY: { hour_days: '400' } }, false, 24],
    [{ HISTORY: { hours_days: 400 } }, false, 24],
    [{ HISTORY: { hour_days: 400, page_hours: 800 } }, true, 24],
    [{ COUNTERS: 'page_view' }, false, 24],
    [{ COUNTERS: { page_view: { record_type: 1, dedupe_seconds: '604800' } } }, false, 24],
    [{ PRUNING: { idempotency_hours: '168' } }, true, 744],
    [{ PRUNING: { idempotency_hour: 168 } }, true, 744],
    [{ PRUNING: { idempotency_hours: 5, page_slots: 800 } }, true, 5],
    [{ COUNTERS: { page_view: { record_type: 1, dedupe_second: 60 } } }, false, 24],
    [{ COUNTERS: { page_view: { record_type: 1, dedupe_seconds: 60, publik: true } } }, true, 24],
    [{ [OPTIONS]: { bindings: {}, settings: ['HISTROY'] } }, false, 744],
    [
      {
        [OPTIONS]: { bindings: {}, settings: ['HISTROY'] },
        HISTORY: { hour_days: 90 },
        PRUNING: { idempotency_hours: 24 },
      },
      true,
      24,
    ],
  ])('deletes nothing by a default if %j hides how long it is kept', (changes, mayExpire, idempotencyHours) => {
    expect(problems(changes)).not.toEqual([])
    expect(read(changes)).toMatchObject({ mayExpire, pruning: { idempotencyHours } })
  })

  it('is reported without its values', () => {
    const secret = 'geheim'
    const wrong: Bindings[] = [
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
      { HISTORY: secret },
      { HISTORY: { hour_days: secret, unknown: secret } },
      { PRUNING: { idempotency_hours: secret } },
    ]
    for (const changes of wrong) {
      const found = problems(changes)
      expect(found, JSON.stringify(changes)).not.toEqual([])
      expect(found.join()).not.toContain(secret)
    }
  })

  it('is valid in the shipped wrangler.toml, whose values are the defaults', () => {
    const { vars, triggers } = shipped()
    const { DATABASE_URL, API_TOKEN } = VALID
    const { config, mistakes } = readConfig({ ...vars, DATABASE_URL, API_TOKEN })
    expect(mistakes).toEqual([])
    const { rollUp, pruning, history } = read({})
    expect(config).toMatchObject({ rollUp, pruning, history })
    const type = { ...PLAIN, public: true, allowedOrigins: ['https://example.com'] }
    expect([...config.types.values()]).toEqual([
      { ...type, name: 'page_view', recordType: 1, title: 'Page views', unit: 'views', unitOne: 'view', keys: 'pages' },
      {
        ...type,
        name: 'download',
        recordType: 2,
        title: 'Downloads',
        unit: 'downloads',
        unitOne: 'download',
        keys: 'files',
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
    ['is not a URL', 'host.example', /must be a URL of the form/],
    ['has another scheme', 'ftp://u:p@host', /must be a URL of the form/],
    ['is for the MySQL protocol', 'mysql://u:p@host/db', /must start with https:\/\/, not mysql:\/\/: .*HTTP API/],
    ['has no user', 'https://host', /must have a user and a password/],
    ['has no password', 'https://user@host', /must have a user and a password/],
  ])('that %s is rejected with the fix', (_, url, message) => {
    expect(problems({ DATABASE_URL: url })).toEqual([expect.stringMatching(message)])
  })
})

describe('API_TOKEN', () => {
  it.each(['"a-token-of-the-owner"', "'a-token-of-the-owner'"])('must not have quotes around it: %s', (token) => {
    expect(problems({ API_TOKEN: token })).toEqual([expect.stringMatching(/^API_TOKEN must not have quotes/)])
  })

  it.each(['', ' ', 'a b', 'tab\t', 'line\n', 'größe', '\x7f'])('must not be %j', (token) => {
    expect(problems({ API_TOKEN: token })).toEqual([expect.stringMatching(/^API_TOKEN must be visible ASCII/)])
  })

  it('must be set', () => {
    expect(problems({ API_TOKEN: undefined })).toEqual([expect.stringMatching(/^API_TOKEN is missing: .*wrangler/)])
  })

  it('may have any visible ASCII character', () => {
    const token = String.fromCharCode(...Array.from({ length: 0x7f - 0x21 }, (_, i) => 0x21 + i))
    expect(read({ API_TOKEN: token }).apiToken).toBe(token)
  })
})

describe.each([
  ['PRUNING', 'idempotency_hours', 1, 8_760],
  ['HISTORY', 'hour_days', 31, 3_660],
])('%s.%s', (table, setting, min, max) => {
  it(`is a whole number from ${min} to ${max}`, () => {
    for (const value of [min, max]) expect(problems({ PLAN: 'paid', [table]: { [setting]: value } })).toEqual([])
    for (const value of [min - 1, max + 1, min + 0.5, String(min), null, true]) {
      expect(problems({ [table]: { [setting]: value } })).toEqual([
        `${table}.${setting} must be a whole number from ${min} to ${max}`,
      ])
    }
  })

  it('must not be misspelled', () => {
    expect(problems({ [table]: { [`${setting}s`]: min } })).toEqual([
      `${table}.${setting}s is unknown: did you mean ${setting}?`,
    ])
  })

  it('may be left out', () => {
    expect(problems({ [table]: {} })).toEqual([])
  })
})

describe.each(['PRUNING', 'HISTORY'])('%s', (table) => {
  it.each([null, 'x', 1, []])('is a table, not %j', (value) => {
    expect(problems({ [table]: value })).toEqual([expect.stringMatching(`^${table} `)])
  })
})

describe.each([
  ['VISITOR_LIMIT', 'rateLimit'],
  ['READER_LIMIT', 'readLimit'],
  ['NEW_KEY_LIMIT', 'newKeyLimit'],
])('%s', (name, member) => {
  it('may be a rate limit', () => {
    const limit = { limit: async () => ({ success: true }) }
    const { rateLimit, readLimit, newKeyLimit } = read({ [name]: limit })
    const none = { rateLimit: null, readLimit: null, newKeyLimit: null }
    expect({ rateLimit, readLimit, newKeyLimit }).toEqual({ ...none, [member]: limit })
  })

  it.each([1, 'x', {}, null])('is not %j', (value) => {
    expect(problems({ [name]: value })).toEqual([
      `${name} must be a rate limiting binding: [[ratelimits]] in wrangler.toml`,
    ])
  })

  it('is bound in the shipped wrangler.toml', () => {
    expect(shipped().ratelimits.map((limit: { name: string }) => limit.name)).toContain(name)
  })
})

describe.each(['BATCHES', 'DEAD_BATCHES'])('%s', (name) => {
  it('may be a queue', () => {
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

/** What is said of a network that is none. */
const NETWORK_RULE =
  'must be an address or a network, such as "203.0.113.7", "203.0.113.0/24" or "2001:db8::/48", with a prefix of at least 8 bits'

describe('EXCLUDE.networks', () => {
  it('may be addresses and networks', () => {
    const { ownNetworks } = read({ EXCLUDE: { networks: ['203.0.113.7', '198.51.100.0/24', '2001:db8::/48'] } })
    expect(ownNetworks.map(({ bits }) => bits)).toEqual([128, 120, 48])
  })

  it('may be left out', () => {
    for (const settings of [{}, { EXCLUDE: {} }, { EXCLUDE: { networks: [] } }]) {
      expect(read(settings).ownNetworks).toEqual([])
    }
  })

  it('are refused by their place in the list', () => {
    const networks = [
      '203.0.113.7',
      '203.0.113.0/33',
      'example.com',
      '2001:db8::/48',
      7,
      '',
      '0.0.0.0/0',
      '::/0',
      '::/7',
    ]
    expect(problems({ EXCLUDE: { networks } })).toEqual(
      [1, 2, 4, 5, 6, 7, 8].map((i) => `EXCLUDE.networks.${i} ${NETWORK_RULE}`),
    )
  })

  it('must be a list', () => {
    expect(problems({ EXCLUDE: { networks: '203.0.113.7' } })).toEqual(['EXCLUDE.networks must be a list of networks'])
    expect(problems({ EXCLUDE: { network: [] } })).toEqual(['EXCLUDE.network is unknown: did you mean networks?'])
  })
})

describe('The number of ranges', () => {
  it.each([1, 2, 64, 256])('may be a power of two: %i', (ranges) => {
    expect(read({ SHARDING: { ranges }, PLAN: 'paid' })).toMatchObject({ ranges })
  })

  it.each([0, 3, -2, 0.5, 512, '2', null])('cannot be %j', (ranges) => {
    const rule = 'must be a power of two from 1 to 256, and at least the number of shards'
    expect(problems({ SHARDING: { ranges } })).toEqual([`SHARDING.ranges ${rule}`])
  })
})
