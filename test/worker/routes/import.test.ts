import { describe, expect, it } from 'vitest'
import { PERIODS } from '../../../src/counters/calendar.ts'
import { expectProblem } from '../../harness/expect-problem.ts'
import { countersInRange } from '../../harness/keys-of-ranges.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker } from '../../harness/worker.ts'

stopClockOfFile()
const { db, worker } = sharedWorker({
  COUNTERS: { page_view: { record_type: 1, public: true }, issue: { record_type: 2 } },
})
const count = (key: string) => worker.count('page_view', key)
const adjustments = () => db.number('SELECT COUNT(*) FROM counter_adjustments')

describe('POST /v1/imports', () => {
  it('adds counts with and without days, once for each Idempotency-Key', async () => {
    const rows = [
      { type: 'page_view', key: '/old', count: 7, day: '2026-11-01' },
      { type: 'page_view', key: '/old', count: 3 },
      { type: 'issue', key: '42', count: '9007199254740993' },
      { type: 'issue', key: '42', count: -1, day: '1970-01-01' },
    ]
    for (let i = 0; i < 3; i++) {
      const response = await worker.bring(rows, 'from the old counter')
      expect([response.status, await response.json()]).toEqual([200, { imported: 4 }])
    }
    expect(await count('/old')).toBe(10)
    expect(await db.number('SELECT count FROM counters WHERE record_type = 2')).toBe(9_007_199_254_740_992n)
    await worker.bring(rows)
    expect(await count('/old')).toBe(20)
  })

  it('refuses an Idempotency-Key that came before with other rows', async () => {
    const rows = [{ type: 'page_view', key: 'reused', count: 5 }]
    await worker.bring(rows, 'reused')
    const other = await worker.bring([...rows, { type: 'page_view', key: 'never', count: 1 }], 'reused')
    await expectProblem(other, 422, 'idempotency_key_reused')
    expect((await worker.bring(rows, 'reused')).headers.get('Idempotent-Replayed')).toBe('true')
    expect([await count('reused'), await count('never')]).toEqual([5, 0])
  })

  it('accepts today and refuses tomorrow', async () => {
    const day = (after: number) => new Date(Date.now() + after * 86_400_000).toISOString().slice(0, 10)
    expect((await worker.bring([{ type: 'page_view', key: 'today', count: 1, day: day(0) }])).status).toBe(200)
    expect((await worker.bring([{ type: 'page_view', key: 'today', count: 1, day: day(1) }])).status).toBe(422)
  })

  it('takes rows of an hour out of it, its day and its month, also twice under one name, and refuses an hour in the future', async () => {
    const hour = (after: number) => new Date(Date.now() + after * 3_600_000).toISOString().slice(0, 13)
    const row = (count: number, day: string) => ({ type: 'issue', key: 'flooded', count, day })
    await worker.api('POST', '/v1/counters/issue/flooded', { by: 100 })
    await worker.api('POST', '/v1/rollup')
    const rows = [row(-90, hour(0)), row(-3, hour(0).slice(0, 10)), row(7, '2026-01-01T00')]
    expect([(await worker.bring(rows, 'flood')).status, (await worker.bring(rows, 'flood')).status]).toEqual([200, 200])
    expect(await worker.count('issue', 'flooded')).toBe(14)
    // The rest of a day is shown in its first hour.
    const rest = hour(0).endsWith('T00') ? 7 : 10
    for (const of of ['counters/issue/flooded', 'types/issue']) {
      const last = async (by: string) => {
        const { points } = await (await worker.api('GET', `/v1/${of}/history?by=${by}`)).json<{
          points: { count: number }[]
        }>()
        return points.at(-1)!.count
      }
      expect([of, await last('hour'), await last('day')]).toEqual([of, rest, 7])
    }
    const { wrong } = await (await worker.api('POST', '/v1/verify', {})).json<{ wrong: unknown[] }>()
    expect(wrong).toEqual([])
    for (const day of [hour(1), `${hour(0)}:00`, '2026-01-01T24', '2026-02-30T10']) {
      expect((await worker.bring([row(1, day)])).status, day).toBe(422)
    }
  })

  it('adds an hour that is no longer kept to its day alone, so that the status has nothing to expire', async () => {
    await worker.bring([{ type: 'page_view', key: 'ancient', count: 2, day: '1970-01-01T05' }])
    const { points } = await (
      await worker.api('GET', '/v1/counters/page_view/ancient/history?by=day&from=1970-01-01&to=1970-01-02')
    ).json<{ points: { count: number }[] }>()
    expect(points.map((point) => point.count)).toEqual([2])
    const old = "period_start < '1970-02-01'"
    expect(await db.number(`SELECT COUNT(*) FROM counter_history WHERE ${old}`)).toBe(0n)
    expect(await db.number(`SELECT COUNT(*) FROM type_history WHERE period = ${PERIODS.hour} AND ${old}`)).toBe(0n)
    const status = await (await worker.api('GET', '/v1/status')).json<{ problems: { code: string }[] }>()
    expect(status.problems.map(({ code }) => code)).not.toContain('history_behind')
  })

  it('names every invalid row by index and field, and imports nothing', async () => {
    const before = await adjustments()
    const response = await worker.bring([
      { type: 'page_view', key: 'fine', count: 1 },
      { type: 'nope', key: 'a', count: 1 },
      { type: 'page_view', key: '', count: 1 },
      { type: 'issue', key: '\0', count: 1, day: '2999-01-01' },
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
    expect(await adjustments()).toBe(before)
  })

  it.each([
    ['a missing list', {}],
    ['an empty list', { counters: [] }],
    ['too many rows', { counters: Array(1_001).fill({ type: 'page_view', key: 'a', count: 1 }) }],
    ['a row that is not an object', { counters: [5] }],
    ['a missing count', { counters: [{ type: 'page_view', key: 'a' }] }],
    ['a fraction', { counters: [{ type: 'page_view', key: 'a', count: 0.5 }] }],
    ['a number beyond 2^53', { counters: [{ type: 'page_view', key: 'a', count: 2 ** 60 }] }],
    ['a count beyond 64 bits', { counters: [{ type: 'page_view', key: 'a', count: '9223372036854775808' }] }],
    ['a count in words', { counters: [{ type: 'page_view', key: 'a', count: 'five' }] }],
    ['a day that does not exist', { counters: [{ type: 'page_view', key: 'a', count: 1, day: '2026-02-30' }] }],
    ['a time instead of a day', { counters: [{ type: 'page_view', key: 'a', count: 1, day: '2026-02-03T10:00:00Z' }] }],
    ['an unknown field', { counters: [{ type: 'page_view', key: 'a', count: 1, month: '2026-02' }] }],
  ])('refuses %s', async (_, body) => {
    const before = await adjustments()
    const response = await worker.api('POST', '/v1/imports', body, { 'Idempotency-Key': 'refused' })
    await expectProblem(response, 422, 'invalid_request')
    expect(await adjustments()).toBe(before)
  })

  it('requires an Idempotency-Key', async () => {
    const response = await worker.api('POST', '/v1/imports', { counters: [{ type: 'page_view', key: 'a', count: 1 }] })
    const errors = [{ field: 'Idempotency-Key', message: expect.stringContaining('is required') }]
    await expectProblem(response, 422, 'invalid_request', { errors })
  })

  it('is refused as a whole if a counter would leave 64 bits', async () => {
    const largest = '9223372036854775807'
    const [full, beside] = (await countersInRange('large/', 2, db.ranges)).map(({ name }) => name) as [string, string]
    expect((await worker.bring([{ type: 'page_view', key: full, count: largest }])).status).toBe(200)
    const response = await worker.bring([
      { type: 'page_view', key: beside, count: 1 },
      { type: 'page_view', key: full, count: 1 },
    ])
    await expectProblem(response, 422, 'count_out_of_range')
    // Together they are too much.
    const half = { type: 'page_view', key: beside, count: '4611686018427387904' }
    await expectProblem(await worker.bring([half, half]), 422, 'count_out_of_range')
    expect(await count(beside)).toBe(0)
  })

  it('lists none of its counters if it fails', async () => {
    await db.behave({ faults: [{ action: 'error', errno: 1114, match: 'INTO counter_adjustments', times: 100 }] })
    const response = await worker.bring(
      (await countersInRange('failed/', 2, db.ranges)).map(({ name }) => ({ type: 'page_view', key: name, count: 1 })),
    )
    await db.behave()
    await expectProblem(response, 503, 'database_unavailable')
    const found = await worker.api('GET', '/v1/search/page_view?prefix=failed')
    expect(await found.json()).toMatchObject({ counters: [] })
  })
})
