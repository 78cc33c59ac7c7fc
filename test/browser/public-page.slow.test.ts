import { beforeAll, expect, it } from 'vitest'
import { continueRound } from '../../src/counters/verify/verify-page.ts'
import { openDatabase } from '../../src/database/database.ts'
import { audit, auditedContext } from './audit.ts'
import { chromiumOfFile } from './chromium.ts'
import { midnightIn, withinAnHour, zoneByDay } from './local-days.ts'
import { chartRows, tableRows, watch } from './open-dashboard.ts'
import { rankingOf, sampleCounter, sumOf } from './sample-counter.ts'
import { startCounter } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = sampleCounter({ SITE_NAME: 'example.com' })
const HOSTILE = '"><img src=x onerror=alert(1)>\u202E '
const whole = (count: number) => count.toLocaleString('en-GB')

beforeAll(async () => {
  await counter.add('page_view', HOSTILE, 50_000)
  await counter.rollUp(new Date())
  // What the pruning task does each night.
  const round = { at: new Date(), hourDays: 90, limit: 100_000, maxStatements: 100_000 }
  const db = openDatabase({ url: counter.databaseUrl, deadlineMs: 60_000 })
  expect(await continueRound(db, round)).toMatchObject({ outcome: 'agrees' })
})

/** The views of days in a time zone. */
const viewsOf = (days: number, zone: string) => rankingOf(counter, 'page_view', { from: midnightIn(zone)(days - 1) })

it('Anybody sees the chart and the list of a type with a public page, whose keys lead to the pages alone', async () => {
  const shown = '"><img src=x onerror=alert(1)>\\u{202E}\\u{20}'
  const zone = zoneByDay()
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: zone })
  const violations = await watch(context, counter)
  const page = await context.newPage()
  await page.goto(`${counter.url}/stats/page_view`)
  expect(await page.title()).toBe('Page views · example.com')
  const rows = async () =>
    (await tableRows(page, '#top')).map((row) => row.split(' | ').toSpliced(1, 1).slice(0, 2).join(' '))
  const [today, month, total] = await Promise.all([
    viewsOf(1, zone),
    viewsOf(30, zone),
    rankingOf(counter, 'page_view', 'totals'),
  ])
  const firstOf = (ranking: typeof month) =>
    ranking.slice(0, 20).map(({ key, count }) => `${key === HOSTILE ? shown : key} ${whole(count)}`)
  await expect.poll(rows).toEqual(firstOf(month))
  expect(await page.textContent('#figure-all')).toBe(whole(sumOf(total)))
  expect(await page.textContent('#figure-today')).toBe(whole(sumOf(today)))
  expect(await page.textContent('#as-of')).toBe(
    `As of the last roll-up. Days begin at midnight in ${zone}. Checked today: every sum agrees.`,
  )

  await page.getByRole('button', { name: 'All time' }).click()
  await expect.poll(rows).toEqual(firstOf(total))
  expect(page.url()).toContain('period=all')
  await page.getByRole('button', { name: '12 months' }).click()
  await expect.poll(() => chartRows(page).then(({ length }) => length)).toBe(12)
  await page.goBack()
  await page.goBack()
  await expect.poll(rows).toEqual(firstOf(month))

  const links = await page.locator('#top a').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
  const keys = month.slice(0, 20).map(({ key }) => key)
  expect(links).toEqual(keys.filter((key) => key !== HOSTILE).map((key) => `https://example.com${key}`))
  const controls = await page
    .locator('a, button, input, form')
    .and(page.locator(':not(#top a)'))
    .evaluateAll((all) =>
      all.map(({ firstElementChild, textContent }) => (firstElementChild ?? { textContent }).textContent),
    )
  // Without other days: each of a few choices is kept for a while, so that strangers cost the database little.
  expect(controls).toEqual([
    'Skip to content',
    ...['Today', '7 days', '30 days', '12 months', 'All time'],
    'Table',
    'CSV',
  ])
  expect(await context.cookies()).toEqual([])
  expect(violations).toEqual({ foreign: [], messages: [] })
})

it('An address of the dashboard shows the usual 30 days of all keys, and says so', async () => {
  const page = await (await browser.newContext({ locale: 'en-GB' })).newPage()
  const notice = page.getByText('Only the dashboard shows the days or the keys of this address.')
  for (const query of ['from=2026-01-01&to=2026-01-05', 'find=%2Fblog', 'period=7d&find=x', 'period=12m&by=week']) {
    await page.goto(`${counter.url}/stats/page_view?type=page_view&${query}`)
    await notice.waitFor()
    await page.waitForSelector('.chart svg')
    expect(await page.textContent('#history-message')).toBe('')
    expect(await chartRows(page)).toHaveLength(30)
  }
  await page.goto(`${counter.url}/stats/page_view?period=7d`)
  await page.waitForSelector('.chart svg')
  expect(await notice.count()).toBe(0)
})

it('Without tables it says what is missing', async () => {
  const COUNTERS = { page_view: { record_type: 1, public: true, public_page: true } }
  const lacking = await startCounter({ COUNTERS }, { empty: true })
  const page = await (await browser.newContext()).newPage()
  await page.goto(`${lacking.url}/stats/page_view`)
  await expect.poll(() => page.textContent('#history-message')).toMatch(/^Make the tables: /)
})

it('Without scripts, the public page has its numbers, a chart and the list, nothing that does nothing, and a picture', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 800 } })
  const violations = await watch(context, counter)
  const page = await context.newPage()
  await withinAnHour(async () => {
    await page.goto(`${counter.url}/stats/page_view`)
    const month = await viewsOf(30, 'UTC')
    const views = [await viewsOf(1, 'UTC'), await viewsOf(7, 'UTC'), month].map((rows) => whole(sumOf(rows)))
    const all = whole(sumOf(await rankingOf(counter, 'page_view', 'totals')))
    const figures = await page.locator('noscript dd').allInnerTexts()
    expect(figures.toSpliced(3, 1)).toEqual([...views, all])
    const rows = await page.locator('noscript tbody tr').allInnerTexts()
    expect(rows.slice(1)).toEqual(month.slice(1, 20).map(({ key, count }) => `${key}\t${whole(count)}`))
    expect(rows[0]).toContain('<img src=x')
  })
  expect(await page.locator('noscript .hint').innerText()).toMatch(/Checked (today|yesterday): every sum agrees\./)
  const size = await page
    .locator('img')
    .evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight])
  expect(size).toEqual([640, 200])
  expect(await page.getByRole('button').count()).toBe(0)
  expect(await page.locator('.scripted').isVisible()).toBe(false)

  expect(violations).toEqual({ foreign: [], messages: [] })

  // What is wrong is found by a script, so here the page has scripts, and what it has without.
  const audited = await (await auditedContext(browser)).newPage()
  await audited.route(`${counter.url}/stats/page_view`, async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replace(/<noscript>|<\/noscript>|<script[^>]*><\/script>/g, '')
    await route.fulfill({ response, body: body.replace(/<div class="scripted">.*<\/div>/s, '') })
  })
  await audited.goto(`${counter.url}/stats/page_view`)
  await audited.getByText('/pricing', { exact: true }).waitFor()
  expect(await audit(audited)).toEqual([])
})
