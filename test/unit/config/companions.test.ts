import { describe, expect, it } from 'vitest'
import { shownCompanion } from '../../../src/service/page-numbers.ts'
import { problems, read } from './valid-config.ts'

describe('also', () => {
  const pair = (view: object, visitor: object, more: object = {}) =>
    problems({
      COUNTERS: {
        view: { record_type: 1, also: 'visitor', ...view },
        visitor: { record_type: 2, dedupe_seconds: 86_400, ...visitor },
        ...more,
      },
    })

  it('names a type that counts the same keys, a visitor once', () => {
    const { types } = read({
      COUNTERS: {
        view: { record_type: 1, also: 'visitor', same_key: ['letter_case', 'trailing_slash'] },
        visitor: { record_type: 2, dedupe_seconds: 1_800, same_key: ['trailing_slash', 'letter_case'] },
      },
    })
    expect([types.get('view')!.also, types.get('visitor')!.also]).toEqual([[types.get('visitor')], []])
  })

  it.each<[string, object, object, string]>([
    ['is not text', { also: 1 }, {}, 'must be the name of another type'],
    ['is not a type', { also: 'visitors' }, {}, 'must be the name of another type'],
    ['is not a type, beside another mistake', { also: 'visitors', slots: 0 }, {}, 'must be the name of another type'],
    ['is a name that objects inherit', { also: 'constructor' }, {}, 'must be the name of another type'],
    ['is empty', { also: '' }, {}, 'must be the name of another type'],
    ['is the type itself', { also: 'view' }, {}, 'must not lead back to its own type'],
    ['names the first one', { dedupe_seconds: 60 }, { also: 'view' }, 'must not lead back to its own type'],
    [
      'has other spellings',
      { same_key: ['letter_case'] },
      {},
      'needs a type with the same keys: COUNTERS.view.same_key and COUNTERS.visitor.same_key differ',
    ],
    [
      'counts every hit',
      {},
      { dedupe_seconds: undefined },
      'needs a type that counts a visitor once: set COUNTERS.visitor.dedupe_seconds',
    ],
    [
      'has no window',
      {},
      { dedupe_seconds: 0 },
      'needs a type that counts a visitor once: set COUNTERS.visitor.dedupe_seconds',
    ],
    [
      'has windows that cut those of the first type',
      { dedupe_seconds: 50 },
      { dedupe_seconds: 60 },
      'needs nested windows: COUNTERS.visitor.dedupe_seconds must be a multiple of COUNTERS.view.dedupe_seconds',
    ],
    [
      'has windows that cut those of downloads',
      { redirect_to: '/files/' },
      { dedupe_seconds: 45 },
      'needs nested windows: COUNTERS.visitor.dedupe_seconds must be a multiple of the 30 seconds of downloads',
    ],
  ])('is refused with both fields if the named type %s', (_, view, visitor, message) => {
    expect(pair(view, visitor)).toContain(`COUNTERS.view.also ${message}`)
  })

  it('may be named by several types', () => {
    expect(pair({}, {}, { other: { record_type: 3, also: 'visitor' } })).toEqual([])
  })

  it('may name one after the other', () => {
    const types = {
      view: { record_type: 1, also: 'visitor' },
      visitor: { record_type: 2, dedupe_seconds: 3_600, also: 'daily' },
      daily: { record_type: 3, dedupe_seconds: 86_400 },
    }
    expect(problems({ COUNTERS: types })).toEqual([])
    const chains = (COUNTERS: object) =>
      [...read({ COUNTERS }).types.values()].map(({ also }) => also.map(({ name }) => name))
    expect(chains(types)).toEqual([['visitor', 'daily'], ['daily'], []])
    // Links of a circle are refused.
    const circle = { ...types, daily: { ...types.daily, dedupe_seconds: 3_600, also: 'visitor' } }
    expect(problems({ COUNTERS: circle })).toEqual([
      'COUNTERS.visitor.also must not lead back to its own type',
      'COUNTERS.daily.also must not lead back to its own type',
    ])
    expect(chains(circle)).toEqual([['visitor'], [], []])
    // A mistake is named where it is, and the links before it stay.
    const every = { ...types, daily: { record_type: 3 } }
    expect(problems({ COUNTERS: every })).toEqual([
      'COUNTERS.visitor.also needs a type that counts a visitor once: set COUNTERS.daily.dedupe_seconds',
    ])
    expect(chains(every)).toEqual([['visitor'], [], []])
  })
})

