import { describe, expect, it } from 'vitest'
import { sharedWorker, TestWorker, TOKEN } from '../../harness/worker.ts'

const { db, worker } = sharedWorker()

const json = { 'Content-Type': 'application/json' }
const token = { Authorization: `Bearer ${TOKEN}` }
const post = (path: string, body: BodyInit | undefined, headers: Record<string, string> = { ...json, ...token }) => ({
  path,
  init: { method: 'POST', headers, ...(body !== undefined && { body }) },
})
const hit = (body: BodyInit) => post('/hit', body, json)
const hitOf = (key: unknown) => hit(JSON.stringify({ type: 'page_view', key }))
const add = (key: string, body = '{}') => post(`/v1/counters/page_view/${key}`, body)
const by = (value: string) => add('a', `{"by":${value}}`)
const increments = (list: unknown) => post('/v1/increments', JSON.stringify({ increments: list }))
const get = (path: string) => ({ path, init: {} })
const stream = (bytes: number) =>
  new ReadableStream({
    start(controller) {
      for (let sent = 0; sent < bytes; sent += 65_536) controller.enqueue(new Uint8Array(65_536).fill(32))
      controller.close()
    },
  })

const brokenOff = () =>
  new ReadableStream({
    pull(controller) {
      controller.error(new Error('hung up by the test'))
    },
  })

const INVALID = [422, 'invalid_request'] as const
const UNAUTHORIZED = [401, 'unauthorized'] as const
const TOO_LARGE = [413, 'body_too_large'] as const
const MALFORMED_BODY = [400, 'malformed_body'] as const
const MALFORMED_KEY = [400, 'malformed_key'] as const
const MALFORMED_QUERY = [400, 'malformed_query'] as const
const UNSUPPORTED = [415, 'unsupported_media_type', 'application/json'] as const
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const PAGE = { type: 'page_view', key: 'a' }

