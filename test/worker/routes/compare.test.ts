import { describe, expect, it, vi } from 'vitest'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'

const COUNTERS = { release: { record_type: 1, public: true, readings: true }, secret: { record_type: 2 } }
const db = emptiedDatabase()
const DAY_MS = 86_400_000

const compare = async (worker: TestWorker, ...keys: string[]) => {
  const query = new URLSearchParams(keys.map((key) => ['key', key]))
  const response = await worker.api('GET', `/v1/compare/release?${query}`)
  expect(response.status).toBe(200)
  return response.json()
}

describe('Counters by age', () => {
  it('begin on the first day on which each counted, in the order of the keys', async () => {
    const worker = new TestWorker(db.url, { COUNTERS })
    stopClock()
    vi.setSystemTime('2026-11-20T10:00:00Z')
    const counters = [
      { key: 'v1/a.zip', day: '2026-11-15', count: 5 },
      { key: 'v1/a.zip', day: '2026-11-17', count: 2 },
      { key: 'v2/a.zip', day: '2026-11-19', count: 9 },
      { key: 'v2/a.zip', day: '2026-11-20', count: 1 },
    ].map((row) => ({ type: 'release', ...row }))
    await worker.bringAll(counters)
    expect(await compare(worker, 'v2/a.zip', 'never', 'v1/a.zip')).toEqual({
      type: 'release',
      counters: [
        { key: 'v2/a.zip', first: '2026-11-19', counts: [9, 1] },
        { key: 'never', first: null, counts: [] },
        { key: 'v1/a.zip', first: '2026-11-15', counts: [5, 0, 2, 0, 0, 0] },
      ],
      consistency: 'rolled',
    })
  })

  it('are CSV with a column for each key, if asked for', async () => {
    const worker = new TestWorker(db.url, { COUNTERS })
    stopClock()
    vi.setSystemTime('2026-11-20T10:00:00Z')
    const counters = [
      { key: '=a, "b"', day: '2026-11-19', count: 9 },
      { key: '=a, "b"', day: '2026-11-20', count: 1 },
      { key: 'c', day: '2026-11-20', count: 2 },
    ].map((row) => ({ type: 'release', ...row }))
    await worker.bringAll(counters)
    const query = new URLSearchParams([...['never', 'c', '=a, "b"'].map((key) => ['key', key]), ['format', 'csv']])
    const response = await worker.fetch(`/v1/compare/release?${query}`)
    const header = (name: string) => response.headers.get(name)
    expect([response.status, header('Content-Type'), header('Cache-Control'), header('Content-Disposition')]).toEqual([
      200,
      'text/csv; charset=utf-8',
      'public, max-age=30',
      'attachment; filename="release-by-age.csv"',
    ])
    expect(await response.text()).toBe('"day","never","c","\'=a, ""b"""\r\n1,,2,9\r\n2,,,1\r\n')
    expect((await worker.fetch('/v1/compare/release?key=a&format=xml')).status).toBe(422)
  })

  it('have a year at most, with the days that readings booked', async () => {
    const worker = new TestWorker(db.url, { COUNTERS })
    stopClock()
    const first = Date.parse('2024-02-20T00:30:00Z')
    for (const [day, count] of [
      [0, 3],
      [364, 10],
      [365, 100],
      [400, 1_000],
    ] as const) {
      vi.setSystemTime(first + day * DAY_MS)
      const readings = [{ type: 'release', key: 'v1/a.zip', count }]
      expect((await worker.api('POST', '/v1/readings', { readings })).status).toBe(200)
    }
    const { counters } = (await compare(worker, 'v1/a.zip')) as { counters: { first: string; counts: number[] }[] }
    expect(counters[0]!.first).toBe('2024-02-20')
    expect(counters[0]!.counts).toEqual([3, ...Array(363).fill(0), 7])
  })

  it('of a private type need a token, and 20 are the most', async () => {
    const worker = new TestWorker(db.url, { COUNTERS })
    expect((await worker.fetch('/v1/compare/release?key=a')).status).toBe(200)
    expect((await worker.fetch('/v1/compare/secret?key=a')).status).toBe(401)
    const keys = new URLSearchParams(Array.from({ length: 21 }, (_, nth) => ['key', `${nth}`]))
    expect((await worker.fetch(`/v1/compare/release?${keys}`)).status).toBe(422)
  })
})
