import { beforeAll, describe, expect, it } from 'vitest'
import { visibleKey } from '../../../src/visible-key.ts'
import { sessionCookie } from '../../harness/sign-in.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker } from '../../harness/worker.ts'
import { findAll, numbersOn } from '../shown-page.ts'

const COUNTERS = {
  page: { record_type: 1, also: 'visitor', unit: 'views', keys: 'pages', url: 'https://example.com' },
  visitor: { record_type: 2, dedupe_seconds: 3_600 },
  hostile: { record_type: 3 },
  few: { record_type: 4 },
  prefixed: { record_type: 5, also: 'reader', prefixes: ['/docs/'] },
  reader: { record_type: 6, unit: 'readers', dedupe_seconds: 3_600 },
}
const DAY_MS = 86_400_000

stopClockOfFile()
const { worker } = sharedWorker({ COUNTERS })
let Cookie: string
beforeAll(async () => {
  Cookie = await sessionCookie(worker)
  const [lately, before, long] = [5, 40, 200].map((days) =>
    new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10),
  )
  // Page i has 300 - i views and i + 1 visitors, and had 3 (249 - i) views in the period before.
  const counters = Array.from({ length: 250 }, (_, i) => [
    { type: 'page', key: `/${i}`, count: 300 - i, day: lately! },
    { type: 'visitor', key: `/${i}`, count: i + 1, day: lately! },
    { type: 'page', key: `/${i}`, count: 3 * (249 - i), day: before! },
  ])
  const begun = { type: 'page', key: '/0', count: 1, day: long! }
  await worker.bringAll([...counters.flat().filter(({ count }) => count > 0), begun])
})

const open = async (query: string) => (await worker.fetch(`/?type=${query}`, { headers: { Cookie } })).text()
const keysOn = async (query: string) => (await numbersOn(await open(query))).list.map(({ key }) => key)
const numbered = (from: number, to: number, key = (i: number) => i) =>
  Array.from({ length: to - from }, (_, index) => `/${key(from + index)}`)

describe('The list of a type', () => {
  it('has ten rows at first, and then pages of a hundred, each with a link to the next one', async () => {
    const next = async (query: string) => (await findAll(await open(query), '.pages a')).map(({ text }) => text)
    expect(await keysOn('page')).toEqual(numbered(0, 10))
    expect(await next('page')).toEqual(['Show more', 'Save as CSV'])
    expect(await keysOn('page&page=1')).toEqual(numbered(0, 100))
    expect(await next('page&page=1')).toEqual(['Next', 'Save as CSV'])
    expect(await keysOn('page&page=3')).toEqual(numbered(200, 250))
    expect(await next('page&page=3')).toEqual(['Previous', 'Save as CSV'])
    expect(await open('page&page=3')).toContain('Rows 201 to 250')
  })

  it('is sorted by visitors and by change too, over all pages', async () => {
    const last = (i: number) => 249 - i
    expect(await keysOn('page&sort=also')).toEqual(numbered(0, 10, last))
    expect(await keysOn('page&sort=also&page=2')).toEqual(numbered(100, 200, last))
    expect(await keysOn('page&sort=change')).toEqual(numbered(0, 10, last))
    expect(await keysOn('page&sort=change&page=3')).toEqual(numbered(200, 250, last))
  })

  it('says of a change what it compares, and that a key is new', async () => {
    const { list } = await numbersOn(await open('page&sort=change'))
    expect(list.slice(0, 2).map(({ change }) => change)).toMatchObject([
      { text: 'new', compared: 51, before: 0 },
      { text: '▲ ×17', compared: 52, before: 3 },
    ])
  })

  it('has a row for a negative counter, after all others', async () => {
    await worker.add('few', { a: 5, b: 2 })
    await worker.api('POST', '/v1/counters/few/debt', { by: -3 })
    const { tiles, list } = await numbersOn(await open('few'))
    expect([tiles.all!.count, list.map(({ key, count }) => `${key} ${count}`)]).toEqual([4, ['a 5', 'b 2', 'debt -3']])
  })

  it('is saved with up to a thousand rows, and the chart with its units', async () => {
    const file = async (query: string) => {
      const response = await worker.fetch(query, { headers: { Cookie } })
      expect(response.headers.get('Content-Type')).toBe('text/csv; charset=utf-8')
      const [, name] = /^attachment; filename="(.*)"$/.exec(response.headers.get('Content-Disposition')!)!
      return { name, rows: (await response.text()).replace('\ufeff', '').trimEnd().split('\r\n') }
    }
    const list = await file('/?type=page&csv=list')
    expect(list.name).toMatch(/^page-keys-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/)
    expect([list.rows.length, ...list.rows.slice(0, 3)]).toEqual([
      251,
      '"key","count","visitors","compared","before"',
      '"/0",300,1,300,747',
      '"/1",299,2,299,744',
    ])
    const chart = await file('/?type=page&csv=chart&period=7d')
    expect([chart.rows.length, chart.rows[0], chart.rows.at(-1)!.split(',')[1]]).toEqual([
      8,
      '"start","count","before","also"',
      '0',
    ])
    expect((await file('/counter?type=page&key=/3&csv=chart')).rows).toHaveLength(31)
    const stranger = await worker.fetch('/?type=page&csv=list')
    expect(stranger.headers.get('Content-Type')).toContain('text/html')
  })
})

