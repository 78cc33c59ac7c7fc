import { Temporal } from 'temporal-polyfill'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fillSampleSite, SAMPLE_COUNTERS } from '../../../scripts/fill-sample-site.ts'
import { onVitess } from '../../harness/on-vitess.ts'
import { sessionCookie } from '../../harness/sign-in.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { tokenLines, tokenOf } from '../../harness/tokens.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'
import { bePatient } from '../patience.ts'
import { countIn, findAll } from '../shown-page.ts'

const COUNTERS = { ...SAMPLE_COUNTERS, article: { record_type: 5, title: 'Articles' } }
const ZONES = ['UTC', 'Asia/Kathmandu', 'America/New_York']

stopClockOfFile()
const { db, worker } = sharedWorker({ COUNTERS })

async function open(
  on: TestWorker,
  { tz = 'UTC', path = '/', token }: { tz?: string; path?: string; token?: string } = {},
) {
  const Cookie = `${await sessionCookie(on, token)}; __Host-zone=${encodeURIComponent(tz)}`
  return (await on.fetch(path, { headers: { Cookie } })).text()
}
const texts = async (page: string, selector: string) => (await findAll(page, selector)).map(({ text }) => text)
const tabs = (page: string) => texts(page, 'header nav a')

/** The numbers of the page: a list for each row. */
async function startOf(page: string) {
  const changed = async (title: string) => {
    const of = `[aria-label="${title}"] tbody`
    const [keys, counts, changes] = await Promise.all([
      texts(page, `${of} bdi`),
      texts(page, `${of} .count`),
      findAll(page, `${of} .growth`),
    ])
    return keys.map((key, row) => ({
      key,
      count: countIn(counts[row]!),
      change: changes[row]!.text.replace('+', '').replace(' new', '').replaceAll(',', ''),
      isNew: changes[row]!.text.endsWith('new'),
      tip: changes[row]!.attributes.title,
    }))
  }
  const figures = (await texts(page, '.type b')).map(countIn)
  const titles = await texts(page, '.type h2 a')
  return {
    titles,
    /** Today, yesterday, the week and all time. */
    figures: titles.map((_, row) => figures.slice(row * 4, row * 4 + 4)),
    tips: (await findAll(page, '.type .growth')).map(({ attributes }) => attributes.title),
    small: await texts(page, '.type div small'),
    rising: await changed('Rising'),
    falling: await changed('Falling'),
    best: (await texts(page, '#best'))[0],
    round: (await texts(page, '#round'))[0],
  }
}

const PENDING = 75
const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0)

