import { beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { TestWorker, TOKEN } from '../../harness/worker.ts'

let db: TestDatabase
let worker: TestWorker
beforeAll(async () => {
  db = await freshDatabase()
  worker = new TestWorker(db.url)
})

const json = { 'Content-Type': 'application/json' }
const token = { Authorization: `Bearer ${TOKEN}` }
const post = (path: string, body: BodyInit | undefined, headers: Record<string, string> = { ...json, ...token }) => ({
  path,
  init: { method: 'POST', headers, ...(body !== undefined && { body }) },
})
const increments = (list: unknown) => post('/v1/increments', JSON.stringify({ increments: list }))
const by = (value: string) => post('/v1/counters/page_view/a', `{"by":${value}}`)
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

/** Every kind of bad input: the request, the status and code of the response, and a text that the response must contain. */
const CASES: [string, { path: string; init: RequestInit }, number, string, string][] = [
  ['malformed JSON', post('/hit', '{"type":', json), 400, 'malformed_body', 'JSON'],
  [
    'a form that breaks off',
    post('/login', brokenOff(), {
      'Sec-Fetch-Site': 'same-origin',
      'Content-Type': 'application/x-www-form-urlencoded',
    }),
    400,
    'malformed_body',
    'ended before',
  ],
  ['a body that breaks off', post('/hit', brokenOff(), json), 400, 'malformed_body', 'ended before'],
  ['a body that is not UTF-8', post('/hit', new Uint8Array([0x22, 0xff, 0x22]), json), 400, 'malformed_body', 'UTF-8'],
  ['an empty body', post('/hit', '', json), 400, 'malformed_body', 'JSON'],
  ['JSON that is not an object', post('/hit', '[1]', json), 422, 'invalid_request', 'body must be'],
  ['null', post('/v1/increments', 'null'), 422, 'invalid_request', 'body must be'],
  ['a type of the wrong type', post('/hit', '{"type":1,"key":"a"}', json), 422, 'invalid_request', '"type"'],
  ['a missing key', post('/hit', '{"type":"page_view"}', json), 422, 'invalid_request', '"key"'],
  ['a key that is an object', post('/hit', '{"type":"page_view","key":{}}', json), 422, 'invalid_request', '"key"'],
  ['an empty key', post('/hit', '{"type":"page_view","key":""}', json), 422, 'invalid_request', 'empty'],
  ['an unknown field', post('/hit', '{"type":"page_view","key":"a","by":5}', json), 422, 'invalid_request', '"by"'],
  ['an unknown type in a hit', post('/hit', '{"type":"nope","key":"a"}', json), 422, 'invalid_request', '"type"'],
  [
    'an object method as a type',
    post('/hit', '{"type":"constructor","key":"a"}', json),
    422,
    'invalid_request',
    '"type"',
  ],
  ['an unknown type in a path', post('/v1/counters/nope/a', '{}'), 404, 'unknown_type', 'page_view'],
  ['a missing token', post('/v1/counters/page_view/a', '{}', json), 401, 'unauthorized', 'API_TOKEN'],
  [
    'a wrong token',
    post('/v1/increments', '{}', { ...json, Authorization: 'Bearer nope' }),
    401,
    'unauthorized',
    'token',
  ],
  [
    'the token in another scheme',
    post('/v1/rollup', '', { Authorization: `Basic ${TOKEN}` }),
    401,
    'unauthorized',
    'token',
  ],
  [
    'a token with something after it',
    post('/v1/rollup', '', { Authorization: `Bearer ${TOKEN}x` }),
    401,
    'unauthorized',
    'token',
  ],
  ['an empty token', post('/v1/rollup', '', { Authorization: 'Bearer ' }), 401, 'unauthorized', 'token'],
  ['an oversized hit', post('/hit', 'x'.repeat(9_000), json), 413, 'body_too_large', '8192'],
  ['an oversized list', post('/v1/increments', 'x'.repeat(1_100_000)), 413, 'body_too_large', '1048576'],
  ['an oversized body of unknown length', post('/hit', stream(1_000_000), json), 413, 'body_too_large', '8192'],
  ['a key of 513 bytes', post(`/v1/counters/page_view/${'x'.repeat(513)}`, '{}'), 422, 'invalid_request', '512 bytes'],
  [
    'a key of 513 bytes in 257 letters',
    post('/hit', JSON.stringify({ type: 'page_view', key: `${'é'.repeat(256)}x` }), json),
    422,
    'invalid_request',
    '512 bytes',
  ],
  ['a NUL in a key', post('/v1/counters/page_view/a%00b', '{}'), 422, 'invalid_request', 'NUL'],
  ['a NUL in a hit', post('/hit', '{"type":"page_view","key":"a\\u0000"}', json), 422, 'invalid_request', 'NUL'],
  ['a lone surrogate', post('/hit', '{"type":"page_view","key":"\\ud800"}', json), 422, 'invalid_request', 'surrogate'],
  [
    'a key that is not percent-encoded UTF-8',
    post('/v1/counters/page_view/%ff', '{}'),
    400,
    'malformed_key',
    'percent-encoded',
  ],
  ['a stray percent sign', post('/v1/counters/page_view/50%', '{}'), 400, 'malformed_key', 'percent-encoded'],
  ['a key that is not one segment', post('/v1/counters/page_view/a/b', '{}'), 404, 'not_found', '%2F'],
  ['by of 1.5', by('1.5'), 422, 'invalid_request', '"by"'],
  ['by of 1e300', by('1e300'), 422, 'invalid_request', '"by"'],
  ['by of 2^53', by('9007199254740992'), 422, 'invalid_request', '"by"'],
  ['by as text', by('"1"'), 422, 'invalid_request', '"by"'],
  ['by of null', by('null'), 422, 'invalid_request', '"by"'],
  ['by of true', by('true'), 422, 'invalid_request', '"by"'],
  ['a misspelt field', post('/v1/counters/page_view/a', '{"By":5}'), 422, 'invalid_request', '"By"'],
  ['an unknown parameter', post('/v1/counters/page_view/a?retrun=count', '{}'), 422, 'invalid_request', 'retrun'],
  ['no increments', increments([]), 422, 'invalid_request', '1 to 1000'],
  ['increments that are not a list', increments({}), 422, 'invalid_request', '1 to 1000'],
  [
    '1,001 increments',
    increments(Array(1_001).fill({ type: 'page_view', key: 'a' })),
    422,
    'invalid_request',
    '1 to 1000',
  ],
  [
    'an increment that is not an object',
    increments([{ type: 'page_view', key: 'a' }, 7]),
    422,
    'invalid_request',
    'increments.1',
  ],
  [
    'an increment with an invalid by',
    increments([{ type: 'page_view', key: 'a', by: 0.5 }]),
    422,
    'invalid_request',
    'increments.0.by',
  ],
  ['a wrong method', { path: '/hit', init: { method: 'DELETE' } }, 405, 'method_not_allowed', 'OPTIONS, POST'],
  [
    'a wrong method with the token',
    { path: '/v1/increments', init: { method: 'PATCH', headers: token } },
    405,
    'method_not_allowed',
    'POST',
  ],
  [
    'a form',
    post('/hit', 'type=page_view&key=a', { 'Content-Type': 'application/x-www-form-urlencoded' }),
    415,
    'unsupported_media_type',
    'application/json',
  ],
  [
    'text instead of JSON',
    post('/v1/increments', '{}', { ...token, 'Content-Type': 'text/plain' }),
    415,
    'unsupported_media_type',
    'application/json',
  ],
  [
    'an Idempotency-Key of 256 characters',
    post('/v1/increments', '{}', { ...token, ...json, 'Idempotency-Key': 'x'.repeat(256) }),
    422,
    'invalid_request',
    'Idempotency-Key',
  ],
  [
    'a number as the key of a type with string keys',
    post('/hit', '{"type":"page_view","key":5}', json),
    422,
    'invalid_request',
    'must be a string',
  ],
  [
    'a number as the key of an increment with string keys',
    increments([{ type: 'page_view', key: 5 }]),
    422,
    'invalid_request',
    'increments.0.key',
  ],
  [
    'a key in the query that is not UTF-8',
    { path: '/v1/counters/page_view?key=%ff', init: {} },
    400,
    'malformed_query',
    'percent-encoded',
  ],
  [
    'a stray percent sign in the query',
    { path: '/v1/counters/page_view?key=50%', init: {} },
    400,
    'malformed_query',
    'percent-encoded',
  ],
  [
    'a parameter given twice',
    { path: '/v1/counters/page_view/a?consistency=rolled&consistency=exact', init: {} },
    422,
    'invalid_request',
    'once',
  ],
  ['a read without keys', { path: '/v1/counters/page_view', init: {} }, 422, 'invalid_request', '?key='],
  ['a read of an unknown type', { path: '/v1/counters/nope/a', init: {} }, 404, 'unknown_type', 'page_view'],
  [
    'a read with an unknown consistency',
    { path: '/v1/counters/page_view/a?consistency=maybe', init: {} },
    422,
    'invalid_request',
    'consistency',
  ],
  ['an unknown path', { path: '/wp-login.php', init: {} }, 404, 'not_found', 'path'],
]

describe('Bad input', () => {
  it.each(CASES)('is refused by name, and no row changes: %s', async (_, { path, init }, status, code, names) => {
    const rows = () =>
      db.number('SELECT (SELECT COUNT(*) FROM slotted_counters) + (SELECT COUNT(*) FROM counter_names)')
    const response = await worker.fetch(path, init)
    const text = await response.text()
    expect([response.status, response.headers.get('Content-Type')]).toEqual([status, 'application/problem+json'])
    const problem = JSON.parse(text) as Record<string, unknown>
    expect(problem).toMatchObject({
      status,
      code,
      title: expect.any(String),
      requestId: response.headers.get('X-Request-Id'),
    })
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

  it('is answered without the names of private types', async () => {
    const other = new TestWorker(db.url, {
      COUNTERS: { open: { record_type: 1, public: true }, hidden: { record_type: 2 } },
    })
    const text = await (await other.fetch('/v1/counters/nope/a')).text()
    expect(text).toContain('open')
    expect(text).not.toContain('hidden')
  })

  it('with an unknown type gets X-Hit, so that site owners see why nothing is counted', async () => {
    expect((await worker.hit('nope', 'a')).headers.get('X-Hit')).toBe('ignored; reason=type')
  })
})
