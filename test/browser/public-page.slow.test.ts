import { expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { zoneByDay } from './local-days.ts'
import { chartRows, tableRows, watch } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = counterOfFile({
  COUNTERS: { page_view: { record_type: 1, public: true, public_page: true, title: 'Page views', unit: 'views' } },
})

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
  const rows = async () => (await tableRows(page, '#top')).map((row) => row.split(' | ').slice(0, 2).join(' '))
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
    'Save as CSV',
  ])
  expect(await context.cookies()).toEqual([])
  expect(violations).toEqual({ foreign: [], messages: [] })
})
