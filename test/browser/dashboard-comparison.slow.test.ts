import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { Temporal } from 'temporal-polyfill'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SAMPLE_COUNTERS } from '../../scripts/sample-site.ts'
import { chromiumOfFile } from './chromium.ts'
import { midnightIn, withinAnHour, zoneByDay } from './local-days.ts'
import { sessionOfFile, settledNumbers, watchedPage } from './open-dashboard.ts'
import { rankingOf, sampleCounter, sumOf } from './sample-counter.ts'

const browser = chromiumOfFile()
const imported = { record_type: 4 }
const counter = sampleCounter({ COUNTERS: { ...SAMPLE_COUNTERS, imported, young: { record_type: 5 } } })
const session = sessionOfFile(browser, counter)
const zone = zoneByDay()
const now = () => Temporal.Now.zonedDateTimeISO(zone)
const midnight = midnightIn(zone)
const whole = (count: number) => count.toLocaleString('en-GB')
let page: Page

beforeAll(async () => {
  const days = (type: string, length: number, count: number) =>
    Array.from({ length }, (_, back) => {
      const day = now()
        .toPlainDate()
        .subtract({ days: back + 1 })
        .toString()
      return [1, 2].map((key) => ({ type, key: `/${key}`, day, count: key * count }))
    }).flat()
  await counter.api('POST', '/v1/imports', { counters: [...days('imported', 100, 10), ...days('young', 20, 1)] })
})
beforeEach(async () => {
  ;({ page } = await watchedPage(browser, counter, { timezoneId: zone, storageState: session }))
})

/** Opens a page. Returns what it says of its total, and of each row what is compared: `[key, now, before]`. */
async function open(query: string) {
  await page.goto(`${counter.url}/?${query}`)
  await settledNumbers(page)
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as CSV', exact: true }).click(),
  ])
  const [, ...lines] = (await readFile(await file.path(), 'utf8')).trim().split('\r\n')
  const rows = lines.map((line) => {
    const [key, ...cells] = line.split(',')
    return [key!.slice(1, -1), ...cells.slice(-2)] as const
  })
  return { total: await page.getAttribute('#history-change', 'title'), rows: rows.sort() }
}

describe('The total and every row compare the same spans', () => {
  it.each([
    ['today', 1, 1],
    ['7d', 7, 7],
    ['30d', 30, 35],
  ])('of a period that is not over, up to the last full hour: %s', (period, length, earlier) =>
    withinAnHour(async () => {
      const hour = now().round({ smallestUnit: 'hour', roundingMode: 'floor' })
      const of = (days: number) =>
        rankingOf(counter, 'page_view', {
          from: midnight(length - 1 + days),
          to: new Date(hour.subtract({ days }).epochMilliseconds),
        })
      const [compared, before] = [await of(0), await of(earlier)]
      const { total, rows } = await open(`period=${period}`)
      const until = hour.toPlainTime().toString().slice(0, 5)
      expect(total).toBe(`${whole(sumOf(compared))} after ${whole(sumOf(before))}, both up to ${until}`)
      const countOf = (key: string, ranking: typeof before) =>
        String(ranking.find((row) => row.key === key)?.count ?? 0)
      expect(rows.length).toBeGreaterThan(5)
      expect(rows).toEqual(rows.map(([key]) => [key, countOf(key, compared), countOf(key, before)]))
    }),
  )

  it('of imported days, which are whole, up to yesterday', async () => {
    const { total, rows } = await open('type=imported&period=30d')
    expect(total).toBe('870 after 870, both up to the end of yesterday')
    expect(rows).toEqual([
      ['/1', '290', '290'],
      ['/2', '580', '580'],
    ])
  })

  it('and none that begin before counting did', async () => {
    expect((await open('type=young&period=7d')).total).toBe('18 after 18, both up to the end of yesterday')
    for (const query of ['type=young&period=30d', 'period=12m', 'period=all']) {
      const { total, rows } = await open(query)
      expect(total, query).toBe('')
      expect(new Set(rows.map((row) => row.slice(1).join())), query).toEqual(new Set([',']))
      expect(await page.locator('#top .growth').allTextContents(), query).toEqual(
        Array(Math.min(rows.length, 10)).fill(''),
      )
    }
  })
})
