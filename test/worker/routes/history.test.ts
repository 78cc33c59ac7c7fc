import { describe, expect, it } from 'vitest'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker } from '../../harness/worker.ts'

stopClockOfFile()
const { worker } = sharedWorker({
  COUNTERS: { page_view: { record_type: 1, public: true, allowed_origins: ['*'] }, secret: { record_type: 3 } },
})

interface History {
  from: string
  points: { start: string; count: number }[]
}

const json = async (path: string) => {
  const response = await worker.fetch(path)
  expect(response.status).toBe(200)
  return (await response.json()) as History
}

describe('The history of a counter', () => {
  it('contains all periods, empty ones included, before and after a roll-up', async () => {
    await worker.api('POST', '/v1/counters/page_view/a', { by: 3 })
    const expected = [...Array.from({ length: 29 }, () => 0), 3]
    const pending = await json('/v1/counters/page_view/a/history')
    expect(pending).toMatchObject({ type: 'page_view', key: 'a', by: 'day', timeZone: 'UTC', adjustments: [] })
    expect(pending.points.map(({ count }) => count)).toEqual(expected)
    expect(pending.points.at(-1)!.start).toMatch(/^\d{4}-\d\d-\d\dT00:00:00Z$/)
    expect(pending.from).toBe(pending.points[0]!.start)
    await worker.api('POST', '/v1/rollup')
    await worker.api('POST', '/v1/counters/page_view/a', { by: 2 })
    for (const [by, length] of Object.entries({ hour: 24, day: 30, week: 12, month: 12 })) {
      for (const tz of ['UTC', 'Asia/Kathmandu']) {
        const { points } = await json(`/v1/counters/page_view/a/history?by=${by}&tz=${tz}`)
        const sum = points.reduce((all, { count }) => all + count, 0)
        expect([by, tz, points.length, sum]).toEqual([by, tz, length, 5])
      }
    }
  })
})