it('Every period, unit, prefix, sort, page and search is reached by links and a form, without a script', async () => {
  for (let i = 0; i < 12; i++) await worker.add('prefixed', { [`/docs/${i}`]: 1, [`/blog/${i}`]: 1 })
  let address = new URL('https://counter.test/?type=prefixed')
  const page = async () => (await worker.fetch(address.pathname + address.search, { headers: { Cookie } })).text()
  const follow = async (name: string) => {
    const links = await findAll(await page(), 'main a[href]')
    const link = links.findLast(({ text }) => text.startsWith(name))
    expect(link, `${name} among ${links.map(({ text }) => text)}`).toBeDefined()
    address = new URL(link!.attributes.href!, address)
  }
  const units = async () => (await numbersOn(await page())).units.length
  const lengths: number[] = []
  for (const name of ['Today', '7 days', '12 months', 'All time', '30 days']) {
    await follow(name)
    lengths.push(await units())
  }
  expect(lengths).toEqual([new Date().getUTCHours() + 1, 7, 12, 1, 30])
  for (const name of ['90 days', 'Weeks', '/docs/', 'Readers']) await follow(name)
  expect(Object.fromEntries(address.searchParams)).toEqual({
    type: 'prefixed',
    period: '90d',
    by: 'week',
    find: '/docs/',
    sort: 'also',
  })
  // What the form of the search sends: its hidden fields, and what is typed.
  const fields = await findAll(await page(), 'form[role=search] input')
  const sent = fields.map(({ attributes: { name, value } }) => [name!, name === 'find' ? '/blog/' : value!])
  address = new URL((await findAll(await page(), 'form[role=search]'))[0]!.attributes.action!, address)
  address.search = new URLSearchParams(sent).toString()
  await follow('Show more')
  const { list } = await numbersOn(await page())
  expect([list.length, list.every(({ key }) => key.startsWith('/blog/'))]).toEqual([12, true])
  await follow('/blog/')
  expect((await findAll(await page(), 'h1')).map(({ text }) => text)).toEqual([list.at(-1)!.key])
})

it('A key under which nothing was ever counted has a page without numbers, and with nothing to change', async () => {
  const open = async (key: string) =>
    (await worker.fetch(`/counter?type=few&key=${key}`, { headers: { Cookie } })).text()
  const never = await open('never')
  expect(never).toContain('Nothing has been counted under this key.')
  expect(never).not.toMatch(/class="tile"|id="change"/)
  // Set back to zero, it exists.
  for (const count of [5, 0]) await worker.api('PUT', '/v1/counters/few/zero', { count })
  expect(await open('zero')).toMatch(/class="tile".*id="change"/s)
})

const HOSTILE = [
  '<script>document.title="owned"</script>',
  '"><img src=x onerror="alert(1)">',
  '</bdi></h1></textarea></dialog></main><h1>owned</h1>',
  '&lt;b&gt;&amp;&#x41;&nbsp',
  'javascript:alert(1)',
  'שלום/مرحبا',
  '\u202Egnp.efas',
  '👩‍👩‍👧‍👦🏳️‍🌈 e\u0301 👍🏽',
  ' a  b ',
  'a\u200B\u2060b\u00AD',
  'a&key=b=c+d#e?f%2Fg',
  'with\r\nb\tc\u0007\u007f',
  'x'.repeat(512),
  '../../v1/status',
]

it.each(HOSTILE)(
  'The hostile key %j is only text in the list and on its page, and both lead to the counter itself',
  async (key) => {
    await worker.add('hostile', { [key]: 5 })
    const list = await open(`hostile&${new URLSearchParams({ find: key.replace(/[\r\n].*/s, '') })}`)
    const [shown] = await findAll(list, '#top a')
    expect(shown!.text).toBe(visibleKey(key).trim())
    const href = new URL(shown!.attributes.href!, 'https://counter.test')
    expect(href.searchParams.get('key')).toBe(key)
    const page = await (await worker.fetch(href.pathname + href.search, { headers: { Cookie } })).text()
    expect((await findAll(page, 'h1')).map(({ text }) => text)).toEqual([visibleKey(key).trim()])
    expect((await findAll(page, 'title'))[0]!.text).toBe(`${visibleKey(key).trim()} · Slotted Counter`)
    expect((await numbersOn(page)).tiles.all!.count).toBe(5)
    for (const html of [list, page]) expect(html.match(/<script/g)).toHaveLength(1)
  },
)
