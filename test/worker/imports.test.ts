import { beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, type TestDatabase } from '../harness/database.ts'
import { TestWorker } from '../harness/worker.ts'

let db: TestDatabase
let worker: TestWorker
let requests = 0
beforeAll(async () => {
  db = await freshDatabase()
  worker = new TestWorker(db.url, {
    COUNTERS: {
      page_view: { record_type: 1, public: true },
      issue: { record_type: 2, key: 'integer' },
    },
  })
})
const bring = (counters: unknown, key = `key ${requests++}`) =>
  worker.api('POST', '/v1/imports', { counters }, { 'Idempotency-Key': key })
const read = async (path: string) =>
  (await worker.api('GET', path)).json() as Promise<{ rows: Record<string, unknown>[]; next: string | null }>
const count = async (key: string) => {
  const response = await worker.fetch(`/v1/counters/page_view/${encodeURIComponent(key)}`)
  return ((await response.json()) as { count: number }).count
}
const nothing = () => db.number('SELECT COUNT(*) FROM counter_adjustments')

describe('POST /v1/imports', () => {
  it('adds counts, with days and without, once for each Idempotency-Key', async () => {
    const rows = [
      { type: 'page_view', key: '/old', count: 7, day: '2026-11-01' },
      { type: 'page_view', key: '/old', count: 3 },
      { type: 'issue', key: 42, count: '9007199254740993' },
      { type: 'issue', key: '42', count: -1, day: '1970-01-01' },
    ]
    for (let i = 0; i < 3; i++) {
      const response = await bring(rows, 'from the old counter')
      expect([response.status, await response.json()]).toEqual([200, { imported: 4 }])
    }
    expect(await count('/old')).toBe(10)
    expect(await db.number('SELECT count FROM counter_totals WHERE record_type = 2')).toBe(9_007_199_254_740_992n)
    await bring(rows)
    expect(await count('/old')).toBe(20)
  })

  it('takes today and refuses tomorrow', async () => {
    const day = (after: number) => new Date(Date.now() + after * 86_400_000).toISOString().slice(0, 10)
    expect((await bring([{ type: 'page_view', key: 'today', count: 1, day: day(0) }])).status).toBe(200)
    expect((await bring([{ type: 'page_view', key: 'today', count: 1, day: day(1) }])).status).toBe(422)
  })

  it('names every row that is wrong, by index and field, and imports nothing', async () => {
    const before = await nothing()
    const response = await bring([
      { type: 'page_view', key: 'fine', count: 1 },
      { type: 'nope', key: 'a', count: 1 },
      { type: 'page_view', key: '', count: 1 },
      { type: 'issue', key: '007', count: 1, day: '2999-01-01' },
      { type: 'page_view', key: 'a', count: 1, day: '1969-12-31' },
      { type: 'page_view', key: 'x'.repeat(513), count: 1 },
    ])
    expect(response.status).toBe(422)
    const { errors } = (await response.json()) as { errors: { field: string }[] }
    expect(errors.map(({ field }) => field)).toEqual([
      'counters.1.type',
      'counters.2.key',
      'counters.3.day',
      'counters.3.key',
      'counters.4.day',
      'counters.5.key',
    ])
    expect(await nothing()).toBe(before)
  })

  it.each([
    ['no list', {}],
    ['an empty list', { counters: [] }],
    ['too many', { counters: Array(1_001).fill({ type: 'page_view', key: 'a', count: 1 }) }],
    ['a row that is no object', { counters: [5] }],
    ['no count', { counters: [{ type: 'page_view', key: 'a' }] }],
    ['a fraction', { counters: [{ type: 'page_view', key: 'a', count: 0.5 }] }],
    ['a count that JSON does not carry', { counters: [{ type: 'page_view', key: 'a', count: 2 ** 60 }] }],
    ['a count beyond 64 bits', { counters: [{ type: 'page_view', key: 'a', count: '9223372036854775808' }] }],
    ['a count in words', { counters: [{ type: 'page_view', key: 'a', count: 'five' }] }],
    ['a day that never was', { counters: [{ type: 'page_view', key: 'a', count: 1, day: '2026-02-30' }] }],
    ['a time for a day', { counters: [{ type: 'page_view', key: 'a', count: 1, day: '2026-02-03T10:00:00Z' }] }],
    ['something unknown', { counters: [{ type: 'page_view', key: 'a', count: 1, month: '2026-02' }] }],
  ])('refuses %s', async (_, body) => {
    const before = await nothing()
    const response = await worker.api('POST', '/v1/imports', body, { 'Idempotency-Key': 'refused' })
    expect([response.status, await response.json()]).toEqual([
      422,
      expect.objectContaining({ code: 'invalid_request' }),
    ])
    expect(await nothing()).toBe(before)
  })

  it('needs the token, and an Idempotency-Key, and says so', async () => {
    const body = { counters: [{ type: 'page_view', key: 'a', count: 1 }] }
    expect((await worker.fetch('/v1/imports', { method: 'POST', body: JSON.stringify(body) })).status).toBe(401)
    const response = await worker.api('POST', '/v1/imports', body)
    expect([response.status, await response.json()]).toEqual([
      422,
      expect.objectContaining({ errors: [{ field: 'Idempotency-Key', message: expect.stringContaining('header') }] }),
    ])
  })

  it('is refused whole when one of its counters would leave 64 bits', async () => {
    const largest = '9223372036854775807'
    expect((await bring([{ type: 'page_view', key: 'full', count: largest }])).status).toBe(200)
    const response = await bring([
      { type: 'page_view', key: 'beside', count: 1 },
      { type: 'page_view', key: 'full', count: 1 },
    ])
    expect([response.status, await response.json()]).toEqual([
      422,
      expect.objectContaining({ code: 'count_out_of_range' }),
    ])
    expect(await count('beside')).toBe(0)
  })
})

