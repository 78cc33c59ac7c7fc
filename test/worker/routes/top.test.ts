import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freshDatabase } from '../../harness/database.ts'
import { TestWorker } from '../../harness/worker.ts'

let worker: TestWorker
beforeAll(async () => {
  // Today is the same day in all tests.
  vi.useFakeTimers({ toFake: ['Date'] })
  worker = new TestWorker((await freshDatabase()).url, {
    COUNTERS: {
      page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
      number: { record_type: 4, key: 'integer', public: true },
    },
  })
})
afterAll(() => {
  vi.useRealTimers()
})

describe('The ranking of a type', () => {
  it('names the counters with the highest counts', async () => {
    await worker.api('POST', '/v1/increments', {
      increments: [
        { type: 'page_view', key: '/ü', by: 9 },
        { type: 'page_view', key: 'b', by: 7 },
        { type: 'page_view', key: 'less', by: -1 },
        { type: 'number', key: '9223372036854775807', by: 7 },
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
        { key: '9223372036854775807', count: 7 },
      ],
    })
  })

  it('covers the calendar period of a date', async () => {
    const bounds = async (query: string) => {
      const { start, end } = (await (await worker.fetch(`/v1/top/page_view?${query}`)).json()) as Record<string, string>
      return [start, end]
    }
    expect(await bounds('period=day&date=2026-10-31')).toEqual(['2026-10-31T00:00:00.000Z', '2026-11-01T00:00:00.000Z'])
    expect(await bounds('period=week&date=2027-01-01')).toEqual([
      '2026-12-28T00:00:00.000Z',
      '2027-01-04T00:00:00.000Z',
    ])
    expect(await bounds('period=month&date=2026-12-31')).toEqual([
      '2026-12-01T00:00:00.000Z',
      '2027-01-01T00:00:00.000Z',
    ])
  })
})
