import { describe, expect, it } from 'vitest'
import { expectProblem } from '../../harness/expect-problem.ts'
import { sharedWorker } from '../../harness/worker.ts'

const { worker } = sharedWorker({
  COUNTERS: { page_view: { record_type: 1, public: true }, issue: { record_type: 2 } },
})
const read = async (path: string) =>
  (await worker.api('GET', path)).json() as Promise<{ rows: Record<string, unknown>[]; next: string | null }>

describe('GET /v1/export/:type', () => {
  it('gives the exact counts of all counters, page by page', async () => {
    const keys = Array.from({ length: 25 }, (_, i) => `/export/${i}`)
    await worker.add('page_view', Object.fromEntries(keys.map((key, i) => [key, i + 1])))
    await worker.bring([{ type: 'page_view', key: '/export/3', count: 5, day: '2026-10-01' }])
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

  it('gives all digits of a count', async () => {
    await worker.bring([{ type: 'issue', key: '9223372036854775807', count: '9007199254740993' }])
    const response = await worker.api('GET', '/v1/export/issue')
    expect(await response.text()).toContain('{"key":"9223372036854775807","count":9007199254740993}')
  })

  it('ends after the largest possible record id', async () => {
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
    await expectProblem(await worker.api('GET', `/v1/export/page_view?${query}`), 422, 'invalid_request')
  })

  it('needs the token, also for public types, and an existing type', async () => {
    expect((await worker.fetch('/v1/export/page_view')).status).toBe(401)
    expect((await worker.api('GET', '/v1/export/nope')).status).toBe(404)
  })
})