describe('visitors_of', () => {
  const site = (type: object, view: object = {}) =>
    problems({
      COUNTERS: {
        view: { record_type: 1, also: 'site', ...view },
        site: { record_type: 2, dedupe_seconds: 86_400, ...type },
      },
    })

  it('is the page by default, or each prefix, or the site', () => {
    expect(read({}).types.get('page_view')!.visitorsOf).toBe('page')
    const prefixes = ['/blog/']
    for (const type of [{}, { visitors_of: 'page' }, { visitors_of: 'prefix', prefixes }, { visitors_of: 'site' }]) {
      expect(site(type)).toEqual([])
    }
    for (const visitors_of of ['pages', '', null, ['site']]) {
      expect(site({ visitors_of })).toContain('COUNTERS.site.visitors_of must be "page", "prefix" or "site"')
    }
  })

  it('of prefixes needs some that can be keys', () => {
    expect(site({ visitors_of: 'prefix' })).toContain('COUNTERS.site.visitors_of needs prefixes')
    const folder = { visitors_of: 'prefix', prefixes: ['/blog/', '..'] }
    expect(site(folder)).toContain('COUNTERS.site.prefixes must not be "." or ".."')
  })

  it('site is for keys of every kind, and prefix for those with the same spellings', () => {
    const prefix = { visitors_of: 'prefix', prefixes: ['1'] }
    const view = { same_key: ['letter_case'] }
    expect(site({ visitors_of: 'site' }, view)).toEqual([])
    expect(site(prefix, view)).toEqual([
      'COUNTERS.view.also needs a type with the same keys: COUNTERS.view.same_key and COUNTERS.site.same_key differ',
    ])
  })

  it('is refused where it has no effect: no type names this one', () => {
    expect(site({ visitors_of: 'site' }, { also: undefined })).toEqual([
      'COUNTERS.site.visitors_of needs another type that names this one in `also`',
    ])
  })

  it('decides which type a page shows beside its own', () => {
    const shown = (types: Record<string, { also?: string; visitors_of?: string }>) => {
      const once = { dedupe_seconds: 60, prefixes: ['/blog/'] }
      const COUNTERS = Object.fromEntries(
        Object.entries(types).map(([name, type], i) => [name, { record_type: i + 1, ...(i > 0 && once), ...type }]),
      )
      const [first, ...others] = [...read({ COUNTERS }).types.values()]
      const all = [first!, ...others]
      return (['type', 'counter'] as const).map((of) => shownCompanion(first!, all, of)?.name)
    }
    const [site, section] = [{ visitors_of: 'site' }, { visitors_of: 'prefix' }]
    expect(shown({ view: {} })).toEqual([undefined, undefined])
    expect(shown({ view: { also: 'visitor' }, visitor: {} })).toEqual(['visitor', 'visitor'])
    expect(shown({ view: { also: 'visitor' }, visitor: { also: 'site' }, site })).toEqual(['site', 'visitor'])
    expect(shown({ view: { also: 'site' }, site })).toEqual(['site', undefined])
    expect(shown({ view: { also: 'section' }, section })).toEqual([undefined, undefined])
    expect(shown({ view: { also: 'section' }, section: { ...section, also: 'visitor' }, visitor: {} })).toEqual([
      'visitor',
      'visitor',
    ])
  })
})

describe('bots', () => {
  const pair = (file: object, bots: object) =>
    problems({ COUNTERS: { file: { record_type: 1, bots: 'crawl', ...file }, crawl: { record_type: 2, ...bots } } })

  it('names a type that counts the same keys, in windows of any length', () => {
    expect(pair({ same_key: ['letter_case'] }, { same_key: ['letter_case'] })).toEqual([])
    expect(pair({ redirect_to: '/files/', dedupe_seconds: 50 }, { dedupe_seconds: 60 })).toEqual([])
    expect(pair({}, { bots: 'file' })).toEqual([])
  })

  it.each<[string, object, object, string]>([
    ['is not text', { bots: true }, {}, 'must be the name of another type'],
    ['is not a type', { bots: 'crawlers' }, {}, 'must be the name of another type'],
    ['is the type itself', { bots: 'file' }, {}, 'must be the name of another type'],
    [
      'names a third one',
      {},
      { dedupe_seconds: 60, also: 'file' },
      'cannot be chained: COUNTERS.crawl has `also` as well',
    ],
    [
      'has other spellings',
      {},
      { same_key: ['letter_case'] },
      'needs a type with the same keys: COUNTERS.file.same_key and COUNTERS.crawl.same_key differ',
    ],
  ])('is refused if the named type %s', (_, file, bots, message) => {
    expect(pair(file, bots)).toContain(`COUNTERS.file.bots ${message}`)
  })

  it('is refused if the named type counts visitors', () => {
    expect(pair({ also: 'crawl' }, { dedupe_seconds: 60 })).toEqual([
      'COUNTERS.file.bots must not be a type that another names in `also`: COUNTERS.crawl',
    ])
  })
})
