import { describe, expect, it } from 'vitest'
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
    expect([types.get('view')!.also, types.get('visitor')!.also]).toEqual(['visitor', null])
    expect(pair({ key: 'integer' }, { key: 'integer' })).toEqual([])
  })

  it.each<[string, object, object, string]>([
    ['is not text', { also: 1 }, {}, 'must be the name of another type'],
    ['is not a type', { also: 'visitors' }, {}, 'must be the name of another type'],
    ['is a name that objects inherit', { also: 'constructor' }, {}, 'must be the name of another type'],
    ['is empty', { also: '' }, {}, 'must be the name of another type'],
    ['is the type itself', { also: 'view' }, {}, 'must be the name of another type'],
    ['names a third one', {}, { also: 'other' }, 'cannot be chained: COUNTERS.visitor has `also` as well'],
    [
      'has integer keys',
      {},
      { key: 'integer' },
      'needs a type with the same keys: COUNTERS.view.key and COUNTERS.visitor.key differ',
    ],
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
    expect(pair(view, visitor, { other: { record_type: 3, dedupe_seconds: 60 } })).toContain(
      `COUNTERS.view.also ${message}`,
    )
  })

  it('may be named by several types', () => {
    expect(pair({}, {}, { other: { record_type: 3, also: 'visitor' } })).toEqual([])
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
      'has integer keys',
      {},
      { key: 'integer' },
      'needs a type with the same keys: COUNTERS.file.key and COUNTERS.crawl.key differ',
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
})
