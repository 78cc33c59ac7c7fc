import { beforeAll, describe, expect, it } from 'vitest'
import { expectProblem } from '../../harness/expect-problem.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

stopClockOfFile()
const { db, worker } = sharedWorker({
  COUNTERS: {
    page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
    post: { record_type: 2, public: true, prefixes: ['/blog/', '/Été/'] },
    lower: { record_type: 3, public: true, same_key: ['letter_case'], prefixes: ['/blog/'] },
    many: { record_type: 5 },
    number: { record_type: 4, public: true },
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
      consistency: 'rolled',
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

/** Views of a day. */
interface Views {
  key: string
  day: string
  count: number
}

/** Keys below `/blog/`, and others that sort close to them. */
const POSTS = ['/blog/', '/blog/a', '/blog/\u{10ffff}', '/blog', '/blog0', '/Blog/a', '/Été/1', '/']
const FIRST_DAY = Date.UTC(2024, 0, 1)
const DAY_MS = 86_400_000
const dayText = (at: number) => new Date(at).toISOString().slice(0, 10)

/** Numbers that look random and are the same every time. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}

describe('A ranking between two days, or of a prefix', () => {
  const views: Views[] = []
  const random = numbersFrom(35)
  beforeAll(async () => {
    for (let i = 0; i < 900; i++) {
      const day = dayText(FIRST_DAY + random(1_000) * DAY_MS)
      views.push({ key: POSTS[random(POSTS.length)]!, day, count: 1 + random(1_000_000) })
    }
    await worker.bringAll(views.map((view) => ({ type: 'post', ...view })))
    await worker.add('post', { '/blog/less': -5 })
    await worker.api('POST', '/v1/rollup')
  })

  const top = async (query: Record<string, string>, type = 'post') => {
    const response = await worker.fetch(`/v1/top/${type}?${new URLSearchParams({ limit: '100', ...query })}`)
    expect(response.status).toBe(200)
    return response.json<{ period: string; start: string; end: string; counters: object[] }>()
  }
  /** What was counted of each key that begins with a text, from one day up to another. */
  const counted = (from: string, to: string, prefix = '') => {
    const sums = new Map<string, number>()
    for (const { key, day, count } of views) {
      if (day >= from && day < to && key.startsWith(prefix)) sums.set(key, (sums.get(key) ?? 0) + count)
    }
    return [...sums].map(([key, count]) => ({ key, count })).sort((a, b) => b.count - a.count)
  }

  it('has what was counted from the first day on, without the day of the end', async () => {
    for (let round = 0; round < 25; round++) {
      const first = random(999)
      const [from, to] = [first, first + 1 + random(1_000 - first)].map((days) => dayText(FIRST_DAY + days * DAY_MS))
      for (const prefix of ['', '/blog/', '/Été/']) {
        expect([from, to, await top({ from: from!, to: to!, prefix })]).toEqual([
          from,
          to,
          {
            type: 'post',
            period: 'custom',
            start: `${from}T00:00:00.000Z`,
            end: `${to}T00:00:00.000Z`,
            counters: counted(from!, to!, prefix),
            consistency: 'rolled',
          },
        ])
      }
    }
  })

  it('of a prefix has all time, and each day, week and month', async () => {
    const prefix = '/blog/'
    expect((await top({ prefix })).counters).toEqual(counted('2024-01-01', '2027-01-01', prefix))
    for (let round = 0; round < 10; round++) {
      const date = views[random(views.length)]!.day
      for (const period of ['day', 'week', 'month']) {
        const { start, end, counters } = await top({ period, date, prefix })
        expect([period, date, counters]).toEqual([period, date, counted(start.slice(0, 10), end.slice(0, 10), prefix)])
      }
    }
  })

  it('without an end includes all that was counted since', async () => {
    await worker.add('page_view', { '/blog/now': 4 })
    await worker.api('POST', '/v1/rollup')
    const from = dayText(Date.now() - 40 * DAY_MS)
    const { end, counters } = await top({ from }, 'page_view')
    expect(Date.parse(end)).toBeGreaterThan(Date.now())
    expect(counters).toContainEqual({ key: '/blog/now', count: 4 })
    const today = dayText(Date.now())
    expect((await top({ from: today }, 'page_view')).counters).toContainEqual({ key: '/blog/now', count: 4 })
    expect((await top({ from, to: today }, 'page_view')).counters).toEqual([])
  })

  it('takes the prefix in the spelling that is counted', async () => {
    await worker.add('lower', { '/Blog/A': 2, '/blogs': 9 })
    await worker.api('POST', '/v1/rollup')
    expect((await top({ prefix: '/BLOG/' }, 'lower')).counters).toEqual([{ key: '/blog/a', count: 2 }])
  })

  it('of a listed prefix is read once for everybody, whatever the limit, also if there are too many keys', async () => {
    const own = new TestWorker(db.url, {
      COUNTERS: { post: { record_type: 2, public: true, prefixes: ['/blog/', 'x'] } },
    })
    const ask = (query: string) => own.fetch(`/v1/top/post?${query}`)
    const statements = await db.recording(async () => {
      const [one, ...others] = await Promise.all([1, 2, 3].map((limit) => ask(`prefix=/blog/&limit=${limit}`)))
      expect(((await one!.json()) as { counters: unknown[] }).counters).toHaveLength(1)
      for (const other of others) expect(other.status).toBe(200)
    })
    expect(statements.filter(({ sql }) => sql.includes('FORCE INDEX (name)') && sql.includes('ORDER BY'))).toHaveLength(
      1,
    )
    const names = Array.from({ length: 10_001 }, (_, i) => `(2, ${i + 5_000_000}, 'x${i}')`)
    await db.arrange(`INSERT INTO counters (record_type, record_id, name) VALUES ${names}`)
    const refused = await db.recording(async () => {
      for (let i = 0; i < 3; i++) await expectProblem(await ask('prefix=x'), 422, 'too_many_keys')
    })
    expect(refused).toHaveLength(1)
  })

  it('of any prefix needs a token, and names the setting to everybody else', async () => {
    const path = '/v1/top/post?prefix=/blog0'
    const message = 'is not public: send a token, or add it to prefixes in [vars.COUNTERS.post]'
    await expectProblem(await worker.fetch(path), 422, 'invalid_request', { errors: [{ field: 'prefix', message }] })
    const answer = await worker.api('GET', path)
    expect(await answer.json()).toMatchObject({ counters: counted('2024-01-01', '2027-01-01', '/blog0') })
    expect(answer.headers.get('Cache-Control')).toBe('private, max-age=30')
  })

  it('has a counter that never leads on a day', async () => {
    const days = ['2026-11-01', '2026-11-02', '2026-11-03', '2026-11-04']
    const rows = days.flatMap((day, n) =>
      Array.from({ length: 400 }, (_, i) => `(5, ${n * 400 + i + 2}, 1, '${day}', ${1_000 - i})`),
    )
    rows.push(...days.map((day) => `(5, 1, 1, '${day}', 550)`))
    await db.arrange(`INSERT INTO counter_periods (record_type, record_id, period, period_start, count) VALUES ${rows}`)
    const names = Array.from({ length: 1_601 }, (_, i) => `(5, ${i + 1}, 'key-${i + 1}')`)
    await db.arrange(`INSERT INTO counters (record_type, record_id, name) VALUES ${names}`)
    const query = 'from=2026-11-01&to=2026-11-05&limit=3'
    for (const prefix of ['', '&prefix=key']) {
      expect(await (await worker.api('GET', `/v1/top/many?${query}${prefix}`)).json()).toMatchObject({
        counters: [{ key: 'key-1', count: 2_200 }, { count: 1_000 }, { count: 1_000 }],
      })
    }
  })

  it('is refused for too many keys, the fewer the longer the period', async () => {
    const names = Array.from({ length: 7_000 }, (_, i) => `(5, ${i + 1_000_000}, 'many-${i}')`)
    await db.arrange(`INSERT INTO counters (record_type, record_id, name) VALUES ${names}`)
    const ask = (query: string) => worker.api('GET', `/v1/top/many?prefix=many-&${query}`)
    expect((await ask('from=2025-01-01&to=2026-01-01')).status).toBe(200)
    const detail = expect.stringMatching(/longer prefix, a shorter period/)
    await expectProblem(await ask('from=2024-01-02&to=2026-09-26'), 422, 'too_many_keys', { detail })
  })
})