/** Every kind of bad input: the request, the status and code of the response, and a text that the response must contain. */
const CASES: [string, { path: string; init: RequestInit }, number, string, string][] = [
  ['malformed JSON', hit('{"type":'), ...MALFORMED_BODY, 'JSON'],
  [
    'a form that breaks off',
    post('/login', brokenOff(), { ...FORM, 'Sec-Fetch-Site': 'same-origin' }),
    ...MALFORMED_BODY,
    'ended before',
  ],
  ['a body that breaks off', hit(brokenOff()), ...MALFORMED_BODY, 'ended before'],
  ['a body that is not UTF-8', hit(new Uint8Array([0x22, 0xff, 0x22])), ...MALFORMED_BODY, 'UTF-8'],
  ['an empty body', hit(''), ...MALFORMED_BODY, 'JSON'],
  ['JSON that is not an object', hit('[1]'), ...INVALID, 'body must be'],
  ['null', post('/v1/increments', 'null'), ...INVALID, 'body must be'],
  ['a type of the wrong type', hit('{"type":1,"key":"a"}'), ...INVALID, '"type"'],
  ['a missing key', hit('{"type":"page_view"}'), ...INVALID, '"key"'],
  ['a key that is an object', hitOf({}), ...INVALID, '"key"'],
  ['an empty key', hitOf(''), ...INVALID, 'empty'],
  ['an unknown field', hit('{"type":"page_view","key":"a","by":5}'), ...INVALID, '"by"'],
  ['an unknown type in a hit', hit('{"type":"nope","key":"a"}'), ...INVALID, '"type"'],
  ['an object method as a type', hit('{"type":"constructor","key":"a"}'), ...INVALID, '"type"'],
  ['an unknown type in a path', post('/v1/counters/nope/a', '{}'), 404, 'unknown_type', 'page_view'],
  ['a missing token', post('/v1/counters/page_view/a', '{}', json), ...UNAUTHORIZED, 'API_TOKEN'],
  ['a wrong token', post('/v1/increments', '{}', { ...json, Authorization: 'Bearer nope' }), ...UNAUTHORIZED, 'token'],
  ['an oversized hit', hit('x'.repeat(9_000)), ...TOO_LARGE, '8192'],
  ['an oversized list', post('/v1/increments', 'x'.repeat(1_100_000)), ...TOO_LARGE, '1048576'],
  ['an oversized body of unknown length', hit(stream(1_000_000)), ...TOO_LARGE, '8192'],
  [
    'a body that is longer than another Worker says',
    post('/hit', 'x'.repeat(9_000), { ...json, 'Content-Length': '5' }),
    ...TOO_LARGE,
    '8192',
  ],
  ['a key of 513 bytes', add('x'.repeat(513)), ...INVALID, '512 bytes'],
  ['a key of 513 bytes in 257 letters', hitOf(`${'é'.repeat(256)}x`), ...INVALID, '512 bytes'],
  ['a NUL in a key', add('a%00b'), ...INVALID, 'NUL'],
  ['a NUL in a hit', hitOf('a\0'), ...INVALID, 'NUL'],
  ['a lone surrogate', hitOf('\ud800'), ...INVALID, 'surrogate'],
  ['a key that is not percent-encoded UTF-8', add('%ff'), ...MALFORMED_KEY, 'percent-encoded'],
  ['a stray percent sign', add('50%'), ...MALFORMED_KEY, 'percent-encoded'],
  ['a key that is not one segment', add('a/b'), 404, 'not_found', '%2F'],
  ['by of 1.5', by('1.5'), ...INVALID, '"by"'],
  ['by of 1e300', by('1e300'), ...INVALID, '"by"'],
  ['by of 2^53', by('9007199254740992'), ...INVALID, '"by"'],
  ['by as text', by('"1"'), ...INVALID, '"by"'],
  ['by of null', by('null'), ...INVALID, '"by"'],
  ['by of true', by('true'), ...INVALID, '"by"'],
  ['a misspelt field', add('a', '{"By":5}'), ...INVALID, '"By"'],
  ['an unknown parameter', add('a?retrun=count'), ...INVALID, 'retrun'],
  ['no increments', increments([]), ...INVALID, '1 to 1000'],
  ['increments that are not a list', increments({}), ...INVALID, '1 to 1000'],
  ['1,001 increments', increments(Array(1_001).fill(PAGE)), ...INVALID, '1 to 1000'],
  ['an increment that is not an object', increments([PAGE, 7]), ...INVALID, 'increments.1'],
  ['an increment with an invalid by', increments([{ ...PAGE, by: 0.5 }]), ...INVALID, 'increments.0.by'],
  ['a wrong method', { path: '/hit', init: { method: 'DELETE' } }, 405, 'method_not_allowed', 'OPTIONS, POST'],
  [
    'a wrong method with the token',
    { path: '/v1/increments', init: { method: 'PATCH', headers: token } },
    405,
    'method_not_allowed',
    'POST',
  ],
  ['a form', post('/hit', 'type=page_view&key=a', FORM), ...UNSUPPORTED],
  ['text instead of JSON', post('/v1/increments', '{}', { ...token, 'Content-Type': 'text/plain' }), ...UNSUPPORTED],
  [
    'an Idempotency-Key of 256 characters',
    post('/v1/increments', JSON.stringify({ increments: [PAGE] }), {
      ...token,
      ...json,
      'Idempotency-Key': 'x'.repeat(256),
    }),
    ...INVALID,
    'Idempotency-Key',
  ],
  ['a number as the key of a type with string keys', hitOf(5), ...INVALID, 'must be a string'],
  ['a number as the key of an increment', increments([{ ...PAGE, key: 5 }]), ...INVALID, 'increments.0.key'],
  ['a query that is not UTF-8', get('/v1/counters/page_view?key=%ff'), ...MALFORMED_QUERY, 'percent-encoded'],
  ['a stray percent sign in the query', get('/v1/counters/page_view?key=50%'), ...MALFORMED_QUERY, 'percent-encoded'],
  [
    'a parameter given twice',
    get('/v1/counters/page_view/a?consistency=rolled&consistency=exact'),
    ...INVALID,
    'must not be repeated',
  ],
  ['a read without keys', get('/v1/counters/page_view'), ...INVALID, '?key='],
  ['a read of an unknown type', get('/v1/counters/nope/a'), 404, 'unknown_type', 'page_view'],
  ['an unknown consistency', get('/v1/counters/page_view/a?consistency=maybe'), ...INVALID, 'consistency'],
  ['an unknown path', get('/wp-login.php'), 404, 'not_found', 'path'],
]