describe('A query for a history, a ranking or a search', () => {
  const history = '/v1/counters/page_view/a/history'
  const ofType = '/v1/types/page_view/history'
  const total = '/v1/types/page_view'
  const top = '/v1/top/page_view'
  const search = '/v1/search/page_view'

  it.each([
    [`${history}?by=year`, 'by', 'hour, day, week, month'],
    [`${history}?from=yesterday`, 'from', '2026-11-01'],
    [`${history}?from=2026-02-30`, 'from', '2026-11-01'],
    [`${history}?from=2026-11-01T00:00:00.1234567890Z`, 'from', 'nanoseconds'],
    [`${history}?from=2026-11-01T00:00:00`, 'from', 'offset'],
    [`${history}?from=2026-11-01T00:00:00+01:00`, 'from', '%2B'],
    [`${history}?to=1969-01-01`, 'to', '1970'],
    [`${history}?from=9999-12-31`, 'from', '1970 to 2100'],
    [`${history}?from=2026-01-02&to=2026-01-01`, 'to', 'after "from"'],
    [`${history}?from=2000-01-01`, 'from', '2000'],
    [`${history}?tz=Mars/Olympus`, 'tz', 'Europe/Berlin'],
    [`${history}?tz=${'x'.repeat(5_000)}`, 'tz', 'Europe/Berlin'],
    [`${history}?tz=%00`, 'tz', 'Europe/Berlin'],
    [`${history}?tz=`, 'tz', 'Europe/Berlin'],
    [`${history}?tz=UTC&tz=UTC`, 'tz', 'repeated'],
    [`${history}?form=2026-01-01`, 'form', 'parameter'],
    [`${ofType}?by=hour&from=2026-01-01&to=2026-11-01`, 'from', '2000'],
    [`${top}?period=year`, 'period', 'day, week, month, all'],
    [`${top}?limit=0`, 'limit', '1 to 100'],
    [`${top}?limit=101`, 'limit', '1 to 100'],
    [`${top}?limit=1e1`, 'limit', '1 to 100'],
    [`${top}?limit=-1`, 'limit', '1 to 100'],
    [`${top}?date=2026-11-01`, 'date', 'period'],
    [`${top}?period=day&date=2026-13-01`, 'date', '2026-11-20'],
    [`${top}?period=day&date=0001-01-01`, 'date', '1970'],
    [`${top}?from=2026-11-01T00:00:00Z`, 'from', '2026-11-20'],
    [`${top}?from=2026-02-30`, 'from', '2026-11-20'],
    [`${top}?from=1969-12-31`, 'from', '1970'],
    [`${top}?from=2026-11-01&to=9999-12-31`, 'to', '2100'],
    [`${top}?from=2100-01-01`, 'from', 'past'],
    [`${top}?from=2026-11-02&to=2026-11-02`, 'to', 'after "from"'],
    [`${top}?from=2024-01-01&to=2026-09-28`, 'from', '1000 days'],
    [`${top}?from=2024-01-01&period=day`, 'from', 'period'],
    [`${top}?from=2024-01-01&date=2024-01-01`, 'from', 'date'],
    [`${top}?to=2026-11-02`, 'to', 'from'],
    [`${search}?limit=1000`, 'limit', '1 to 100'],
    [`${search}?prefix=${'x'.repeat(513)}`, 'prefix', '512'],
    [`${search}?after=${'x'.repeat(513)}`, 'after', '512'],
  ])('is refused, with the field and the fix: %s', async (path, field, fix) => {
    const response = await worker.api('GET', path)
    const problem = (await response.json()) as { code: string; errors: { field: string; message: string }[] }
    expect([response.status, problem.code]).toEqual([422, 'invalid_request'])
    expect(problem.errors).toEqual([{ field, message: expect.stringContaining(fix) }])
  })

  it('may be spelled in several ways', async () => {
    for (const tz of ['europe%2Fberlin', 'Europe/Berlin']) {
      expect(await json(`${history}?tz=${tz}`)).toMatchObject({ timeZone: 'Europe/Berlin' })
    }
    expect(await json(`${history}?from=2026-11-01T00:00:00%2B01:00&to=2026-11-02&tz=Europe/Berlin`)).toMatchObject({
      timeZone: 'Europe/Berlin',
      from: '2026-11-01T00:00:00+01:00',
      to: '2026-11-02T00:00:00+01:00',
      points: [{ start: '2026-11-01T00:00:00+01:00', count: 0 }],
    })
  })

  it('is open to scripts of other sites for public types, and needs the token for private types', async () => {
    for (const path of [history, total, ofType, top]) {
      const open = await worker.fetch(path)
      expect([path, open.status, open.headers.get('Access-Control-Allow-Origin')]).toEqual([path, 200, '*'])
      expect(open.headers.get('Cache-Control')).toMatch(/^public, /)
      const wrong = await worker.fetch(`${path}?limit=x&by=x`)
      expect([wrong.status, wrong.headers.get('Access-Control-Allow-Origin')]).toEqual([422, '*'])
      const preflight = await worker.fetch(path, {
        method: 'OPTIONS',
        headers: { Origin: 'https://any.example', 'Access-Control-Request-Method': 'GET' },
      })
      expect(preflight.headers.get('Access-Control-Allow-Origin')).toBe('*')
      const secret = path.replace('page_view', 'secret')
      const closed = await worker.fetch(secret)
      expect([closed.status, closed.headers.get('Access-Control-Allow-Origin')]).toEqual([401, null])
      const allowed = await worker.api('GET', secret)
      expect([allowed.status, allowed.headers.get('Cache-Control')?.split(',')[0]]).toEqual([200, 'private'])
      expect((await worker.fetch(path.replace('page_view', 'nope'))).status).toBe(404)
    }
  })

  it('with an ETag is answered 304 if nothing has changed, and 200 if it has', async () => {
    for (const path of [history, total, ofType, top]) {
      const etag = (await worker.fetch(path)).headers.get('ETag')!
      const again = () => worker.fetch(path, { headers: { 'If-None-Match': etag } })
      expect((await again()).status).toBe(304)
      await worker.api('POST', '/v1/counters/page_view/a', { by: 50 })
      await worker.api('POST', '/v1/rollup')
      expect((await again()).status).toBe(200)
    }
  })

  it('is cacheable if its range has ended', async () => {
    const kept = async (query: string) => (await worker.fetch(`${history}?${query}`)).headers.get('Cache-Control')
    expect(await kept('')).toBe('public, no-cache')
    expect(await kept(`to=${new Date(Date.now() + 86_400_000).toISOString()}`)).toBe('public, no-cache')
    expect(await kept('to=2026-11-01')).toBe('public, max-age=300')
  })
})
