import { expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { expectNoViolations, period, settledNumbers, shows, watchedPage } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = counterOfFile({ COUNTERS: { page_view: { record_type: 1, public: true, public_page: true } } })

it('The public page shows its first numbers in UTC, and those of the visitor’s days as soon as its script runs', async () => {
  await counter.add('page_view', '/', 7)
  const { page, violations } = await watchedPage(browser, counter, { timezoneId: 'Asia/Tokyo' })
  const first = await (await fetch(`${counter.url}/stats/page_view`)).text()
  expect(first).toContain('data-zone="UTC"')
  await page.goto(`${counter.url}/stats/page_view`)
  await shows(page, '#as-of', 'Days begin at midnight in Asia/Tokyo.')
  await period(page, 'All time').click()
  await page.waitForURL(/\?period=all$/)
  await settledNumbers(page)
  expect(await page.textContent('#as-of')).toContain('Asia/Tokyo')
  expect(await page.textContent('#tile-all b')).toBe('7')
  expect(await page.context().cookies()).toEqual([])
  expectNoViolations(violations)
})
