import { Temporal } from 'temporal-polyfill'
import { beforeAll, expect, it } from 'vitest'
import { fillSampleSite, SAMPLE_COUNTERS } from '../../../scripts/fill-sample-site.ts'
import { onVitess } from '../../harness/on-vitess.ts'
import { sessionCookie } from '../../harness/sign-in.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { sharedWorker } from '../../harness/worker.ts'
import { countIn, findAll, numbersOn } from '../shown-page.ts'

stopClockOfFile()
const { db, worker } = sharedWorker({ COUNTERS: SAMPLE_COUNTERS })
let Cookie: string

// The site is written in statements that would span shards.
beforeAll(async () => {
  if (onVitess) return
  await fillSampleSite(db.url, new Date())
  Cookie = await sessionCookie(worker)
  // Some is pending.
  await worker.add('page_view', { '/': 70, '/pricing': 5 })
})

type Days = [from: Temporal.PlainDate, to: Temporal.PlainDate]

/** The days of each period, the last one exclusive, and its units. */
function periodsOn(today: Temporal.PlainDate): Record<string, [by: string, ...Days]> {
  const [tomorrow, month] = [today.add({ days: 1 }), today.with({ day: 1 })]
  const back = (days: number) => today.subtract({ days })
  return {
    today: ['hour', today, tomorrow],
    yesterday: ['hour', back(1), today],
    '7d': ['day', back(6), tomorrow],
    '30d': ['day', back(29), tomorrow],
    '90d': ['day', back(89), tomorrow],
    month: ['day', month, tomorrow],
    'last-month': ['day', month.subtract({ months: 1 }), month],
    '12m': ['month', month.subtract({ months: 11 }), month.add({ months: 1 })],
    custom: ['day', back(45), back(15)],
  }
}

interface History {
  points: { start: string; count: number }[]
}

const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0)

// Half an hour, three quarters, and clocks that change by an hour or by half of one.
const ZONES = ['UTC', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe']

it.skipIf(onVitess).each(ZONES)('Every number of a page is that of the API for the same period, in %s', async (tz) => {
  const today = Temporal.Now.instant().toZonedDateTimeISO(tz).toPlainDate()
  const headers = { Cookie: `${Cookie}; __Host-zone=${encodeURIComponent(tz)}` }
  let compared = 0
  const equal = (shown: unknown, expected: unknown, about: string) => {
    compared += Array.isArray(expected) ? expected.length : 1
    expect(shown, `${about} in ${tz}`).toEqual(expected)
  }
  const periods = periodsOn(today)
  const hasBegun = Date.now() - (Date.now() % 3_600_000) >= today.toZonedDateTime(tz).epochMilliseconds
  for (const [page, api] of [
    ['/?type=page_view', 'types/page_view'],
    ['/?type=page_view&find=/docs/', 'types/page_view'],
    ['/counter?type=page_view&key=/pricing', 'counters/page_view/%2Fpricing'],
  ] as const) {
    const inPrefix = page.includes('find') ? '&prefix=/docs/' : ''
    const read = async (of: string, period: [string, ...Days]) => {
      const query = new URLSearchParams({ by: period[0], from: `${period[1]}`, to: `${period[2]}`, tz })
      const answer = await worker.api('GET', `/v1/${of}/history?${query}${of.startsWith('types') ? inPrefix : ''}`)
      return (await answer.json<History>()).points.map(({ count }) => count)
    }
    // Totals of types are as of the last roll-up in their history, and a page adds what is pending to now.
    const pending = page.includes('counter') || inPrefix !== '' ? 0 : 75
    const total = await (await worker.api('GET', `/v1/${api}${inPrefix.replace('&', '?')}`)).json<{ count: number }>()
    for (const [name, period] of Object.entries(periods)) {
      const [, from, to] = period
      const about = `${page} ${name}`
      const days = name === 'custom' ? `from=${from}&to=${to.subtract({ days: 1 })}` : `period=${name}`
      const response = await worker.fetch(`${page}&${days}`, { headers })
      const shown = await numbersOn(await response.text())
      const isNow = Temporal.PlainDate.compare(to, today) > 0
      const counts = await read(api, period)
      const begun = shown.units.map(({ Views }) => countIn(Views!))
      const expected = counts.slice(0, begun.length)
      const isOfIt = name === 'today' ? hasBegun : name === 'yesterday' ? !hasBegun : isNow
      const added = isOfIt ? pending : 0
      if (begun.length > 0) expected[begun.length - 1]! += added
      equal(begun, expected, about)
      equal(countIn(shown.sum!), sum(counts) + added, about)
      equal(shown.tiles.all!.count, total.count, about)
      for (const tile of ['today', '7d', '30d', '12m'] as const) {
        const added = tile !== 'today' || hasBegun ? pending : 0
        equal(shown.tiles[tile]!.count, sum(await read(api, periods[tile]!)) + added, `${about}, tile ${tile}`)
      }
      for (const { key, count } of shown.list) {
        const own = await read(`counters/page_view/${encodeURIComponent(key)}`, period)
        equal(count, sum(own), `${about} ${key}`)
      }
    }
  }
  expect(compared).toBeGreaterThan(600)
})

it.skipIf(onVitess)(
  'A search finds every key that contains the text, and says among how many, and their views',
  async () => {
    const counters: { key: string; count: number }[] = []
    for (let after = ''; ; ) {
      const answer = await worker.api(
        'GET',
        `/v1/search/page_view?limit=100${after && `&after=${encodeURIComponent(after)}`}`,
      )
      const page = await answer.json<{ counters: typeof counters; next: string | null }>()
      counters.push(...page.counters)
      if (page.next === null) break
      after = page.next
    }
    for (const text of ['queue', 'HOWTO', '/docs/mysql', 'postmortem']) {
      const expected = counters.filter(({ key, count }) => key.includes(text.toLowerCase()) && count > 0)
      const query = `/?type=page_view&period=all&page=1&find=${text}`
      const page = await (await worker.fetch(query, { headers: { Cookie } })).text()
      const { list } = await numbersOn(page)
      expect(list.map(({ key }) => key).sort()).toEqual(
        expected
          .map(({ key }) => key)
          .sort()
          .slice(0, 100),
      )
      const [found] = await findAll(page, '#found')
      const views = sum(expected.map(({ count }) => count)).toLocaleString('en')
      expect(found!.text).toBe(`${expected.length} of ${counters.length} pages · ${views} views`)
    }
  },
)
