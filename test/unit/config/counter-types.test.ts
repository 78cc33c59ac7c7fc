import { describe, expect, it } from 'vitest'
import { problems, read } from './valid-config.ts'

const typed = (settings: unknown) => read({ COUNTERS: { page_view: settings } }).types.get('page_view')
const typeProblems = (settings: object) => problems({ COUNTERS: { page_view: { record_type: 1, ...settings } } })

describe('COUNTERS', () => {
  it.each([
    ['is missing, like SITES', undefined],
    ['is null', null],
    ['is a string', 'page_view'],
    ['is a list', []],
  ])('that %s is rejected with the setting to add', (_, counters) => {
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

  it('has only the given types, not the properties that objects inherit', () => {
    const counters: unknown = JSON.parse('{"page_view":{"record_type":1},"__proto__":{"record_type":2,"polluted":1}}')
    expect(problems({ COUNTERS: counters }).every((problem) => problem.includes('__proto__'))).toBe(true)
    const { types } = read({})
    expect(['__proto__', 'constructor', 'toString'].filter((name) => types.has(name))).toEqual([])
    expect({}).not.toHaveProperty('polluted')
  })

  it('must give every type a different record type', () => {
    const COUNTERS = { a: { record_type: 7 }, b: { record_type: 8 }, c: { record_type: 7 } }
    expect(problems({ COUNTERS })).toEqual([
      'COUNTERS.a.record_type is already used by c: every type needs its own',
      'COUNTERS.c.record_type is already used by a: every type needs its own',
    ])
    const { types, stopped } = read({ COUNTERS })
    expect([[...types.keys()], [...stopped.keys()]]).toEqual([['b'], ['a', 'c']])
    // Also beside other problems.
    expect(problems({ COUNTERS: { a: { record_type: 7, slots: 0 }, b: { record_type: 7 } } })).toHaveLength(3)
  })

  it('may have a public page only if anybody may read their counts', () => {
    expect(typed({ record_type: 1, public: true, public_page: true })?.publicPage).toBe(true)
    expect(typed({ record_type: 1, public: true })?.publicPage).toBe(false)
    expect(typeProblems({ public_page: true })).toEqual(['COUNTERS.page_view.public_page needs public = true'])
    expect(typeProblems({ public: true, public_page: 'yes' })).toEqual([
      'COUNTERS.page_view.public_page must be true or false',
    ])
  })

  it('must not have unknown settings', () => {
    expect(typeProblems({ pubic: true, slot: 1 })).toEqual([
      'COUNTERS.page_view.pubic is unknown: did you mean public?',
      'COUNTERS.page_view.slot is unknown: did you mean slots?',
    ])
  })

  it('must have a table for each type', () => {
    for (const settings of ['string', 1, null, [], true]) {
      expect(problems({ COUNTERS: { page_view: settings } })).toEqual([
        'COUNTERS.page_view must be a table of settings',
      ])
    }
  })

  it.each<[string, string, unknown[]]>([
    ['record_type', 'recordType', [1, 65_535]],
    ['slots', 'slots', [1, 100_000]],
    // Within the 24 hours for which visits are recognized.
    ['dedupe_seconds', 'dedupeSeconds', [0, 1, 1_800, 86_400]],
    ['new_keys', 'newKeys', ['any', 'known', ['/blog/*'], ['*', '/a']]],
    ['new_keys_per_minute', 'newKeysPerMinute', [0, 1_000_000]],
    [
      'redirect_to',
      'redirectTo',
      ['https://files.example.com/', 'http://127.0.0.1:8788/files/', 'https://x.example/a%20b/c/', '/', '/files/'],
    ],
  ])('accept %s as it is', (setting, name, values) => {
    for (const value of values) expect(typed({ record_type: 1, [setting]: value })).toMatchObject({ [name]: value })
  })

  it.each<[string, unknown[], string]>([
    ['record_type', [undefined, null, 0, 65_536, -1, 1.5, Number.NaN, '1'], 'must be a whole number from 1 to 65535'],
    ['public', ['true', 1, null], 'must be true or false'],
    ['count_bots', ['true', 1, null], 'must be true or false'],
    ['respect_do_not_track', ['true', 1, null], 'must be true or false'],
    ['slots', [0, 100_001, 1.5, 2 ** 53, '100', null], 'must be a whole number from 1 to 100000'],
    ['dedupe_seconds', [-1, 1.5, 31_536_001, '1800', null, true], 'must be a whole number from 0 to 31536000'],
    [
      'new_keys',
      ['none', '/blog/*', '', [], 1, null, true, Array(101).fill('*')],
      'must be "any", "known", or a list of 1 to 100 patterns such as "/blog/*"',
    ],
    [
      'new_keys_per_minute',
      [-1, 1.5, 1_000_001, '60', 'none', null, true],
      'must be a whole number from 0 to 1000000, or "unlimited"',
    ],
    ['same_key', ['trailing_slash', true, null], 'must be a list of "letter_case", "index_file", "trailing_slash"'],
    ['allowed_origins', ['*'], 'must be a list of origins'],
  ])('refuse other values of %s, with the rule', (setting, values, rule) => {
    for (const value of values) {
      expect(typeProblems({ [setting]: value })).toEqual([`COUNTERS.page_view.${setting} ${rule}`])
    }
  })

  it('accepts origins and "*"', () => {
    const origins = [
      '*',
      'https://my_blog.example.com',
      'http://127.0.0.1:8080',
      'http://[::1]',
      'https://xn--bcher.example',
    ]
    expect(typed({ record_type: 1, allowed_origins: origins })).toMatchObject({ allowedOrigins: origins })
  })

  it.each([
    ...'https://a.example/ https://a.example/b https://a.example:443 https://A.example https://u@a.example'.split(' '),
    ...'https://*.example.com https://a.example; https://"x" https://a,b.example https://a..example a.b null'.split(
      ' ',
    ),
    ...['', 1],
  ])('refuses the origin %j', (origin) => {
    expect(typeProblems({ allowed_origins: ['*', origin] })).toEqual([
      expect.stringMatching(
        /^COUNTERS\.page_view\.allowed_origins\.1 must be an origin such as "https:\/\/example\.com"/,
      ),
    ])
  })
})

describe('dedupe_seconds', () => {
  const deduped = (...seconds: unknown[]) => ({
    COUNTERS: Object.fromEntries(
      seconds.map((dedupe_seconds, i) => [`type${i}`, { record_type: i + 1, dedupe_seconds }]),
    ),
  })

  it('must not be longer than visits are recognized', () => {
    expect(problems(deduped(86_401, 86_400, 31_536_000, undefined))).toEqual([
      'COUNTERS.type0.dedupe_seconds must be at most 86400: PRUNING.idempotency_hours is 24',
      'COUNTERS.type2.dedupe_seconds must be at most 86400: PRUNING.idempotency_hours is 24',
    ])
  })

  it('depends on PRUNING.idempotency_hours', () => {
    expect(problems({ ...deduped(3_601), PRUNING: { idempotency_hours: 1 } })).toEqual([
      'COUNTERS.type0.dedupe_seconds must be at most 3600: PRUNING.idempotency_hours is 1',
    ])
    expect(problems({ ...deduped(3_600), PRUNING: { idempotency_hours: 1 } })).toEqual([])
    expect(problems({ ...deduped(31_536_000), PRUNING: { idempotency_hours: 8_760 } })).toEqual([])
  })
})

describe('redirect_to', () => {
  const files = 'https://files.example.com'
  it.each([
    ...['', files, `${files}/dist`, `${files}/?file=`, `${files}/#/`, `${files}/a/../b/`, files.toUpperCase(), '/a b/'],
    ...'files.example.com/ files/ ftp://a.example/ javascript:/ data:/ //a.example/ /\\a.example/ /a/../'.split(' '),
    ...['https://*.example.com/', 1, null, true],
    ...[
      `${files}/{key}x`,
      `${files}/a{key}/`,
      `${files}/{key}/{key}`,
      `${files}/?f={key}`,
      '{key}',
      `${files}/{key}#a`,
    ],
  ])('refuses %j', (base) => {
    expect(typeProblems({ redirect_to: base })).toEqual([
      expect.stringContaining('COUNTERS.page_view.redirect_to must be the folder of the files'),
    ])
  })

  it.each(['', '/download', '?raw=1', '.sig'])('may go on after the key: %j', (rest) => {
    for (const base of [`${files}/dist/`, '/files/'])
      expect(typeProblems({ redirect_to: `${base}{key}${rest}` })).toEqual([])
  })

  it.each(['/d/page_view/', '/d/{key}/page_view', '/d/other/'])('refuses the loop %s', (redirect_to) => {
    expect(typeProblems({ redirect_to })).toEqual([
      'COUNTERS.page_view.redirect_to must not point back to /d: downloads would redirect in a loop',
    ])
    expect(typeProblems({ redirect_to: `${files}/d/page_view/` })).toEqual([])
  })
})

describe('new_keys', () => {
  it.each([[['']], [['a'.repeat(513)]], [[1]]])('refuses the pattern in %j', (value) => {
    expect(typeProblems({ new_keys: ['*', ...value] })).toEqual([
      expect.stringMatching(/^COUNTERS\.page_view\.new_keys/),
    ])
  })

  it('must be in lower case if letter case does not matter', () => {
    const settings = { same_key: ['letter_case'], new_keys: ['/blog/*', '/Docs/*'] }
    expect(typeProblems(settings)).toEqual([
      'COUNTERS.page_view.new_keys must be spelled as keys are stored: "/docs/*"',
    ])
    expect(typeProblems({ ...settings, new_keys: ['/blog/*'] })).toEqual([])
  })
})

describe('same_key', () => {
  it.each([['slash'], ['trailing_slash', 1], [null]])('refuses a list with %j', (...spellings) => {
    expect(typeProblems({ same_key: spellings })).toEqual([
      expect.stringMatching(
        /^COUNTERS\.page_view\.same_key\.\d must be one of "letter_case", "index_file", "trailing_slash"$/,
      ),
    ])
  })
})

describe('counting_badge', () => {
  it('is for public types', () => {
    expect(typeProblems({ counting_badge: true, public: true })).toEqual([])
    for (const type of [{}, { public: false }]) {
      expect(typeProblems({ counting_badge: true, ...type })).toEqual([
        'COUNTERS.page_view.counting_badge needs public = true: everyone can see the count',
      ])
    }
    expect(typeProblems({ counting_badge: 'yes', public: true })).toEqual([
      'COUNTERS.page_view.counting_badge must be true or false',
    ])
  })
})

describe('prefixes', () => {
  it('are different beginnings of string keys', () => {
    expect(typed({ record_type: 1 })!.prefixes).toEqual([])
    expect(typed({ record_type: 1, prefixes: ['app-', 'Été/'] })!.prefixes).toEqual(['app-', 'Été/'])
    const rule = 'COUNTERS.page_view.prefixes must be a list of at most 16 different prefixes of keys, such as "app-"'
    for (const prefixes of ['app-', ['a', 'a'], Array.from({ length: 17 }, (_, i) => `a${i}`)]) {
      expect(typeProblems({ prefixes })).toEqual([rule])
    }
    for (const text of ['', 'a\0', '\ud800', 'é'.repeat(257)]) {
      expect(typeProblems({ prefixes: [text] })).toEqual([
        'COUNTERS.page_view.prefixes.0 must have 1 to 512 bytes of UTF-8, without NUL',
      ])
    }
    const ofPages = { allowed_origins: ['*'], prefixes: ['/caf%C3%A9/'], new_keys: ['/a', '/%7Euser/*'] }
    expect(typeProblems(ofPages)).toEqual([
      'COUNTERS.page_view.new_keys must be spelled as keys are stored: "/~user/*"',
      'COUNTERS.page_view.prefixes must be spelled as keys are stored: "/café/"',
    ])
    expect(typeProblems({ ...ofPages, allowed_origins: [] })).toEqual([])
    const ofPrefix = { visitors_of: 'prefix', dedupe_seconds: 60, same_key: ['trailing_slash'], prefixes: ['/blog/'] }
    expect(typeProblems(ofPrefix)).toContain('COUNTERS.page_view.prefixes must be spelled as keys are stored: "/blog"')
    expect(typeProblems({ same_key: ['letter_case'], prefixes: ['App-'] })).toEqual([
      'COUNTERS.page_view.prefixes must be spelled as keys are stored: "app-"',
    ])
  })
})
