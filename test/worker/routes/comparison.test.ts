import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { addressOfKey } from '../../../src/counters/keys/key-address.ts'
import { toJson } from '../../../src/database/values.ts'
import { isolateOf } from '../../../src/isolate.ts'
import { viewOf } from '../../../src/periods.ts'
import { counterNumbers, typeNumbers } from '../../../src/service/page-numbers.ts'
import { countPeriods } from '../../harness/count-periods.ts'
import { sharedWorker } from '../../harness/worker.ts'
import { numbersOn } from '../shown-page.ts'

/** What the numbers of a page say of a period. */
interface Compared {
  count: number
  compared: number | null
  before: number | null
  until?: string | null
}

interface Numbers {
  figures: Record<'today' | '7d' | '30d' | '12m', Compared>
  chart: Compared & { points: { start: string; count: number; before?: number | null }[]; beforeFirst: string | null }
  list: { counters: (Compared & { key: string; isNew?: true; points?: number[] })[] }
}

/** A type for each test. */
const TYPES = [
  'hourly',
  'weekly',
  'imported',
  'young',
  'yesterday',
  'yearly',
  'finished',
  'twelve',
  'thirteen',
  'early',
  'counted',
  'mixed',
  'recent',
  'fresh',
]
const COUNTERS = Object.fromEntries(
  TYPES.map((name, index) => [name, { record_type: index + 1, prefixes: ['/a'], public: true, public_page: true }]),
)
/** A Thursday. */
const NOW = '2026-11-26T10:30:00Z'
const DAY_MS = 86_400_000

const { db, worker } = sharedWorker({ COUNTERS })
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(Date.parse(NOW))
})
afterAll(() => void vi.useRealTimers())

/** Counts as a roll-up at some time does. */
async function count(type: string, key: string, amount: number, at: string): Promise<void> {
  const { record_type: recordType } = COUNTERS[type]!
  const { recordId } = await addressOfKey({ recordType }, key)
  await countPeriods(db, [{ recordType, recordId, amount: BigInt(amount) }], new Date(at))
  await db.arrange(
    `INSERT IGNORE INTO counters (record_type, record_id, name) VALUES (${recordType}, ${recordId}, '${key}')`,
  )
}

const daysBack = (days: number) => new Date(Date.parse(NOW) - days * DAY_MS).toISOString().slice(0, 10)

/** Imports a count for each of the days before today. */
async function bring(type: string, days: number, countOf: (day: string) => number, keys = ['/a']): Promise<void> {
  const dates = Array.from({ length: days }, (_, index) => daysBack(index + 1))
  const counters = keys.flatMap((key) => dates.map((day) => ({ type, key, day, count: countOf(day) })))
  await worker.bringAll(counters)
}

/** The numbers that a page is drawn from: it shows most of them as pictures and words. @param query that of the page's address */
async function ask(name: string, query: string): Promise<Numbers> {
  const isolate = isolateOf(worker.env)
  const caller = {
    isolate,
    db: isolate.readDb,
    waitUntil: () => {},
    hasToken: async () => true,
    wantsFresh: false,
  }
  const type = isolate.config.types.get(name)!
  const { tz = 'UTC', key } = Object.fromEntries(new URLSearchParams(query))
  const source = { caller, asked: { ...viewOf(query), tz, skip: 0, rows: 10 }, now: new Date(), isPublic: false }
  const numbers =
    key === undefined ? typeNumbers(source, type, [type]) : counterNumbers(source, { type, key, types: [type] })
  return JSON.parse(toJson(await numbers)) as Numbers
}

const weekday = (day: string) => new Date(day).getUTCDay() + 1

