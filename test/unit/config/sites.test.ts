import { describe, expect, it } from 'vitest'
import { problems, read } from './valid-config.ts'

const originsOf = (SITES: unknown, type: object = {}) =>
  read({ SITES, COUNTERS: { page_view: { record_type: 1, ...type } } }).types.get('page_view')!.allowedOrigins

describe('SITES', () => {
  it.each([
    ['https://blog.example, https://shop.example', ['https://blog.example', 'https://shop.example']],
    [
      'https://blog.example/\nHTTPS://Shop.Example  http://127.0.0.1:8080',
      ['https://blog.example', 'https://shop.example', 'http://127.0.0.1:8080'],
    ],
    ['*', ['*']],
    ['', []],
    [undefined, []],
  ])('is the default of allowed_origins: %j', (sites, origins) => {
    expect(problems({ SITES: sites })).toEqual([])
    expect(originsOf(sites)).toEqual(origins)
    expect(originsOf(sites, { allowed_origins: [] })).toEqual([])
    expect(originsOf(sites, { allowed_origins: ['https://own.example'] })).toEqual(['https://own.example'])
  })

  it.each([
    ...'blog.example https://blog.example/a ftp://blog.example https://u@blog.example https://blog.example?a'.split(
      ' ',
    ),
    ...'https://*.jane.example https://blog.example; https://"x" https://(blog).example'.split(' '),
    5,
    null,
    {},
  ])('cannot be %j, and other sites count all the same', (wrong) => {
    const sites = typeof wrong === 'string' ? `https://shop.example, ${wrong}` : wrong
    expect(problems({ SITES: sites })).toEqual([expect.stringMatching(/^SITES(\.1)? must be sites such as/)])
    expect(originsOf(sites)).toEqual(typeof wrong === 'string' ? ['https://shop.example'] : [])
  })

  it('is all that the default types need', () => {
    const { types } = read({ SITES: 'https://blog.example', COUNTERS: undefined })
    const all = [...types.values()].map(({ name, recordType, allowedOrigins }) => [name, recordType, ...allowedOrigins])
    expect(all).toEqual([
      ['page_view', 1, 'https://blog.example'],
      ['download', 2, 'https://blog.example'],
    ])
  })
})
