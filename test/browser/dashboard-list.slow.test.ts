import { readFile } from 'node:fs/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { sessionOfFile, settledNumbers, shows, type Violations, watchedPage } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'

const DAY_MS = 86_400_000
const PAGES = 130

const browser = chromiumOfFile()
const counter = counterOfFile({
  COUNTERS: {
    view: {
      record_type: 1,
      unit: 'views',
      keys: 'pages',
      url: 'https://example.com',
      prefixes: ['/blog/'],
      also: 'visitor',
    },
    visitor: { record_type: 2, unit: 'visitors', dedupe_seconds: 3_600 },
    many: { record_type: 3 },
  },
})
const session = sessionOfFile(browser, counter)
let context: BrowserContext
let page: Page
let violations: Violations
let requests: string[]

/** `/blog/129` has the most, `/blog/0` the least; `/About-Howto` is among the first, `/zz/last` is not. */
beforeAll(async () => {
  const dayOf = (back: number) => new Date(Date.now() - back * DAY_MS).toISOString().slice(0, 10)
  const day = dayOf(40)
  const imported = Array.from({ length: PAGES }, (_, i) => ({ type: 'view', key: `/blog/${i}`, count: 20, day }))
  // Counting has begun before the period before.
  const begun = { type: 'view', key: '/blog/0', count: 1, day: dayOf(70) }
  await counter.api('POST', '/v1/imports', { counters: [...imported, begun] })
  const views = imported.map(({ type, key }, i) => ({ type, key, by: 10 + 2 * i }))
  const others = [
    { type: 'view', key: '/About-Howto', by: 500 },
    { type: 'view', key: '/zz/last', by: 1 },
    { type: 'visitor', key: '/About-Howto', by: 77 },
  ]
  await counter.api('POST', '/v1/increments', { increments: [...views, ...others] })
  const many = Array.from({ length: 1_000 }, (_, i) => ({ type: 'many', key: `key ${i}`, count: i + 1, day }))
  await counter.api('POST', '/v1/imports', { counters: many })
  await counter.api('POST', '/v1/increments', { increments: [{ type: 'many', key: 'least' }] })
  await counter.rollUp(new Date(Date.now() - DAY_MS))
}, 120_000)