describe.skipIf(onVitess)('The start page', () => {
  beforeEach(() => bePatient())
  // The site is written in statements that would span shards.
  beforeAll(async () => {
    await fillSampleSite(db.url, new Date())
    await worker.add('page_view', { '/': 70, '/pricing': 5 })
  })

  const read = async (of: string, by: string, from: Temporal.PlainDate, to: Temporal.PlainDate, tz: string) => {
    const query = new URLSearchParams({ by, from: `${from}`, to: `${to}`, tz })
    const answer = await worker.api('GET', `/v1/${of}/history?${query}`)
    return (await answer.json<{ points: { count: number }[] }>()).points.map(({ count }) => count)
  }

  it.each(ZONES)('has the numbers of the API for the same days, in %s', async (tz) => {
    const today = Temporal.Now.instant().toZonedDateTimeISO(tz).toPlainDate()
    const ago = (days: number) => today.subtract({ days })
    const page = await open(worker, { tz })
    const shown = await startOf(page)
    expect(shown.titles).toEqual(['Page views', 'Downloads', 'Articles'])
    for (const [row, name] of ['page_view', 'download'].entries()) {
      const hasBegun = Date.now() - (Date.now() % 3_600_000) >= today.toZonedDateTime(tz).epochMilliseconds
      const pending = name === 'page_view' && hasBegun ? PENDING : 0
      const count = async (from: number, to: number) => sum(await read(`types/${name}`, 'day', ago(from), ago(to), tz))
      const total = await (await worker.api('GET', `/v1/types/${name}`)).json<{ count: number }>()
      expect(shown.figures[row], name).toEqual([
        (await count(0, -1)) + pending,
        await count(1, 0),
        await count(7, 0),
        total.count,
      ])
      const digits = (count: number) => count.toLocaleString('en')
      // Of a finished period, the tip has both counts.
      expect(shown.tips.slice(row * 4 + 1, row * 4 + 3), name).toEqual([
        `${digits(await count(1, 0))} compared with ${digits(await count(8, 7))}`,
        `${digits(await count(7, 0))} compared with ${digits(await count(14, 7))}`,
      ])
    }
    expect(shown.small[0]).toBe(
      `${sum(await read('types/visitor', 'day', ago(7), today, tz)).toLocaleString('en')} visitors in 7 days`,
    )

    // Each key of the type is asked for: these changed most.
    const answer = await worker.api('GET', '/v1/export/page_view?limit=1000')
    const { rows } = await answer.json<{ rows: { key: string }[] }>()
    // One after another: hundreds at once exceed the deadline of a busy machine.
    const changes: { key: string; count: number; before: number; change: number }[] = []
    for (const { key } of rows) {
      const days = await read(`counters/page_view/${encodeURIComponent(key)}`, 'day', ago(14), today, tz)
      const [before, count] = [sum(days.slice(0, 7)), sum(days.slice(7))]
      changes.push({ key, count, before, change: count - before })
    }
    for (const [title, sign] of [
      ['rising', 1],
      ['falling', -1],
    ] as const) {
      const most = changes.filter(({ change }) => sign * change > 0).sort((a, b) => sign * (b.change - a.change))
      expect(shown[title].map(({ change }) => Number(change))).toEqual(most.slice(0, 5).map(({ change }) => change))
      for (const { key, count, change, tip } of shown[title]) {
        const own = most.find((each) => each.key === key)!
        expect([count, Number(change)]).toEqual([own.count, own.change])
        expect(tip).toBe(`${own.count.toLocaleString('en')} compared with ${own.before.toLocaleString('en')}`)
      }
    }

    const utc = Temporal.Now.instant().toZonedDateTimeISO('UTC').toPlainDate()
    const year = await read('types/page_view', 'day', utc.subtract({ days: 364 }), utc.add({ days: 1 }), 'UTC')
    year[364]! += PENDING
    const most = Math.max(...year)
    expect(countIn(shown.best!.split(':')[1]!)).toBe(most)
    const day = utc.subtract({ days: 364 - year.indexOf(most) })
    expect(shown.best).toContain(` ${day.day} ${day.toLocaleString('en', { month: 'short' })}`)
    expect(shown.best!.includes('in UTC')).toBe(tz !== 'UTC')

    const [, , week, total] = shown.figures[0] as number[]
    const power = 10 ** (String(total).length - 1)
    const round = (Math.floor(total! / power) + 1) * power
    const days = Math.ceil(((round - total!) * 7) / week!)
    expect(shown.round).toBe(
      days > 365
        ? undefined
        : `${round.toLocaleString('en')} views in about ${days} ${days === 1 ? 'day' : 'days'} at this pace`,
    )
  })

  it('says new only of keys that were counted for the first time in these days', async () => {
    const { rising } = await startOf(await open(worker))
    const first = Temporal.Now.plainDateISO('UTC').subtract({ days: 7 })
    const before = await Promise.all(
      rising.map(async ({ key }) => {
        const of = `counters/page_view/${encodeURIComponent(key)}`
        return sum(await read(of, 'day', first.subtract({ days: 400 }), first, 'UTC'))
      }),
    )
    expect(rising.map(({ isNew }) => isNew)).toEqual(before.map((count) => count === 0))
    expect(new Set(rising.map(({ isNew }) => isNew)).size).toBe(2)
  })

  it('links to the pages of types and counters, to the public page and to the feed', async () => {
    const page = await open(worker)
    const links = (await findAll(page, 'main a')).map(({ attributes }) => attributes.href)
    expect(links.slice(0, 3)).toEqual(['/?type=page_view', '/?type=download', '/?type=article'])
    expect(links.slice(-2)).toEqual(['/stats/page_view', '/stats/page_view.atom'])
    for (const link of links.slice(3, -2)) expect(link).toMatch(/^\/counter\?type=page_view&key=/)
  })

  it('leads to the first steps of a type that has never counted', async () => {
    const page = await open(worker)
    expect((await startOf(page)).small.at(-1)).toBe('Nothing counted yet: first steps')
    expect(await texts(await open(worker, { path: '/?type=article' }), '#first-run h2')).toEqual([
      'Count the first hit',
    ])
  })

  it('has no tab and no row for a type that only accompanies another one, unless the token covers that one only', async () => {
    const page = await open(worker)
    expect(await tabs(page)).toEqual(['Today', 'Page views', 'Downloads', 'Articles'])
    expect((await findAll(page, 'header nav a[aria-current]')).map(({ attributes }) => attributes.href)).toEqual(['/'])
    const visitors = await open(worker, { path: '/?type=visitor' })
    expect(await texts(visitors, 'h1')).toEqual(['Visitors'])
    const API_TOKENS = await tokenLines({ limited: 'read:visitor' })
    const limited = await open(new TestWorker(db.url, { COUNTERS, API_TOKENS }), { token: tokenOf('limited') })
    expect(await tabs(limited)).toEqual(['Today', 'Visitors'])
    expect((await startOf(limited)).titles).toEqual(['Visitors'])
    expect(limited).not.toMatch(/page_view|Page views/)
  })

  it('does not guess what rises among too many rows', async () => {
    // One more row than a ranking adds up, all of one day.
    await db.arrange(
      `INSERT INTO counter_periods (record_type, record_id, bucket, period, period_start, count)
       SELECT 2, n + 1, 0, 1, UTC_DATE() - INTERVAL 3 DAY, 1 FROM (
         SELECT a.n + 100 * b.n + 10000 * c.n AS n FROM
         ${['a', 'b', 'c'].map((name) => `(WITH RECURSIVE s AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM s WHERE n < ${name === 'c' ? 20 : 99}) SELECT n FROM s) AS ${name}`).join(' JOIN ')}
       ) AS numbers`,
    )
    const { page_view: _, ...others } = COUNTERS
    const page = await open(new TestWorker(db.url, { COUNTERS: others }))
    expect(await texts(page, '.pair .hint')).toEqual([
      'in 7 days · Downloads',
      'Too many files were counted in these days to compare them all.',
      'in 7 days · Downloads',
      'Too many files were counted in these days to compare them all.',
    ])
  })
})
