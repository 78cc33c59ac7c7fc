import { beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { TestWorker } from '../harness/worker.ts'

let db: TestDatabase
let worker: TestWorker
beforeAll(async () => {
  db = await freshDatabase()
  worker = new TestWorker(db.url, {
    COUNTERS: {
      page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
      issue: { record_type: 2, key: 'integer', public: true, allowed_origins: ['https://example.com'] },
      secret: { record_type: 3 },
    },
  })
})
const read = async (type: string, key: string) => {
  const response = await worker.fetch(`/v1/counters/${type}/${encodeURIComponent(key)}`)
  return (await response.json()) as Record<string, unknown>
}

it('these tests run in workerd', () => {
  expect(navigator.userAgent).toBe('Cloudflare-Workers')
})

describe('POST /hit', () => {
  it('counts one, says so, and needs no token', async () => {
    const response = await worker.hit('page_view', '/blog/hello')
    expect([response.status, response.headers.get('X-Hit')]).toEqual([204, 'counted'])
    expect(await read('page_view', '/blog/hello')).toEqual({
      type: 'page_view',
      key: '/blog/hello',
      count: 1,
      total: 0,
      pending: 1,
      rolledUpAt: null,
    })
  })

  it('takes JSON sent as text/plain, which needs no preflight', async () => {
    const body = JSON.stringify({ type: 'page_view', key: '/beacon' })
    const response = await worker.fetch('/hit', { method: 'POST', body, headers: { Origin: 'https://any.example' } })
    expect([response.status, response.headers.get('X-Hit')]).toEqual([204, 'counted'])
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect(await read('page_view', '/beacon')).toMatchObject({ count: 1 })
  })

  it('counts for a type’s own origins only, and says why not', async () => {
    const from = (headers: Record<string, string>) => worker.hit('issue', '42', headers)
    expect((await from({ Origin: 'https://example.com' })).headers.get('X-Hit')).toBe('counted')
    expect((await from({ Referer: 'https://example.com/page' })).headers.get('X-Hit')).toBe('counted')
    for (const headers of [
      {},
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Referer: 'https://example.com.evil/' },
    ]) {
      const response = await from(headers)
      expect([response.status, response.headers.get('X-Hit')]).toEqual([204, 'ignored; reason=origin'])
    }
    expect((await worker.hit('secret', 'x', { Origin: 'https://example.com' })).headers.get('X-Hit')).toBe(
      'ignored; reason=origin',
    )
    expect(await read('issue', '42')).toMatchObject({ count: 2 })
  })

  it('answers a preflight', async () => {
    const response = await worker.fetch('/hit', {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://example.com',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type',
      },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('Access-Control-Allow-Methods')).toBe('POST')
  })
})

