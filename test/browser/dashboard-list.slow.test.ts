import { readFile } from 'node:fs/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { Temporal } from 'temporal-polyfill'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SAMPLE_COUNTERS } from '../../scripts/sample-site.ts'
import { chromiumOfFile } from './chromium.ts'
import { midnightIn, withinAnHour, zoneByDay } from './local-days.ts'
import { sessionOfFile, settledNumbers, shows, type Violations, watchedPage } from './open-dashboard.ts'
import { changeText, rankingOf, sampleCounter } from './sample-counter.ts'

const browser = chromiumOfFile()
const counter = sampleCounter({ COUNTERS: { ...SAMPLE_COUNTERS, many: { record_type: 4 } } })
const session = sessionOfFile(browser, counter)
const zone = zoneByDay()
const midnight = midnightIn(zone)
let context: BrowserContext
let page: Page
let violations: Violations
let requests: string[]
/** The pages with views in 30 days, the most first. */
let ranked: { key: string; count: number }[]
/** A day with 1,001 keys of the type `many`. */
const day = midnight(40).toISOString().slice(0, 10)

beforeAll(async () => {
  ranked = await rankingOf(counter, 'page_view', { from: midnight(29) })
  const many = Array.from({ length: 1_000 }, (_, i) => ({ type: 'many', key: `key ${i}`, count: i + 1, day }))
  await counter.api('POST', '/v1/imports', { counters: many })
  await counter.api('POST', '/v1/imports', { counters: [{ type: 'many', key: 'least', count: 1, day }] })
  await counter.api('POST', '/v1/increments', { increments: [{ type: 'many', key: 'least' }] })
  await counter.rollUp(new Date())
})

beforeEach(async () => {
  ;({ context, violations, page } = await watchedPage(browser, counter, {
    timezoneId: zone,
    storageState: session,
    viewport: { width: 1280, height: 800 },
  }))
  requests = []
  page.on('request', (request) => void requests.push(new URL(request.url()).pathname))
})
afterEach(async () => {
  await context.close()
  expect(violations).toEqual({ foreign: [], messages: [] })
})

const keys = () => page.locator('#top .whole').allTextContents()
const rows = () => page.locator('#top tr')
const filter = () => page.getByLabel('Filter')
/** The first keys with a property. */
const first = (has: (key: string) => boolean, from = ranked) =>
  from
    .map(({ key }) => key)
    .filter(has)
    .slice(0, 10)
const containing = (text: string, from = ranked) => first((key) => key.includes(text), from)

async function openList(query = ''): Promise<void> {
  await page.goto(`${counter.url}/${query}`)
  await expect.poll(async () => (await keys()).length).toBeGreaterThan(0)
  await settledNumbers(page)
}