describe('A comparison', () => {
  it('of a running period takes the same hours of both, in the total and in every row', async () => {
    for (const [key, times] of [
      ['/a', 1],
      ['/b', 3],
    ] as const) {
      await count('hourly', key, 1, '2026-11-18T12:00:00Z')
      await count('hourly', key, 10 * times, '2026-11-19T03:00:00Z')
      await count('hourly', key, 500 * times, '2026-11-19T10:00:00Z')
      await count('hourly', key, 20 * times, '2026-11-26T09:00:00Z')
      // In the present hour.
      await count('hourly', key, 700 * times, '2026-11-26T10:00:00Z')
    }
    const total = { count: 2_880, compared: 80, before: 40, until: '2026-11-26T10:00:00Z' }
    const { figures, chart, list } = await ask('hourly', 'period=today')
    expect([figures.today, chart]).toMatchObject([total, total])
    expect(list.counters).toMatchObject([
      { key: '/b', count: 2_160, compared: 60, before: 30 },
      { key: '/a', count: 720, compared: 20, before: 10 },
    ])
    // Found by a search, and shown to everybody on the public page too.
    expect((await ask('hourly', 'period=today&find=/b')).list.counters).toMatchObject([{ compared: 60, before: 30 }])
    const shown = await numbersOn(await (await worker.fetch('/stats/hourly?period=today')).text())
    const change = { text: '▲ 100%', until: '10:00' }
    expect([shown.tiles.today, shown.list[1]!.change]).toMatchObject([
      { count: 2_880, ...change, compared: 80, before: 40 },
      { ...change, compared: 20, before: 10 },
    ])
    // Of one counter, with what is pending.
    await worker.add('hourly', { '/a': 5 })
    const own = await ask('hourly', 'period=today&key=/a')
    expect(own.chart).toMatchObject({ count: 725, compared: 20, before: 10 })
    expect(own.figures.today).toMatchObject({ count: 725, compared: 20, before: 10 })
  })

  it('of seven days and more takes the same days of the week, in the chart too', async () => {
    await bring('weekly', 200, weekday, ['/a', '/b'])
    for (const [period, days] of [
      ['7d', 7],
      ['30d', 35],
      ['90d', 91],
      [`custom&from=${daysBack(29)}&to=${daysBack(20)}`, 14],
    ] as const) {
      const { chart, list } = await ask('weekly', `period=${period}`)
      const first = Date.parse(chart.points[0]!.start)
      expect(chart.beforeFirst, period).toBe(new Date(first - days * DAY_MS).toISOString().slice(0, 10))
      for (const point of chart.points) {
        if (!point.start.startsWith('2026-11-26'))
          expect([period, point]).toEqual([period, { ...point, before: point.count }])
        expect(point.before).toBe(2 * weekday(point.start))
      }
      expect(chart.compared, period).toBe(chart.before)
      expect(list.counters.map(({ compared, before }) => [compared, before])).toEqual(
        ['/a', '/b'].map(() => [chart.compared! / 2, chart.before! / 2]),
      )
    }
  })

  it('takes whole days up to yesterday, where hours are not known', async () => {
    await bring('imported', 100, () => 24, ['/a', '/b'])
    await count('imported', '/a', 9, '2026-11-26T09:00:00Z')
    const { figures, chart, list } = await ask('imported', 'period=7d')
    const until = '2026-11-26T00:00:00Z'
    expect(figures).toMatchObject({
      // Of today, nothing can be compared yet.
      today: { count: 9, compared: 0, before: 0, until },
      '7d': { count: 2 * 6 * 24 + 9, compared: 2 * 6 * 24, before: 2 * 6 * 24, until },
      '30d': { compared: 2 * 29 * 24, before: 2 * 29 * 24, until },
    })
    expect(chart).toMatchObject(figures['7d'])
    expect(list.counters).toMatchObject([
      { key: '/a', count: 6 * 24 + 9, compared: 6 * 24, before: 6 * 24 },
      { key: '/b', count: 6 * 24, compared: 6 * 24, before: 6 * 24 },
    ])
    expect((await ask('imported', 'period=7d&key=/a')).chart).toMatchObject({ compared: 6 * 24, before: 6 * 24, until })
    expect((await ask('imported', 'period=7d&find=/a')).chart).toMatchObject({
      compared: 6 * 24,
      before: 6 * 24,
      until,
    })
  })

  it('is not made with days before counting began', async () => {
    // The 20 days before today: enough for two weeks, but not for 30 days.
    await bring('young', 20, () => 1)
    const { figures, chart, list } = await ask('young', 'period=30d')
    expect(figures).toMatchObject({
      today: { before: 0 },
      '7d': { compared: 6, before: 6 },
      '30d': { count: 20, compared: null, before: null, until: null },
    })
    expect(chart).toMatchObject({ compared: null, before: null, beforeFirst: null })
    expect(chart.points.filter((point) => 'before' in point)).toEqual([])
    expect(list.counters).toMatchObject([{ key: '/a', count: 20, compared: null, before: null }])
    // 13 days ago is the first day of the week before.
    for (const [days, before] of [
      [13, 6],
      [12, null],
    ]) {
      const query = `period=custom&from=${daysBack(6)}&to=${daysBack(0)}`
      const type = days === 13 ? 'thirteen' : 'twelve'
      await bring(type, days!, () => 1)
      expect([days, (await ask(type, query)).chart.before]).toEqual([days, before])
      expect([days, (await ask(type, `${query}&key=/a`)).chart.before]).toEqual([days, before])
      expect([days, (await ask(type, `${query}&find=/a`)).chart.before]).toEqual([days, before])
    }
  })

  it('is not made with a day on which counting began', async () => {
    await count('yesterday', '/a', 1, '2026-11-25T08:00:00Z')
    await count('yesterday', '/a', 17, '2026-11-26T09:00:00Z')
    const none = { count: 17, compared: null, before: null }
    const { figures, chart, list } = await ask('yesterday', 'period=today')
    expect([figures.today, chart, ...list.counters]).toMatchObject([none, none, none])
    expect((await ask('yesterday', 'period=today&key=/a')).figures.today).toMatchObject(none)
  })

  it('is not made for today where hours are not known, or in the first hour of a day', async () => {
    await count('early', '/a', 1, '2026-11-10T03:00:00Z')
    await count('early', '/a', 5, '2026-11-25T03:00:00Z')
    expect((await worker.bring([{ type: 'early', key: '/a', day: NOW.slice(0, 10), count: 7 }])).status).toBe(200)
    const imported = await ask('early', 'period=today')
    expect([imported.chart.count, imported.chart.compared]).toEqual([7, 0])
    expect(imported.list.counters).toMatchObject([{ key: '/a', count: 7, compared: 0 }])
    vi.setSystemTime(Date.parse('2026-11-27T00:20:00Z'))
    await count('early', '/a', 2, '2026-11-27T00:05:00Z')
    const early = await ask('early', 'period=today')
    vi.setSystemTime(Date.parse(NOW))
    expect([early.chart.count, early.chart.compared]).toEqual([2, 0])
    expect(early.list.counters).toMatchObject([{ key: '/a', count: 2, compared: 0 }])
  })

  it('of 12 months takes the months of the year before, up to the same day', async () => {
    await bring('yearly', 800, () => 2)
    const { chart, list } = await ask('yearly', 'period=12m')
    expect(chart.points).toHaveLength(12)
    expect(chart.points[1]).toMatchObject({ start: '2026-01-01T00:00:00Z', count: 62, before: 62 })
    expect(chart.points[11]).toMatchObject({ start: '2026-11-01T00:00:00Z', count: 50, before: 60 })
    expect(chart).toMatchObject({ compared: 720, before: 720, until: '2026-11-26T00:00:00Z' })
    expect(list.counters).toMatchObject([{ compared: 720, before: 720 }])
  })

  it('of a finished period takes the whole of both', async () => {
    for (const [at, amount] of [
      ['2026-11-01T00:00:00Z', 1],
      ['2026-11-05T00:00:00Z', 2],
      ['2026-11-07T23:00:00Z', 4],
      ['2026-11-12T00:00:00Z', 8],
      ['2026-11-14T23:00:00Z', 16],
    ] as const) {
      await count('finished', '/a', amount, at)
    }
    const { chart, list } = await ask('finished', 'period=custom&from=2026-11-12&to=2026-11-14')
    const expected = { count: 24, compared: 24, before: 6 }
    expect(chart).toMatchObject({ ...expected, until: null })
    expect(list.counters).toMatchObject([expected])
  })

  it('calls a row new only if nothing of it was counted before the period, and otherwise says that it rises from 0', async () => {
    await count('fresh', '/new', 1, '2026-11-26T09:00:00Z')
    for (const [key, before] of [
      ['/begun', '2026-08-01T00:00:00Z'],
      ['/yesterday', '2026-11-25T20:00:00Z'],
      ['/week', '2026-11-19T20:00:00Z'],
      ['/between', '2026-10-25T12:00:00Z'],
    ] as const) {
      await count('fresh', key, 1, before)
      await count('fresh', key, 1, '2026-11-26T09:00:00Z')
    }
    for (const [query, expected] of [
      ['period=today', ['/new']],
      ['period=7d', ['/new', '/yesterday']],
      ['period=30d&tz=Asia/Kolkata', ['/new', '/week', '/yesterday']],
      [`period=custom&from=${daysBack(1)}&to=${daysBack(1)}`, ['/yesterday']],
    ] as const) {
      const { counters } = (await ask('fresh', query)).list
      const found = counters.filter(({ isNew }) => isNew).map(({ key }) => key)
      expect([query, found.sort()]).toEqual([query, expected])
    }
    const page = await (await worker.fetch('/stats/fresh?period=7d')).text()
    const changes = (await numbersOn(page)).list.map(({ key, change }) => `${key} ${change.text}`)
    expect(changes).toEqual(expect.arrayContaining(['/new new', '/yesterday new', '/begun from 0', '/between from 0']))
  })

  it('adds up: the rows of every period are the total of their spans, imported or counted, begun long ago or lately', async () => {
    const keys = ['/a', '/a/b', '/c']
    const hours = async (type: string, days: number[]) => {
      for (const back of days) {
        for (const [index, key] of keys.entries()) {
          const at = new Date(Date.parse(NOW) - back * DAY_MS - index * 5 * 3_600_000)
          await count(type, key, 1 + index + (back % 7), at.toISOString())
        }
      }
    }
    await hours('counted', [0, 1, 3, 8, 12, 26, 36])
    for (const key of keys) await bring('mixed', 800, weekday, [key])
    await hours('mixed', [0, 1, 3, 8, 36])
    await hours('recent', [0, 1, 2])
    const periods = ['today', '7d', '30d', '90d', '12m', `custom&from=${daysBack(20)}&to=${daysBack(11)}`]
    const compared = new Set<string>()
    for (const type of ['counted', 'mixed', 'recent']) {
      for (const period of periods) {
        for (const query of ['tz=UTC', 'tz=Asia/Kolkata&find=/a']) {
          const say = `${type} ${period} ${query}`
          const { figures, chart, list } = await ask(type, `period=${period}&${query}`)
          const sum = (of: 'count' | 'compared' | 'before') => {
            const parts = list.counters.map((row) => row[of])
            return parts.length === 0 || parts.includes(null) ? null : parts.reduce((all, part) => all! + part!, 0)
          }
          // An empty list has nothing to compare.
          const expected = chart.count === 0 ? [null, null, null] : [chart.count, chart.compared, chart.before]
          expect([sum('count'), sum('compared'), sum('before')], say).toEqual(expected)
          // So do the small charts, unit by unit.
          const points = chart.points.map((_, unit) => list.counters.reduce((all, row) => all + row.points![unit]!, 0))
          expect(points, say).toEqual(chart.points.map(({ count }) => count ?? 0))
          const name = period.replace(/&.*/, '') as keyof typeof figures
          if (name in figures) {
            const { count, compared, before, until } = chart
            expect(figures[name], say).toEqual({ count, compared, before, until })
          }
          if (chart.before !== null) compared.add(`${type} ${name}`)
        }
      }
    }
    // What is compared, and what is not because counting had not begun.
    expect([...compared]).toEqual([
      ...['counted today', 'counted 7d', 'counted custom'],
      ...['mixed today', 'mixed 7d', 'mixed 30d', 'mixed 90d', 'mixed 12m', 'mixed custom'],
    ])
  })
})