describe('GET /hit.gif', () => {
  const pixel = (query: string, headers: Record<string, string> = {}, on = worker) =>
    on.fetch(`/hit.gif${query}`, { headers })
  /** Checks that it is an image that a browser shows and keeps no copy of; what became of the hit. */
  const said = async (response: Response) => {
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'image/gif'])
    expect(response.headers.get('Cache-Control')).toContain('no-store')
    const bytes = new Uint8Array(await response.arrayBuffer())
    // GIF89a, one pixel wide and high, up to the trailer.
    expect([...bytes.subarray(0, 10)]).toEqual([0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0])
    expect(bytes.at(-1)).toBe(0x3b)
    return response.headers.get('X-Hit')
  }

  it('counts one, whatever the key, and shows one transparent pixel', async () => {
    for (const key of ['/pixel', 'a b&c=d+e%', '★']) {
      const query = `?type=page_view&key=${encodeURIComponent(key)}`
      expect(await said(await pixel(query))).toBe('counted')
      expect(await said(await pixel(query))).toBe('counted')
      expect(await read('page_view', key)).toMatchObject({ key, count: 2 })
    }
  })

  it('takes integer keys, and counts for a type’s own origins only', async () => {
    const query = '?type=issue&key=4711'
    expect(await said(await pixel(query, { Referer: 'https://example.com/page' }))).toBe('counted')
    expect(await said(await pixel(query, { Referer: 'https://evil.example/' }))).toBe('ignored; reason=origin')
    expect(await said(await pixel(query))).toBe('ignored; reason=origin')
    expect(await read('issue', '4711')).toMatchObject({ count: 1 })
  })

  it('does not count who asks for no image', async () => {
    const response = await worker.fetch('/hit.gif?type=page_view&key=/head', { method: 'HEAD' })
    expect([response.status, response.headers.get('X-Hit')]).toEqual([200, 'ignored; reason=head'])
    expect(await read('page_view', '/head')).toMatchObject({ count: 0 })
  })

  it.each([
    ['nothing', '', 'ignored; reason=invalid_request'],
    ['no key', '?type=page_view', 'ignored; reason=invalid_request'],
    ['no type', '?key=/a', 'ignored; reason=invalid_request'],
    ['an unknown type', '?type=nope&key=/a', 'ignored; reason=type'],
    ['two keys', '?type=page_view&key=/a&key=/b', 'ignored; reason=invalid_request'],
    ['a parameter that is not known', '?type=page_view&key=/a&by=2', 'ignored; reason=invalid_request'],
    ['an empty key', '?type=page_view&key=', 'ignored; reason=invalid_request'],
    ['a key that is too long', `?type=page_view&key=${'x'.repeat(513)}`, 'ignored; reason=invalid_request'],
    ['a key that is no number', '?type=issue&key=007', 'ignored; reason=invalid_request'],
    ['a query that is not UTF-8', '?type=page_view&key=%ff', 'ignored; reason=malformed_query'],
  ])('with %s counts nothing, says why, and is an image all the same', async (_, query, reason) => {
    const before = await db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')
    expect(await said(await pixel(query))).toBe(reason)
    expect(await db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')).toBe(before)
  })

  it.each([
    ['does not answer', 2003, 'ignored; reason=database_unavailable'],
    ['lost the connection', 2013, 'unknown'],
    ['has no tables', 1146, 'ignored; reason=database_not_ready'],
    ['refuses the credentials', 1045, 'ignored; reason=database_unavailable'],
    ['has no room for one more', 1264, 'ignored; reason=count_out_of_range'],
  ])('is an image when the database %s', async (_, errno, reason) => {
    // An isolate of its own, so that its breaker opens for nobody else.
    const other = new TestWorker(db.url, { COUNTERS: worker.env.COUNTERS })
    await db.behave({ faults: [{ action: 'error', errno, match: '^INSERT', times: 100 }] })
    const response = await pixel('?type=page_view&key=/pixel', {}, other)
    await db.behave()
    expect(await said(response)).toBe(reason)
  })
})

describe('POST /v1/counters/:type/:key', () => {
  it('adds, by one if not told otherwise, and gives the count when asked', async () => {
    const path = '/v1/counters/page_view/%2Fa'
    expect(await (await worker.api('POST', path)).json()).toEqual({ type: 'page_view', key: '/a', added: 1 })
    expect(await (await worker.api('POST', path, { by: 41 })).json()).toEqual({
      type: 'page_view',
      key: '/a',
      added: 41,
    })
    const response = await worker.api('POST', `${path}?return=count`, { by: -2 })
    expect(await response.json()).toEqual({ type: 'page_view', key: '/a', added: -2, count: 40 })
    expect(response.headers.get('X-Hit')).toBe('counted')
  })

  it('is exact beyond 2^31 and to the last digit beyond 2^53', async () => {
    const path = '/v1/counters/page_view/large?return=count'
    await worker.api('POST', path, { by: 2 ** 31 })
    expect(await (await worker.api('POST', path, { by: 2 ** 31 })).json()).toMatchObject({ count: 2 ** 32 })
    await worker.api('POST', path, { by: Number.MAX_SAFE_INTEGER })
    const text = await (await worker.api('POST', path, { by: Number.MAX_SAFE_INTEGER })).text()
    expect(text).toContain(`"count":${2n ** 32n + 2n * (2n ** 53n - 1n)}`)
  })

  it('says so when it has counted but cannot read back', async () => {
    await worker.api('POST', '/v1/counters/page_view/unread')
    await db.behave({ faults: [{ action: 'error', errno: 2013, match: 'SELECT COALESCE.MAX.count', times: 3 }] })
    const response = await worker.api('POST', '/v1/counters/page_view/unread?return=count', { by: 4 })
    await db.behave()
    expect([response.status, response.headers.get('X-Hit')]).toEqual([200, 'counted'])
    expect(await response.json()).toEqual({ type: 'page_view', key: 'unread', added: 4, count: null })
    expect(await read('page_view', 'unread')).toMatchObject({ count: 5 })
  })

  it('under an Idempotency-Key counts once', async () => {
    const again = () => worker.api('POST', '/v1/counters/page_view/once', { by: 5 }, { 'Idempotency-Key': 'abc' })
    for (let i = 0; i < 3; i++) expect((await again()).status).toBe(200)
    expect(await read('page_view', 'once')).toMatchObject({ count: 5 })
  })
})

