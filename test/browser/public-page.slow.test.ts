import { expect, it } from 'vitest'
import { audit, auditedContext } from './audit.ts'
import { chromiumOfFile } from './chromium.ts'
import { zoneByDay } from './local-days.ts'
import { chartRows, tableRows, watch } from './open-dashboard.ts'
import { counterOfFile, startCounter } from './shipped-worker.ts'

const browser = chromiumOfFile()
const COUNTERS = { page_view: { record_type: 1, public: true, public_page: true, title: 'Page views', unit: 'views' } }
const counter = counterOfFile({ COUNTERS })

it('Anybody sees the chart and the list of a type with a public page, and keys lead nowhere', async () => {
  const key = '"><img src=x onerror=alert(1)>\u202E '
  const shown = '"><img src=x onerror=alert(1)>\\u{202E}\\u{20}'
  const day = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 10)
  await counter.api('POST', '/v1/imports', { counters: [{ type: 'page_view', key: '/old', count: 5_000, day }] })
  await counter.add('page_view', key, 1_234)
  await counter.rollUp(new Date())
  const zone = zoneByDay()
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: zone })
  const violations = await watch(context, counter)
  const page = await context.newPage()
  await page.goto(`${counter.url}/stats/page_view`)
  const rows = async () =>
    (await tableRows(page, '#top')).map((row) => row.split(' | ').toSpliced(1, 1).slice(0, 2).join(' '))
  await expect.poll(rows).toEqual([`${shown} 1,234`])
  expect(await page.textContent('#figure-all')).toBe('6,234')
  expect(await page.textContent('#figure-today')).toBe('1,234')
  expect(await page.textContent('#as-of')).toContain(zone)

  await page.getByRole('button', { name: '12 months' }).click()
  await expect.poll(rows).toEqual(['/old 5,000', `${shown} 1,234`])
  expect(page.url()).toContain('period=12m')
  expect(await chartRows(page)).toHaveLength(12)
  await page.goBack()
  await expect.poll(rows).toEqual([`${shown} 1,234`])

  const controls = await page
    .locator('a, button, input, form')
    .evaluateAll((all) => all.map(({ textContent }) => textContent!.replaceAll(/\s+/g, ' ').trim()))
  // Without other days: each of a few choices is kept for a while, so that strangers cost the database little.
  expect(controls).toEqual([
    'Skip to content',
    ...['Today 1,234', '7 days 1,234', '30 days 1,234', '12 months 6,234', 'All time 6,234'],
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
  await expect.poll(() => page.textContent('#history-message')).toMatch(/^The database lacks tables\./)
})

it('Without scripts, the public page has its numbers, a chart and the list, nothing that does nothing, and a picture', async () => {
  const own = await startCounter({ COUNTERS })
  await own.add('page_view', '<b>&lt;', 1_234)
  await own.add('page_view', '/plain', 100)
  await own.rollUp(new Date())
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1280, height: 800 } })
  const violations = await watch(context, own)
  const page = await context.newPage()
  await page.goto(`${own.url}/stats/page_view`)
  expect(await page.locator('noscript dd').allInnerTexts()).toEqual(Array(5).fill('1,334'))
  expect(await page.locator('noscript tbody tr').allInnerTexts()).toEqual(['<b>&lt;\t1,234', '/plain\t100'])
  const size = () =>
    page.locator('img').evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight])
  expect(await size()).toEqual([640, 200])
  expect(await page.getByRole('button').count()).toBe(0)
  expect(await page.locator('.scripted').isVisible()).toBe(false)

  expect(violations).toEqual({ foreign: [], messages: [] })
  const address = await page.getAttribute('meta[property="og:image"]', 'content')
  const response = await page.goto(address!)
  expect([response!.status(), response!.headers()['content-type']]).toEqual([200, 'image/png'])
  expect(await size()).toEqual([1_200, 630])

  // What is wrong is found by a script, so here the page has scripts, and what it has without.
  const audited = await (await auditedContext(browser)).newPage()
  await audited.route(`${own.url}/stats/page_view`, async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replace(/<noscript>|<\/noscript>|<script[^>]*><\/script>/g, '')
    await route.fulfill({ response, body: body.replace(/<div class="scripted">.*<\/div>/s, '') })
  })
  await audited.goto(`${own.url}/stats/page_view`)
  await audited.getByText('/plain').waitFor()
  expect(await audit(audited)).toEqual([])
})