describe('GET /v1/export/:type', () => {
  it('gives all counters, exact, page by page, and what it gives can be imported', async () => {
    const keys = Array.from({ length: 25 }, (_, i) => `/export/${i}`)
    await worker.api('POST', '/v1/increments', {
      increments: keys.map((key, i) => ({ type: 'page_view', key, by: i + 1 })),
    })
    await bring([{ type: 'page_view', key: '/export/3', count: 5, day: '2026-10-01' }])
    for (const [by, limit] of [
      ['total', 1],
      ['total', 7],
      ['day', 4],
      ['day', 1_000],
    ] as const) {
      const rows: Record<string, unknown>[] = []
      let after = ''
      do {
        const page = await read(`/v1/export/page_view?by=${by}&limit=${limit}${after}`)
        rows.push(...page.rows)
        after = page.next === null ? '' : `&after=${page.next}`
      } while (after !== '')
      const sum = (key: string) =>
        rows.filter((row) => row.key === key).reduce((sum, row) => sum + Number(row.count), 0)
      for (const [i, key] of keys.entries()) expect(sum(key)).toBe(i + 1 + (i === 3 ? 5 : 0))
      if (by === 'day') expect(rows).toContainEqual({ key: '/export/3', count: 5, day: '2026-10-01' })
    }
  })

  it('gives integer keys, counts with all their digits, and counters whose name is missing', async () => {
    await bring([{ type: 'issue', key: '18446744073709551615', count: '9007199254740993' }])
    const response = await worker.api('GET', '/v1/export/issue')
    expect(await response.text()).toContain('{"key":"18446744073709551615","count":9007199254740993}')
    await db.execute('INSERT INTO counter_totals VALUES (1, 5, 6, 1, NULL)')
    expect((await read('/v1/export/page_view?limit=1')).rows).toEqual([{ key: null, recordId: '5', count: 6 }])
    await db.execute('DELETE FROM counter_totals WHERE record_type = 1 AND record_id = 5')
  })

  it('ends after the last counter there can be', async () => {
    expect(await read('/v1/export/page_view?after=ffffffffffffffff')).toEqual({ rows: [], next: null })
    expect(await read('/v1/export/page_view?after=ffffffffffffffff&by=day')).toEqual({ rows: [], next: null })
  })

  it.each([
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=1&limit=2',
    'after=',
    'after=zz',
    'after=11111111111111111',
    'by=week',
    'what=1',
  ])('refuses %s', async (query) => {
    const response = await worker.api('GET', `/v1/export/page_view?${query}`)
    expect([response.status, await response.json()]).toEqual([
      422,
      expect.objectContaining({ code: 'invalid_request' }),
    ])
  })

  it('needs the token, also for public types, and a type that is there', async () => {
    expect((await worker.fetch('/v1/export/page_view')).status).toBe(401)
    expect((await worker.api('GET', '/v1/export/nope')).status).toBe(404)
  })
})