describe('the list of a page', () => {
  it('begins in the first screen, with what its pages are called', async () => {
    await openList()
    const { y, height } = (await rows().nth(2).boundingBox())!
    expect(y + height).toBeLessThan(page.viewportSize()!.height)
    expect(await page.getByRole('heading', { name: 'Pages', exact: true }).count()).toBe(1)
    await shows(page, '#top-of', '300')
  })

  it('is ranked by the period under a prefix too, chosen or typed', async () => {
    await openList()
    expect(await keys()).toEqual(containing('/'))
    await page.getByRole('group', { name: 'Keys' }).getByRole('button', { name: '/blog/' }).click()
    await expect.poll(keys).toEqual(containing('/blog/'))
    await shows(page, '#top-of', '210')
    await filter().fill('/docs/h')
    await filter().press('Enter')
    await expect.poll(() => new URL(page.url()).searchParams.get('find')).toBe('/docs/h')
    await settledNumbers(page)
    expect(await keys()).toEqual(containing('/docs/h'))
    const firstMonth = Temporal.Now.plainDateISO(zone).with({ day: 1 }).subtract({ months: 11 }).toString()
    for (const [period, rows] of [
      ['7d', { from: midnight(6) }],
      ['12m', { firstMonth }],
      ['all', 'totals'],
    ] as const) {
      await openList(`?period=${period}&find=/blog/2026/`)
      expect(await keys(), period).toEqual(containing('/blog/2026/', await rankingOf(counter, 'page_view', rows)))
    }
  })

  it('is searched 0.3 s after the last letter, over the first hundred by any part and all keys by their beginning', async () => {
    const hundred = ranked.slice(0, 100)
    // Not among the first hundred.
    const { key: last } = ranked.findLast(({ key }) => containing(key, hundred).length === 0)!
    const find = () => new URL(page.url()).searchParams.get('find')
    await openList()
    await page.clock.pauseAt(Date.now() + 60_000)
    const before = requests.filter((path) => path === '/numbers').length
    for (const [typed, found] of [
      ['OG/2026', containing('og/2026')],
      ['howTO', containing('howto', hundred)],
      [last, first((key) => key.startsWith(last))],
    ] as const) {
      const earlier = find()
      await filter().pressSequentially(typed)
      await page.clock.runFor(299)
      expect(find()).toBe(earlier)
      await page.clock.runFor(1)
      expect(find()).toBe(typed)
      await settledNumbers(page)
      expect(await keys()).toEqual(found)
      await filter().selectText()
    }
    expect(requests.filter((path) => path === '/numbers').length).toBe(before + 3)
    await filter().fill('nowhere')
    await filter().press('Enter')
    await shows(page, '#top-message', /^Nothing found in this period/)
    // One step back leaves the search.
    await page.goBack()
    await expect.poll(async () => (await keys()).length).toBe(10)
    expect(await filter().inputValue()).toBe('')
  })

  it('has bars, small charts, visitors and changes of the same hours', async () => {
    const whole = (count: number) => count.toLocaleString('en-GB')
    const countOf = (key: string, of: typeof ranked) => of.find((row) => row.key === key)?.count ?? 0
    const read = () =>
      rows().evaluateAll((all) =>
        all.map((row) => ({
          texts: [...row.querySelectorAll('td')].map(({ textContent }) => textContent),
          part: Number.parseFloat((row as HTMLElement).style.getPropertyValue('--part')),
          places: row.querySelector('.small-chart svg')!.getAttribute('viewBox'),
          bars: row.querySelector('.small-chart path')!.getAttribute('d')!.split('M').length - 1,
        })),
      )
    let seen: Awaited<ReturnType<typeof read>> = []
    await withinAnHour(async () => {
      const hour = Temporal.Now.zonedDateTimeISO(zone).round({ smallestUnit: 'hour', roundingMode: 'floor' })
      const before = { from: midnight(29 + 35), to: new Date(hour.subtract({ weeks: 5 }).epochMilliseconds) }
      const [visitors, compared, then, since] = await Promise.all([
        rankingOf(counter, 'visitor', { from: midnight(29) }),
        rankingOf(counter, 'page_view', { from: midnight(29), to: new Date(hour.epochMilliseconds) }),
        rankingOf(counter, 'page_view', before),
        rankingOf(counter, 'page_view', { from: before.from, to: midnight(29) }),
      ])
      const expected = ranked.slice(0, 10).map(({ key, count }) => {
        const [now, earlier] = [countOf(key, compared), countOf(key, then)]
        // What was counted in the period before, but after the hours that are compared, is not new.
        const change = countOf(key, since) === 0 ? 'new' : earlier === 0 ? '' : changeText(now, earlier)
        return ['', whole(count), whole(countOf(key, visitors)), change]
      })
      expect(expected.map((row) => row.at(-1))).toContain('new')
      await openList()
      seen = await read()
      expect(seen.map(({ texts }) => texts)).toEqual(expected)
    })
    expect(await page.locator('.ranking thead th').allTextContents()).toEqual([
      ...['Pages', 'Over time', 'Views', 'Visitors', 'Change'],
    ])
    // The heading is enough for the eye.
    expect(await page.locator('.ranking .hidden').allTextContents()).toEqual(['Pages'])
    expect(await page.getByRole('columnheader', { name: 'Pages' }).count()).toBe(1)
    expect(seen.map(({ part }) => part)).toEqual(
      ranked.slice(0, 10).map(({ count }) => Math.floor((1_000 * count) / ranked[0]!.count) / 10),
    )
    expect(new Set(seen.map(({ places }) => places))).toEqual(new Set(['0 0 30 20']))
    const days = await Promise.all(
      Array.from({ length: 30 }, (_, back) =>
        rankingOf(counter, 'page_view', { from: midnight(back), to: midnight(back - 1) }),
      ),
    )
    expect(seen.map(({ bars }) => bars)).toEqual(
      ranked.slice(0, 10).map(({ key }) => days.filter((day) => countOf(key, day) > 0).length),
    )
    await page.goto(`${counter.url}/?type=many`)
    await expect
      .poll(() => page.locator('.ranking thead th').allTextContents())
      .toEqual([...['Keys', 'Over time', 'Counts', 'Change']])
  })

  it('has rows that are links as a whole', async () => {
    await openList()
    const { key } = ranked[1]!
    await rows().nth(1).scrollIntoViewIfNeeded()
    const row = (await rows().nth(1).boundingBox())!
    await page.mouse.click(row.x + row.width - 5, row.y + row.height / 2)
    await page.waitForSelector('main[data-page=counter]')
    expect(await page.textContent('h1')).toBe(key)
  })

  it('is as it was when the visitor comes back: rows, place and search', async () => {
    await openList()
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows().count()).toBe(30)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows().count()).toBe(50)
    await page.evaluate(() => scrollTo(0, 900))
    await rows().nth(20).locator('.whole').scrollIntoViewIfNeeded()
    const y = await page.evaluate(() => scrollY)
    expect(y).toBeGreaterThan(500)
    await rows().nth(20).locator('.whole').click()
    await page.waitForSelector('main[data-page=counter]')
    await page.goBack()
    await expect.poll(() => rows().count()).toBe(50)
    await expect.poll(() => page.evaluate(() => Math.round(scrollY))).toBe(Math.round(y))

    await filter().fill('/docs/')
    await filter().press('Enter')
    const found = containing('/docs/')
    await expect.poll(keys).toEqual(found)
    await settledNumbers(page)
    await rows().nth(2).locator('.whole').click()
    await page.waitForSelector('main[data-page=counter]')
    await page.goBack()
    await expect.poll(keys).toEqual(found)
    expect(await filter().inputValue()).toBe('/docs/')
  })

  it('is saved with up to 1,000 rows, which it says, under the name of its search', async () => {
    const save = async () => {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save as CSV', exact: true }).click(),
      ])
      return { name: file.suggestedFilename(), lines: (await readFile(await file.path(), 'utf8')).trim().split('\r\n') }
    }
    await openList()
    const all = await save()
    expect(all.name).toMatch(/^page_view-keys-\d/)
    expect(all.lines[0]).toBe('"key","count","visitors","compared","before"')
    expect(all.lines.slice(1).map((line) => line.split(',').slice(0, 2).join())).toEqual(
      expect.arrayContaining(ranked.map(({ key, count }) => `"${key}",${count}`)),
    )
    expect(all.lines).toHaveLength(1 + ranked.length)
    expect(await page.textContent('#list-csv-message')).toBe(`Rows saved: ${ranked.length}.`)
    await openList('?find=/blog/')
    const blog = await save()
    expect(blog.name).toMatch(/^page_view-blog-\d/)
    expect(blog.lines).toHaveLength(1 + ranked.filter(({ key }) => key.startsWith('/blog/')).length)
    await openList(`?type=many&from=${day}&to=${day}`)
    expect((await save()).lines).toHaveLength(1_001)
    expect(await page.textContent('#list-csv-message')).toBe('Saved the first 1,000 rows.')
  })
})
