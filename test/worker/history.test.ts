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
      secret: { record_type: 3 },
      number: { record_type: 4, key: 'integer', public: true },
    },
  })
})

interface History {
  from: string
  to: string
  points: { start: string; count: number }[]
  adjustments: unknown[]
}

const json = async (path: string) => {
  const response = await worker.fetch(path)
  expect(response.status).toBe(200)
  return (await response.json()) as History
}

describe('the history of a counter', () => {
  it('holds what was counted, empty periods included, before and after it is rolled up', async () => {
    await worker.api('POST', '/v1/counters/page_view/a', { by: 3 })
    const expected = [...Array.from({ length: 29 }, () => 0), 3]
    const pending = await json('/v1/counters/page_view/a/history')
    expect(pending).toMatchObject({ type: 'page_view', key: 'a', by: 'day', timeZone: 'UTC', adjustments: [] })
    expect(pending.points.map(({ count }) => count)).toEqual(expected)
    expect(pending.points.at(-1)!.start).toMatch(/^\d{4}-\d\d-\d\dT00:00:00Z$/)
    expect(pending.from).toBe(pending.points[0]!.start)
    await worker.api('POST', '/v1/rollup')
    await worker.api('POST', '/v1/counters/page_view/a', { by: 2 })
    for (const [by, length] of Object.entries({ hour: 24, day: 30, month: 12 })) {
      for (const tz of ['UTC', 'Asia/Kathmandu']) {
        const { points } = await json(`/v1/counters/page_view/a/history?by=${by}&tz=${tz}`)
        expect([by, tz, points.length, points.at(-1)!.count]).toEqual([by, tz, length, 5])
      }
    }
  })
})

describe('the ranking of a type', () => {
  it('names the counters with the most', async () => {
    await worker.api('POST', '/v1/increments', {
      increments: [
        { type: 'page_view', key: '/ü', by: 9 },
        { type: 'page_view', key: 'b', by: 7 },
        { type: 'page_view', key: 'less', by: -1 },
        { type: 'number', key: '18446744073709551615', by: 7 },
        { type: 'number', key: '7', by: 8 },
      ],
    })
    await worker.api('POST', '/v1/rollup')
    for (const period of ['all', 'day', 'week', 'month']) {
      const top = await (await worker.fetch(`/v1/top/page_view?period=${period}&limit=2`)).json()
      expect(top).toMatchObject({
        type: 'page_view',
        period,
        counters: [
          { key: '/ü', count: 9 },
          { key: 'b', count: 7 },
        ],
      })
    }
    expect(await (await worker.fetch('/v1/top/number')).json()).toEqual({
      type: 'number',
      period: 'all',
      start: null,
      end: null,
      counters: [
        { key: '7', count: 8 },
        { key: '18446744073709551615', count: 7 },
      ],
    })
  })
})