describe('POST /v1/increments', () => {
  it('counts up to a thousand things of all types in one go', async () => {
    const increments = Array.from({ length: 998 }, (_, i) => ({ type: 'page_view', key: `/many/${i % 500}` }))
    const response = await worker.api('POST', '/v1/increments', {
      increments: [
        ...increments,
        { type: 'issue', key: 18446744073709551615n.toString(), by: 7 },
        { type: 'secret', key: 's', by: -3 },
      ],
    })
    expect(await response.json()).toEqual({ accepted: 1_000 })
    expect(await read('page_view', '/many/0')).toMatchObject({ count: 2 })
    expect(await read('issue', '18446744073709551615')).toMatchObject({ count: 7 })
    const secret = await worker.api('GET', '/v1/counters/secret/s')
    expect(await secret.json()).toMatchObject({ count: -3 })
  })

  it('names every bad one and counts nothing', async () => {
    const before = await db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')
    const response = await worker.api('POST', '/v1/increments', {
      increments: [
        { type: 'page_view', key: '/good' },
        { type: 'nope', key: '/x' },
        { type: 'page_view', key: 'x'.repeat(513) },
        { type: 'issue', key: '007' },
      ],
    })
    expect(response.status).toBe(422)
    const { code, errors } = (await response.json()) as { code: string; errors: { field: string }[] }
    expect(code).toBe('invalid_request')
    expect(errors.map(({ field }) => field)).toEqual(['increments.1.type', 'increments.2.key', 'increments.3.key'])
    expect(await db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')).toBe(before)
  })

  it('under an Idempotency-Key counts the whole request once', async () => {
    const body = { increments: Array.from({ length: 50 }, (_, i) => ({ type: 'page_view', key: `/idem/${i}`, by: i })) }
    await Promise.all(
      Array.from({ length: 4 }, () => worker.api('POST', '/v1/increments', body, { 'Idempotency-Key': 'batch-1' })),
    )
    expect(await read('page_view', '/idem/49')).toMatchObject({ count: 49 })
  })
})

describe('an Idempotency-Key', () => {
  const isolate = () => new TestWorker(db.url, { COUNTERS: worker.env.COUNTERS })
  const send = (path: string, body: unknown, key: string, on = worker) =>
    on.api('POST', path, body, { 'Idempotency-Key': key })
  const many = (...entries: [key: string, by: number][]) => ({
    increments: entries.map(([key, by]) => ({ type: 'page_view', key, by })),
  })

  it('counts once from however many isolates, at once and one after another, before and after a roll-up', async () => {
    const path = '/v1/counters/page_view/everywhere'
    const isolates = Array.from({ length: 4 }, isolate)
    const answers = await Promise.all([...isolates, ...isolates].map((on) => send(path, { by: 7 }, 'everywhere', on)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    await worker.cron('* * * * *')
    expect((await send(path, { by: 7 }, 'everywhere', isolate())).status).toBe(200)
    expect(await read('page_view', 'everywhere')).toMatchObject({ count: 7, total: 7, pending: 0 })
  })

  it('stands for one request: what was counted under it stays as it is, whatever comes with it again', async () => {
    await send('/v1/increments', many(['/stands/a', 2], ['/stands/b', 3]), 'stands')
    await send('/v1/increments', many(['/stands/b', 30], ['/stands/a', 20]), 'stands')
    await send('/v1/increments', many(['/stands/a', 200]), 'stands', isolate())
    expect(await read('page_view', '/stands/a')).toMatchObject({ count: 2 })
    expect(await read('page_view', '/stands/b')).toMatchObject({ count: 3 })
  })

  it('is another one if any character differs, up to 255 of them', async () => {
    const keys = ['k', 'K', 'k2', '"k"', 'x'.repeat(255), `${'x'.repeat(254)}y`]
    for (const key of [...keys, ...keys]) {
      expect((await send('/v1/counters/page_view/differs', { by: 1 }, key)).status).toBe(200)
    }
    expect(await read('page_view', 'differs')).toMatchObject({ count: keys.length })
    for (const key of ['', 'x'.repeat(256)]) {
      const response = await send('/v1/counters/page_view/differs', { by: 1 }, key)
      expect(response.status).toBe(422)
      expect(await response.json()).toMatchObject({ errors: [{ field: 'Idempotency-Key' }] })
    }
  })

  it('counts beside increments without one, and the count that comes back has both', async () => {
    const path = '/v1/counters/page_view/beside?return=count'
    await worker.api('POST', path, { by: 100 })
    for (let i = 0; i < 2; i++) {
      expect(await (await send(path, { by: 5 }, 'beside')).json()).toMatchObject({ added: 5, count: 105 })
    }
  })

  it('adds up what one request says of the same counter', async () => {
    for (let i = 0; i < 2; i++) await send('/v1/increments', many(['/twice', 1], ['/twice', 2], ['/twice', -5]), 'adds')
    expect(await read('page_view', '/twice')).toMatchObject({ count: -2 })
  })

  it('that was refused may be used again', async () => {
    const path = '/v1/counters/page_view/refused'
    expect((await send(path, { by: 1.5 }, 'refused')).status).toBe(422)
    expect((await send(path, { by: 3 }, 'refused')).status).toBe(200)
    expect(await read('page_view', 'refused')).toMatchObject({ count: 3 })
  })

  it('makes certain what nobody knew: sent again after a lost answer, it counts once', async () => {
    const path = '/v1/counters/page_view/lost'
    await db.behave({ faults: [{ action: 'cut-answer', match: 'INSERT INTO slotted', times: 3 }] })
    const lost = await send(path, { by: 9 }, 'lost', isolate())
    await db.behave()
    expect([lost.status, lost.headers.get('X-Hit')]).toEqual([503, 'unknown'])
    expect((await send(path, { by: 9 }, 'lost', isolate())).status).toBe(200)
    expect(await read('page_view', 'lost')).toMatchObject({ count: 9 })
  })
})

describe('keys', () => {
  it.each([
    ['a slash and a percent sign', '/50%/off'],
    ['an encoded slash, literally', 'a%2Fb'],
    ['spaces, quotes and backslashes', ` '"\\\` `],
    ['question mark and hash', 'a?b#c'],
    ['SQL', `'); DROP TABLE slotted_counters; -- `],
    ['emoji, right-to-left and combining marks', '👩‍👩‍👧 שלום e\u0301'],
    ['control characters', '\u0001\n\t\r\u007f\u001a'],
    ['exactly 512 bytes', 'é'.repeat(256)],
    ['a placeholder', '? :name ?'],
  ])('with %s are counted and read back as they are', async (_, key) => {
    expect((await worker.hit('page_view', key)).status).toBe(204)
    expect((await worker.api('POST', `/v1/counters/page_view/${encodeURIComponent(key)}`)).status).toBe(200)
    expect(await read('page_view', key)).toMatchObject({ key, count: 2 })
    const listed = await worker.fetch(`/v1/counters/page_view?key=${encodeURIComponent(key)}`)
    expect(await listed.json()).toMatchObject({ counters: [{ key, count: 2 }] })
    const hex = [...new TextEncoder().encode(key)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    expect(await db.number('SELECT COUNT(*) FROM counter_names WHERE LOWER(HEX(name)) = ?', [hex])).toBe(1n)
  })

  it('that differ in case, accents, normal form or trailing space are different counters', async () => {
    const keys = ['key', 'Key', 'kéy', 'ke\u0301y', 'key ', ' key']
    for (const [index, key] of keys.entries()) {
      await worker.api('POST', `/v1/counters/page_view/${encodeURIComponent(key)}`, { by: index + 1 })
    }
    for (const [index, key] of keys.entries()) expect(await read('page_view', key)).toMatchObject({ count: index + 1 })
  })

  it('of integer types are their own record ids and have no names', async () => {
    await worker.api('POST', '/v1/counters/issue/18446744073709551614')
    await worker.api('POST', '/v1/increments', { increments: [{ type: 'issue', key: 0 }] })
    expect(await read('issue', '18446744073709551614')).toMatchObject({ key: '18446744073709551614', count: 1 })
    expect(await read('issue', '0')).toMatchObject({ count: 1 })
    expect(await db.number('SELECT COUNT(*) FROM counter_names WHERE record_type = 2')).toBe(0n)
  })
})
