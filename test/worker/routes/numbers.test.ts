import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sessionCookie } from '../../harness/sign-in.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { tokenLines, tokenOf } from '../../harness/tokens.ts'
import { sharedWorker } from '../../harness/worker.ts'
import { bePatient } from '../patience.ts'
import { countIn, findAll, numbersOn } from '../shown-page.ts'

const COUNTERS = {
  page_view: { record_type: 1, public: true, allowed_origins: ['*'], also: 'visitor' },
  visitor: { record_type: 2, allowed_origins: ['*'], dedupe_seconds: 3_600, unit: 'visitors' },
  site: { record_type: 4, prefixes: ['one.example/', 'two.example/'], also: 'reader' },
  reader: { record_type: 5, dedupe_seconds: 3_600, prefixes: ['one.example/'] },
  crowd: { record_type: 6, prefixes: ['many/'] },
}

stopClockOfFile()
beforeEach(() => bePatient())
const { db, worker } = sharedWorker({ COUNTERS })
beforeAll(async () => {
  worker.env.API_TOKENS = await tokenLines({ limited: 'read:page_view' })
  await worker.add('page_view', { '/a': 1, '/b': 2, '/b/c': 3 })
  await worker.add('visitor', { '/a': 5 })
  await worker.api('POST', '/v1/rollup')
})

/** A page as somebody sees it who is signed in. */
const open = async (path: string, token?: string) => {
  const headers = { Cookie: await sessionCookie(worker, token) }
  return (await worker.fetch(path, { headers })).text()
}
const ask = async (query: string) => {
  const page = await open(`/?type=${query}`)
  const text = async (selector: string) => (await findAll(page, selector))[0]?.text
  return { ...(await numbersOn(page)), found: await text('#found'), message: await text('#list-message') }
}
const sumOf = (counts: readonly (string | undefined)[]) =>
  counts.reduce((sum, text) => sum + (countIn(text ?? '') ?? 0), 0)

