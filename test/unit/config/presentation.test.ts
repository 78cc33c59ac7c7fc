import { describe, expect, it } from 'vitest'
import { pageOf } from '../../../src/config/counter-types.ts'
import { problems, read } from './valid-config.ts'

const typed = (settings: object, name = 'page_view') =>
  read({ COUNTERS: { [name]: { record_type: 1, ...settings } } }).types.get(name)
const typeProblems = (settings: object) => problems({ COUNTERS: { page_view: { record_type: 1, ...settings } } })

describe('title', () => {
  it.each([
    ['page_view', 'Page view'],
    ['podcast-episode', 'Podcast episode'],
    ['Song', 'Song'],
    ['a__b-', 'A b'],
  ])('is by default the name, readable: %s is %s', (name, title) => {
    expect(typed({}, name)).toMatchObject({ title, unit: 'counts', unitOne: null, keys: 'keys', url: null })
  })

  it('may be any line of text', () => {
    for (const title of ['Seitenaufrufe (öffentlich) 🎉', 'x'.repeat(60), '<b>&amp;']) {
      expect(typed({ title })).toMatchObject({ title })
    }
  })
})

describe('What people see of a type', () => {
  it('has its default while it is wrong, and the type counts', () => {
    const SHOWN = { title: '', unit: 5, unit_one: [], keys: ' ', url: 'example.com', public_page: true }
    expect(typed({ ...SHOWN, slots: 3 })).toEqual(typed({ slots: 3 }))
    expect(typeProblems(SHOWN).map((problem) => problem.split(' ')[0])).toEqual(
      Object.keys(SHOWN).map((name) => `COUNTERS.page_view.${name}`),
    )
  })

  it('does not hide what is wrong in what is counted', () => {
    const COUNTERS = { page_view: { record_type: 1, title: '', counting_badge: true } }
    const { types, stopped } = read({ COUNTERS })
    expect([[...types], [...stopped].map(([name, wrong]) => [name, wrong.map(({ field }) => field)])]).toEqual([
      [],
      [['page_view', ['COUNTERS.page_view.counting_badge']]],
    ])
  })
})

describe.each([
  ['title', 60],
  ['unit', 30],
  ['keys', 30],
  ['unit_one', 30],
])('%s', (setting, max) => {
  it.each(['', ' ', ' a', 'a ', 'a\nb', 'a\0', '\ud800', '\uFFFE', 'x'.repeat(max + 1), 1, null, true, ['a']])(
    'refuses %j',
    (value) => {
      expect(typeProblems({ [setting]: value })).toEqual([
        `COUNTERS.page_view.${setting} must be text of 1 to ${max} characters, without line breaks and without spaces around it`,
      ])
    },
  )
})

describe('SITE_NAME', () => {
  it('may be any line of text', () => {
    for (const SITE_NAME of ['example.com', 'Café & <b>Söhne</b> 🎉', 'x'.repeat(60)]) {
      expect(read({ SITE_NAME }).site).toBe(SITE_NAME)
    }
  })

  it.each(['', ' ', 'example.com ', 'a\nb', '\ud800', 'x'.repeat(61), 1, null, true, ['a'], {}])(
    'refuses %j',
    (SITE_NAME) => {
      expect(problems({ SITE_NAME })).toEqual([
        'SITE_NAME must be text of 1 to 60 characters, without line breaks and without spaces around it',
      ])
    },
  )
})

describe('url', () => {
  it.each([
    'https://example.com',
    'http://localhost:8080',
    'https://example.com/',
    'https://example.com/items/',
    'https://example.com/item-',
  ])('may be %s', (url) => {
    expect(typed({ url })).toMatchObject({ url })
  })

  it.each([
    '',
    'example.com',
    '/items/',
    'https://',
    'https://EXAMPLE.com',
    'https://example.com:443',
    'https://example.com/a/../b',
    'https://example.com/?id=',
    'https://example.com/#',
    'https://user:password@example.com/',
    'https://user@example.com',
    'ftp://example.com/',
    'javascript:alert(1)',
    1,
    null,
  ])('refuses %j', (url) => {
    expect(typeProblems({ url })).toEqual([
      expect.stringContaining('COUNTERS.page_view.url must be the URL to which keys are appended'),
    ])
  })
})

describe('pageOf', () => {
  it.each([
    ['https://example.com', '/blog/hello', 'https://example.com/blog/hello'],
    ['https://example.com/items/', '42', 'https://example.com/items/42'],
    ['https://example.com', '/a?b#c', 'https://example.com/a?b#c'],
    ['https://example.com', '//evil.example/', 'https://example.com//evil.example/'],
    [null, '/blog', null],
  ])('of %s and %s is %s', (url, key, page) => {
    expect(pageOf(url, key)).toBe(page)
  })

  it.each(['.evil.example/', 'evil.example', '@evil.example/', ':x@evil.example/', ':8080/', 'a b'])(
    'is none for %j, which would lead to another site or nowhere',
    (key) => {
      expect(pageOf('https://example.com', key)).toBeNull()
    },
  )

  it('is on the same site for a backslash, which browsers read as a slash', () => {
    expect(new URL(pageOf('https://example.com', '\\@evil.example')!).host).toBe('example.com')
  })
})
