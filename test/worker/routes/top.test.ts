import { describe, expect, it } from 'vitest'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker } from '../../harness/worker.ts'

stopClockOfFile()
const { worker } = sharedWorker({
  COUNTERS: {
    page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
    number: { record_type: 4, key: 'integer', public: true },
  },
})

describe('The ranking of a type', () => {
  it('names the counters with the highest counts', async () => {
    await worker.add('page_view', { '/ü': 9, b: 7, less: -1 })
    await worker.add('number', { '9223372036854775807': 7, '7': 8 })
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

  it.each([
    ['day', '2026-10-31', '2026-10-31', '2026-11-01'],
    ['week', '2027-01-01', '2026-12-28', '2027-01-04'],
    ['month', '2026-12-31', '2026-12-01', '2027-01-01'],
  ])('covers the %s of a date: %s', async (period, date, start, end) => {
    const top = await worker.fetch(`/v1/top/page_view?period=${period}&date=${date}`)
    const midnights = { start: `${start}T00:00:00.000Z`, end: `${end}T00:00:00.000Z` }
    expect(await top.json()).toMatchObject(midnights)
  })
})