describe('Bad input', () => {
  it.each(CASES)('is refused by name, and no row changes: %s', async (_, { path, init }, status, code, names) => {
    const rows = () => db.number('SELECT (SELECT COUNT(*) FROM slotted_counters) + (SELECT COUNT(*) FROM counters)')
    const response = await worker.fetch(path, init)
    const text = await response.text()
    expect([response.status, response.headers.get('Content-Type')]).toEqual([status, 'application/problem+json'])
    const problem = JSON.parse(text) as Record<string, unknown>
    const requestId = response.headers.get('X-Request-Id')
    expect(problem).toMatchObject({ status, code, title: expect.any(String), requestId })
    expect(text).toContain(names)
    expect(await rows()).toBe(0n)
  })

  it('with a wrong method is answered with the allowed methods', async () => {
    expect((await worker.fetch('/hit', { method: 'PUT' })).headers.get('Allow')).toBe('OPTIONS, POST')
    expect((await worker.fetch('/v1/counters/page_view/a', { method: 'PATCH' })).headers.get('Allow')).toContain('GET')
  })

  it('is reported in X-Hit on the paths that count', async () => {
    const hits = CASES.filter(
      ([, { path, init }]) =>
        init.method === 'POST' && /^\/(hit|v1\/increments|v1\/counters\/page_view\/a\?)/.test(path),
    )
    expect(hits.length).toBeGreaterThan(20)
    for (const [, { path, init }, , code] of hits) {
      if (init.body instanceof ReadableStream) continue
      const response = await worker.fetch(path, init)
      expect(response.headers.get('X-Hit')).toMatch(new RegExp(`^ignored; reason=(${code}|type)$`))
    }
  })

  it('leaves nothing in the body that is read next', async () => {
    const send = async (body: Uint8Array<ArrayBuffer>) => {
      const { path, init } = post('/hit', body, { ...json, 'Content-Length': `${body.length}` })
      return (await worker.fetch(path, init)).status
    }
    const right = Uint8Array.from(new TextEncoder().encode('{"type":"page_view","key":"€"}'))
    const cut = right.subarray(0, right.indexOf(0x82) + 1).slice()
    const wrong = Uint8Array.from([0x22, 0xff, 0x22])
    for (const bad of [cut, wrong]) {
      expect(await send(bad)).toBe(400)
      expect(await send(right)).toBe(204)
    }
    expect((await worker.read('page_view', '€')).count).toBe(2)
  })

  it('is answered without the names of private types', async () => {
    const COUNTERS = { open: { record_type: 1, public: true }, hidden: { record_type: 2 } }
    const other = new TestWorker(db.url, { COUNTERS })
    const text = await (await other.fetch('/v1/counters/nope/a')).text()
    expect(text).toContain('open')
    expect(text).not.toContain('hidden')
  })

  it('with an unknown type gets X-Hit, so that site owners see why nothing is counted', async () => {
    expect((await worker.hit('nope', 'a')).headers.get('X-Hit')).toBe('ignored; reason=type')
  })
})

it('An answer lists the first errors only: no request gets an answer that is much longer than itself', async () => {
  const parameters = Array.from({ length: 3_500 }, (_, i) => `p${i}`).join('&')
  for (const path of ['/v1/counters/page_view/a', '/hit', '/badge/page_view/a.svg']) {
    const answer = await worker.fetch(`${path}?${parameters}`, { method: path === '/hit' ? 'POST' : 'GET' })
    expect((await answer.arrayBuffer()).byteLength).toBeLessThan(4_000)
  }
  const answer = await worker.fetch(`/v1/counters/page_view/a?${parameters}`)
  const { detail, errors } = await answer.json<{ detail: string; errors: unknown[] }>()
  expect(errors).toHaveLength(20)
  expect(detail).toBe('p0 is not a parameter of this path (and 3499 more).')
})