describe('The numbers of a page', () => {
  it.each(['today', '7d', '30d', '90d', '12m', 'all'])('are those of the period %s', async (period) => {
    const { tiles, sum, units, list } = await ask(`page_view&period=${period}`)
    expect([tiles.all, tiles.today]).toMatchObject([
      { count: 6, also: 5 },
      { count: 6, also: 5 },
    ])
    expect(list.map(({ key, count, also }) => [key, count, also])).toEqual([
      ['/b/c', 3, 0],
      ['/b', 2, 0],
      ['/a', 1, 5],
    ])
    expect([countIn(sum!), sumOf(units.map(({ Counts }) => Counts))]).toEqual([6, 6])
    expect((await ask(`page_view&period=${period}&find=/b`)).list).toMatchObject([
      { key: '/b/c', count: 3 },
      { key: '/b', count: 2 },
    ])
  })

  it('have days, weeks or months, which add up to the same, and the visitors of each', async () => {
    for (const [query, by, most] of [
      ['30d', 'Day', 30],
      ['30d&by=week', 'Week', 6],
      ['30d&by=month', 'Month', 3],
      ['90d&by=week', 'Week', 14],
      ['12m', 'Month', 12],
      ['12m&by=day', 'Day', 366],
      ['12m&by=week', 'Week', 54],
      ['today&by=week', 'Hour', 25],
      ['all&by=day', 'Month', 1],
    ] as const) {
      const { units, list, sum } = await ask(`page_view&period=${query}&show=both&tz=America/New_York`)
      expect([query, Object.keys(units[0]!)[0], sum]).toEqual([query, by, '6 counts, 5 visitors'])
      expect(units.length).toBeLessThanOrEqual(most)
      const sums = [sumOf(units.map(({ Counts }) => Counts)), sumOf(units.map(({ Visitors }) => Visitors))]
      expect([query, ...sums]).toEqual([query, 6, 5])
      expect(list.map(({ also }) => also)).toEqual([0, 0, 5])
    }
  })

  it('of all time begin with the first month, however long ago, and of more than 999 days have months', async () => {
    await worker.bring([{ type: 'crowd', key: '/old', day: '1999-05-20', count: 7 }])
    const all = await ask('crowd&period=all')
    expect([all.tiles.all!.count, all.sum, all.units[0]]).toMatchObject([
      7,
      '7 counts',
      { Month: 'May 1999', Counts: '7 counts' },
    ])
    const long = await ask('crowd&from=1999-05-25&to=2026-03-01')
    expect([long.sum, long.units[0]]).toMatchObject(['7 counts', { Month: 'May 1999', Counts: '7 counts' }])
  })

  it('have no counts for future hours', async () => {
    expect((await ask('page_view&period=today&tz=UTC')).units).toHaveLength(new Date().getUTCHours() + 1)
  })

  it('rank a prefix with too many keys as far as possible, and say so', async () => {
    const names = Array.from({ length: 10_001 }, (_, i) => `(6, ${i + 10}, 'many/${i}')`)
    await db.arrange(`INSERT INTO counters (record_type, record_id, name) VALUES ${names}`)
    await worker.add('crowd', { 'many/zz': 5, other: 9 })
    await worker.api('POST', '/v1/rollup')
    const many = await ask('crowd&find=many/')
    expect([many.tiles.all!.count, many.note]).toEqual([
      21,
      expect.stringMatching(/^Too many keys match to add them up/),
    ])
    expect(many.list.slice(0, 3).map(({ key, count }) => `${key}: ${count}`)).toEqual([
      'many/0: 0',
      'many/1: 0',
      'many/10: 0',
    ])
    expect(many.message).toMatch(/^Too many matches to rank/)
    // It is not among the first 10,000, and does not begin with the text.
    const inside = await ask('crowd&find=zz')
    expect([inside.found, inside.list]).toEqual(['0 keys · 0 counts', []])
    expect(inside.message).toMatch(/only the first 10,000 keys were searched\.$/)
    const beginning = await ask('crowd&find=many/z')
    expect([beginning.found, beginning.tiles.all!.count]).toEqual(['1 keys · 5 counts', 5])
    expect(beginning.list).toMatchObject([{ key: 'many/zz', count: 5 }])
  })

  it('are those of a prefix that the type lists', async () => {
    await worker.add('site', { 'one.example/': 3, 'one.example/a': 4, 'two.example/': 20 })
    await worker.add('reader', { 'one.example/': 1, 'two.example/': 2 })
    await worker.api('POST', '/v1/rollup')
    for (const [find, total, also] of [
      ['', 27, 3],
      ['one.example/', 7, 1],
      ['two.example/', 20, null],
      ['one', 7, 1],
    ] as const) {
      const { tiles, sum } = await ask(`site&find=${find}`)
      expect([find, tiles.all!.count, tiles.all!.also]).toEqual([find, total, also])
      expect([countIn(sum!), tiles.today!.count]).toEqual([total, total])
    }
  })

  it('are exact, and include what is pending: of a counter, of its type, in the chart and in the list', async () => {
    await worker.api('POST', '/v1/counters/page_view/%2Fa', { by: 10 })
    const own = await numbersOn(await open('/counter?type=page_view&key=/a'))
    expect([own.tiles.all!.count, own.sum]).toEqual([11, '11 counts'])
    await worker.add('page_view', { '/new': 4 })
    for (const period of ['today', '30d', '12m', 'all']) {
      const { tiles, sum, units, list } = await ask(`page_view&period=${period}`)
      expect([tiles.all!.count, tiles.today!.count, countIn(sum!)], period).toEqual([20, 20, 20])
      expect(sumOf(units.map(({ Counts }) => Counts))).toBe(20)
      expect(list.map(({ key, count }) => `${key}: ${count}`)).toEqual(['/a: 11', '/new: 4', '/b/c: 3', '/b: 2'])
    }
    // Nothing of it belongs to a day that is over.
    expect((await ask('page_view&period=yesterday')).sum).toBe('0 counts')
  })

  it('have no visitors for those who may not read that type', async () => {
    const { tiles } = await numbersOn(await open('/?type=page_view', tokenOf('limited')))
    expect(tiles.all).toMatchObject({ count: 20, also: null })
  })
})

describe('A page', () => {
  it('has its numbers in the time zone that the browser last sent, which a cookie keeps until it signs out', async () => {
    const Cookie = await sessionCookie(worker)
    const open = (zone: string, tz = '') =>
      worker.fetch(`/?type=page_view&period=7d${tz}`, { headers: { Cookie: `${Cookie}; __Host-zone=${zone}` } })
    const zoneOf = async (response: Awaited<ReturnType<typeof open>>) => (await numbersOn(await response.text())).zone
    expect(await zoneOf(await open(''))).toBe('UTC')
    expect(await zoneOf(await open('Europe/Nowhere'))).toBe('UTC')
    expect(await zoneOf(await open('Europe/Berlin'))).toBe('Europe/Berlin')
    const told = await open('Europe/Berlin', '&tz=Asia/Tokyo')
    expect(told.headers.get('Set-Cookie')).toMatch(/^__Host-zone=Asia%2FTokyo; .*HttpOnly; (Secure; )?SameSite=Lax/)
    expect(await zoneOf(told)).toBe('Asia/Tokyo')
    expect((await open('Asia/Tokyo', '&tz=Asia/Tokyo')).headers.get('Set-Cookie')).toBe(null)
  })

  it('shows every key as text', async () => {
    await worker.add('visitor', { '</script><b>': 1 })
    const html = await (
      await worker.fetch('/?type=visitor', { headers: { Cookie: await sessionCookie(worker) } })
    ).text()
    expect(html).toContain('<bdi>&lt;/script&gt;&lt;b&gt;</bdi>')
    expect(html).not.toContain('</script><b>')
  })
})
