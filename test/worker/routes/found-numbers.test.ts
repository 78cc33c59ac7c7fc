import { beforeAll, describe, expect, it } from 'vitest'
import { sessionCookie } from '../../harness/sign-in.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker } from '../../harness/worker.ts'
import { countIn, findAll, numbersOn } from '../shown-page.ts'

const COUNTERS = {
  page: { record_type: 1, keys: 'pages', unit: 'views', also: 'visitor', prefixes: ['/blog/'] },
  visitor: { record_type: 2, dedupe_seconds: 3_600, unit: 'visitors' },
  site: { record_type: 3, also: 'all' },
  all: { record_type: 4, dedupe_seconds: 3_600, visitors_of: 'site' },
  crowd: { record_type: 5 },
}

stopClockOfFile()
const { db, worker } = sharedWorker({ COUNTERS })
const dayBack = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

beforeAll(async () => {
  await worker.add('page', { '/howto/a': 3, '/blog/Howto-b': 4, '/howto/c': 5, '/other': 70 })
  await worker.add('visitor', { '/howto/a': 1, '/blog/Howto-b': 2, '/other': 30 })
  await worker.bring([
    { type: 'page', key: '/howto/a', day: dayBack(3), count: 100 },
    { type: 'page', key: '/howto/a', day: dayBack(10), count: 50 },
    { type: 'page', key: '/howto/c', day: dayBack(100), count: 2_000 },
    { type: 'page', key: '/other', day: dayBack(10), count: 9_000 },
  ])
  await worker.api('PUT', '/v1/counters/page/%2Fhowto%2Fc', { count: 3_005 })
  await worker.api('POST', '/v1/rollup')
  // Some is pending.
  await worker.add('page', { '/howto/a': 6, '/other': 1 })
})

const open = async (query: string) => {
  const page = await (await worker.fetch(`/?${query}`, { headers: { Cookie: await sessionCookie(worker) } })).text()
  const text = async (selector: string) => (await findAll(page, selector))[0]?.text
  return { ...(await numbersOn(page)), found: await text('#found'), asOf: await text('#as-of') }
}

describe('Figures and chart of a search', () => {
  it.each(['today', '7d', '30d', '12m', 'all'])(
    'are the sum of what it finds, like its heading and its rows: %s',
    async (name) => {
      const today = 3 + 4 + 5 + 6
      const counts = { today, '7d': today + 100, '30d': today + 150, '12m': today + 2_150, all: today + 3_150 }
      const { tiles, sum, list, found, asOf } = await open(`type=page&find=HOWTO&period=${name}`)
      const shown = Object.entries(tiles).map(([tile, { count }]) => [tile, count])
      expect(Object.fromEntries(shown)).toEqual(counts)
      const count = counts[name as keyof typeof counts]
      expect(list.reduce((all, row) => all + row.count!, 0)).toBe(count)
      expect(found).toBe(`3 of 4 pages · ${count.toLocaleString('en')} views`)
      // Of all time, the chart has no counts that were set without a day.
      expect(countIn(sum!)).toBe(name === 'all' ? count - 1_000 : count)
      expect(tiles[name]!.also).toBe(3)
      expect(asOf).toMatch(/^Exact/)
    },
  )

  it('compare it with what was found before', async () => {
    const { change } = await open('type=page&find=howto&period=7d')
    expect([change.compared, change.before]).toEqual([100, 50])
  })

  it('are 0 if it finds nothing', async () => {
    const { tiles, sum, list } = await open('type=page&find=nothing')
    expect([tiles.all!.count, tiles.all!.also, countIn(sum!), list]).toEqual([0, 0, 0, []])
  })

  it('have no visitors of the whole site, which are not those of the keys', async () => {
    await worker.add('site', { '/a': 2, '/b': 3 })
    await worker.add('all', { site: 4 })
    expect((await open('type=site')).tiles.all).toMatchObject({ count: 5, also: 4 })
    expect((await open('type=site&find=a')).tiles.all).toMatchObject({ count: 2, also: null })
  })

  it('are of all keys, and say so, if it finds more than can be added up', async () => {
    const names = Array.from({ length: 1_001 }, (_, i) => `(5, ${i + 10}, 'many/${i}')`)
    await db.arrange(`INSERT INTO counters (record_type, record_id, name) VALUES ${names}`)
    await worker.add('crowd', { 'many/zz': 5, other: 9 })
    const whole = await open('type=crowd&find=many')
    expect([whole.tiles.all!.count, countIn(whole.sum!)]).toEqual([14, 14])
    expect(whole.asOf).toMatch(
      /^Too many keys match to add them up, so the figures and the chart cover all keys\. Exact/,
    )
    // 271 keys have too many rows for years by days.
    const days = `from=${dayBack(998)}&to=${dayBack(0)}`
    const found = [await open('type=crowd&find=9'), await open(`type=crowd&find=9&${days}`)]
    expect(found.map(({ tiles }) => tiles.all!.count)).toEqual([0, 14])
  })
})
