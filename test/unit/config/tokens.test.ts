import { describe, expect, it } from 'vitest'
import { includes, SCOPES, shortTokenProblem } from '../../../src/tokens.ts'
import { problems, read } from './valid-config.ts'

const HASH = 'a'.repeat(64)
const OTHER = 'b'.repeat(64)
const COUNTERS = { page_view: { record_type: 1 }, download: { record_type: 2 } }
const problemsOf = (API_TOKENS: unknown) => problems({ API_TOKENS, COUNTERS })

describe('API_TOKENS', () => {
  it('has a token in each line, with a name, a scope, perhaps types, and a hash', () => {
    const text = `# who counts\r\nweb-site count:page_view ${HASH}\n\n  ci\tread  ${OTHER.toUpperCase()}  \nme manage:download,page_view ${'0'.repeat(64)}\n`
    expect(read({ API_TOKENS: text, COUNTERS }).tokens).toEqual([
      { name: 'web-site', scope: 'count', types: new Set(['page_view']), hash: HASH },
      { name: 'ci', scope: 'read', types: null, hash: OTHER },
      { name: 'me', scope: 'manage', types: new Set(['download', 'page_view']), hash: '0'.repeat(64) },
    ])
  })

  it.each([undefined, '', ' \n\n', '# nothing'])('may be %j', (text) => {
    expect(read({ API_TOKENS: text }).tokens).toEqual([])
  })

  it.each([
    ['one word', 'ci', ['API_TOKENS.1 must be NAME SCOPE HASH, or NAME SCOPE:TYPE,TYPE HASH']],
    ['four words', `ci read all ${HASH}`, [expect.stringMatching(/^API_TOKENS\.1 must be NAME SCOPE HASH/)]],
    ['a bad name', `c.i read ${HASH}`, [expect.stringMatching(/^API_TOKENS\.1\.name must have up to 32/)]],
    ['a long name', `${'a'.repeat(33)} read ${HASH}`, [expect.stringMatching(/^API_TOKENS\.1\.name must have/)]],
    ['the name of API_TOKEN', `owner read ${HASH}`, [expect.stringMatching(/^API_TOKENS\.1\.name .*not be "owner"/)]],
    ['another scope', `ci write ${HASH}`, [expect.stringMatching(/^API_TOKENS\.1\.scope must be count, read, manage/)]],
    ['a scope in capitals', `ci READ ${HASH}`, [expect.stringMatching(/^API_TOKENS\.1\.scope /)]],
    ['no types', `ci read: ${HASH}`, ['API_TOKENS.1.types must be configured counter types']],
    ['an unknown type', `ci read:page_view,no ${HASH}`, ['API_TOKENS.1.types must be configured counter types']],
    [
      'a short hash',
      'ci read abc',
      [expect.stringMatching(/^API_TOKENS\.1\.hash must be the SHA-256 .*npm run token/)],
    ],
    ['two mistakes', 'ci x y', [expect.stringMatching(/scope/), expect.stringMatching(/hash/)]],
    [
      'one name twice',
      `ci read ${HASH}\n\nci count ${OTHER}`,
      ['API_TOKENS.3.name is already used on an earlier line'],
    ],
    ['one hash twice', `a read ${HASH}\nb count ${HASH}`, ['API_TOKENS.2.hash is already used on an earlier line']],
  ])('with %s is refused, with the line and the field', (_, text, expected) => {
    expect(problemsOf(text)).toEqual(expected)
  })

  it.each([1, null, ['a'], {}])('must be text, not %j', (value) => {
    expect(problemsOf(value)).toEqual(['API_TOKENS must be text with one line per token'])
  })

  it('is reported without its values: a line may hold a token by mistake', () => {
    const secret = 'slotted_geheim'
    for (const text of [secret, `${secret} read x`, `x ${secret} ${HASH}`, `x read ${secret}`, `x read:${secret} z`]) {
      expect(problemsOf(text).length).toBeGreaterThan(0)
      expect(problemsOf(text).join()).not.toContain('geheim')
    }
  })
})

it('manage includes both other scopes, which do not include each other', () => {
  const pairs = SCOPES.flatMap((scope) =>
    SCOPES.filter((needed) => includes(scope, needed)).map((n) => `${scope} ${n}`),
  )
  expect(pairs).toEqual(['count count', 'read read', 'manage count', 'manage read', 'manage manage'])
})

describe('API_TOKEN with fewer than 16 characters', () => {
  const short = (url: string) => shortTokenProblem('x'.repeat(15), url)

  it.each(['http://127.0.0.1:8787/', 'http://localhost/a', 'http://[::1]:8787/', 'http://127.9.9.9'])(
    'will do on this machine: %s',
    (url) => {
      expect(short(url)).toBeNull()
    },
  )

  it.each([
    'https://counter.example/',
    'http://10.0.0.1/',
    'http://127.0.0.1.example.com/',
    'http://localhost.example.com/',
    'http://[::2]/',
    'https://example.com/127.0.0.1',
    'https://localhost@example.com/',
  ])('is a problem elsewhere, with the fix: %s', (url) => {
    expect(short(url)).toMatchObject({ field: 'API_TOKEN', message: expect.stringMatching(/at least 16 .*openssl/) })
    expect(shortTokenProblem('x'.repeat(16), url)).toBeNull()
  })
})