beforeEach(async () => {
  ;({ context, violations, page } = await watchedPage(browser, counter, {
    timezoneId: 'Europe/Berlin',
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
const ofBlog = (...numbers: number[]) => numbers.map((number) => `/blog/${number}`)

async function openList(query = ''): Promise<void> {
  await page.goto(`${counter.url}/${query}`)
  await expect.poll(async () => (await keys()).length).toBeGreaterThan(0)
  await settledNumbers(page)
}

describe('the list of a page', () => {
  it('is ranked by the period under a prefix too, chosen or typed', async () => {
    await openList()
    expect((await keys()).slice(0, 3)).toEqual(['/About-Howto', ...ofBlog(129, 128)])
    await page.getByRole('group', { name: 'Keys' }).getByRole('button', { name: '/blog/' }).click()
    await expect.poll(keys).toEqual(ofBlog(129, 128, 127, 126, 125, 124, 123, 122, 121, 120))
    await shows(page, '#top-of', '130')
    await filter().fill('/blog/1')
    await filter().press('Enter')
    // Of 41 keys that begin so, those with the highest counts.
    await expect.poll(() => new URL(page.url()).searchParams.get('find')).toBe('/blog/1')
    await settledNumbers(page)
    expect((await keys()).slice(0, 2)).toEqual(ofBlog(129, 128))
    await filter().fill('/blog/1')
    for (const period of ['7d', '12m', 'all']) {
      await openList(`?period=${period}&find=/blog/9`)
      expect(await keys(), period).toEqual(ofBlog(99, 98, 97, 96, 95, 94, 93, 92, 91, 90))
    }
  })

  it('is filtered as one types, any part in any case, at once and without a request', async () => {
    await openList()
    // The first hundred come once, when the field is entered.
    const hundred = page.waitForResponse((response) => response.url().includes('rows=100'))
    await filter().focus()
    await (await hundred).finished()
    const before = requests.length
    await filter().fill('OG/12')
    await expect.poll(keys).toEqual(ofBlog(129, 128, 127, 126, 125, 124, 123, 122, 121, 120))
    await filter().fill('howTO')
    expect(await keys()).toEqual(['/About-Howto'])
    await filter().fill('/blog/77')
    // Below the ten rows that the page shows.
    expect(await keys()).toEqual(['/blog/77'])
    expect(requests.length).toBe(before)
  })

  it('is then filtered over all keys by their beginning, after a pause or Enter, at most three times a minute', async () => {
    await openList()
    await filter().fill('/zz')
    expect(await keys()).toEqual([])
    await shows(page, '#top-message', /^Searching/)
    await page.clock.runFor(1_000)
    await expect.poll(keys).toEqual(['/zz/last'])
    expect(new URL(page.url()).searchParams.get('find')).toBe('/zz')
    // What the first hundred have stays.
    await filter().fill('HOWTO')
    expect(await keys()).toEqual(['/About-Howto'])
    await page.clock.runFor(15_000)
    expect(new URL(page.url()).searchParams.get('find')).toBe('/zz')
    await page.clock.runFor(5_000)
    await expect.poll(() => new URL(page.url()).searchParams.get('find')).toBe('HOWTO')
    await settledNumbers(page)
    expect(await keys()).toEqual(['/About-Howto'])
    await filter().fill('nowhere')
    await filter().press('Enter')
    await shows(page, '#top-message', /^Nothing found in this period/)
    // An empty field is the whole list again.
    await filter().fill('')
    await filter().press('Enter')
    await expect.poll(async () => (await keys()).length).toBe(10)
  })

  it('has a heading of the type, bars, small charts, visitors and changes', async () => {
    await openList()
    expect(await page.getByRole('heading', { name: 'Pages', exact: true }).count()).toBe(1)
    await shows(page, '#top-of', '132')
    expect(await page.locator('.ranking thead th').allTextContents()).toEqual([
      ...['Pages', 'Over time', 'Views', 'Visitors', 'Change'],
    ])
    // The heading is enough for the eye.
    expect(await page.locator('.ranking .hidden').allTextContents()).toEqual(['Pages'])
    expect(await page.getByRole('columnheader', { name: 'Pages' }).count()).toBe(1)
    const texts = (row: number) => rows().nth(row).locator('td').allTextContents()
    expect(await texts(0)).toEqual(['', '500', '77', 'new'])
    expect(await texts(1)).toEqual(['', '268', '0', '▲ ×13'])
    const parts = await rows().evaluateAll((all) =>
      all.slice(0, 2).map((row) => Number.parseFloat((row as HTMLElement).style.getPropertyValue('--part'))),
    )
    expect(parts).toEqual([100, 53.6])
    // One bar, of yesterday, before the last one of 30 places.
    const chart = rows().first().locator('.small-chart svg')
    expect(await chart.getAttribute('viewBox')).toBe('0 0 30 20')
    expect(await chart.locator('path').getAttribute('d')).toBe('M28 20v-20h0.7V20z')
    await page.goto(`${counter.url}/?type=many`)
    await expect
      .poll(() => page.locator('.ranking thead th').allTextContents())
      .toEqual([...['Keys', 'Over time', 'Counts', 'Change']])
  })

  it('begins in the first screen of a laptop', async () => {
    await openList()
    const { y, height } = (await rows().nth(2).boundingBox())!
    expect(y + height).toBeLessThan(page.viewportSize()!.height)
  })

  it('has rows that are links as a whole, with their own link to the page', async () => {
    await openList()
    const out = page.getByRole('link', { name: 'Open the page /blog/129' })
    await out.scrollIntoViewIfNeeded()
    const row = (await rows().nth(1).boundingBox())!
    expect(await out.getAttribute('href')).toBe('https://example.com/blog/129')
    const point = (await out.boundingBox())!
    const hit = await page.evaluate(
      ([x, y]) => document.elementFromPoint(x!, y!)?.className,
      [point.x + point.width / 2, point.y + point.height / 2],
    )
    expect(hit).toBe('out')
    await page.mouse.click(row.x + row.width - 5, row.y + row.height / 2)
    await page.waitForSelector('main[data-page=counter]')
    expect(await page.textContent('h1')).toBe('/blog/129')
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

    await filter().fill('/blog/11')
    await filter().press('Enter')
    await expect.poll(async () => (await keys())[0]).toBe('/blog/119')
    await settledNumbers(page)
    const found = await keys()
    await rows().nth(2).locator('.whole').click()
    await page.waitForSelector('main[data-page=counter]')
    await page.goBack()
    await expect.poll(keys).toEqual(found)
    expect(await filter().inputValue()).toBe('/blog/11')
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
    expect(all.name).toMatch(/^view-keys-\d/)
    expect(all.lines.slice(0, 2)).toEqual([
      '"key","count","visitors","compared","before"',
      '"/About-Howto",500,77,500,0',
    ])
    expect(all.lines).toHaveLength(1 + PAGES + 2)
    expect(await page.textContent('#list-csv-message')).toBe('Rows saved: 132.')
    await openList('?find=/blog/')
    const blog = await save()
    expect(blog.name).toMatch(/^view-blog-\d/)
    expect(blog.lines).toHaveLength(1 + PAGES)
    await openList('?type=many&period=90d')
    expect((await save()).lines).toHaveLength(1_001)
    expect(await page.textContent('#list-csv-message')).toBe('Saved the first 1,000 rows.')
  })
})
