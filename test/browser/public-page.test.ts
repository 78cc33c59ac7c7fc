import { expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { period, settledNumbers, shows, watchedPage } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile({ COUNTERS: { page_view: { record_type: 1, public: true, public_page: true } } })

it('The public page shows the numbers of the visitor’s days as soon as its script runs, and sets no cookie', async () => {
  await counter.add('page_view', '/', 7)
  const { page } = await watchedPage(browser, counter, { timezoneId: 'Asia/Tokyo' })
  await page.goto(`${counter.url}/stats/page_view`)
  await shows(page, '#as-of', 'Days begin at midnight in Asia/Tokyo.')
  await period(page, 'All time').click()
  await page.waitForURL(/\?period=all$/)
  await settledNumbers(page)
  expect(await page.textContent('#tile-all b')).toBe('7')
  expect(await page.context().cookies()).toEqual([])
})

it('A chart is an image that other sites show, light and dark, with bars in its plot', async () => {
  const day = new Date(Date.now() - 10 * 86_400_000).toISOString().slice(0, 10)
  await counter.api('POST', '/v1/imports', { counters: [{ type: 'page_view', key: '/pricing', count: 7, day }] })
  const address = `${counter.url}/chart/page_view/%2Fpricing.svg`
  const site = await startSite({ '/': `<!doctype html><img src="${address}">` })
  const page = await (await browser.newContext()).newPage()
  const looks: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.goto(site.url)
    await expect.poll(() => page.evaluate(() => document.images[0]!.naturalWidth)).toBe(640)
    looks.push((await page.locator('img').screenshot()).toString('base64'))
  }
  expect(new Set(looks).size).toBe(2)
  await page.goto(address)
  const { x, y, width, height } = (await page.locator('path.bars').boundingBox())!
  expect([x >= 52, x + width <= 621, y >= 40, y + height <= 200, height > 50]).toEqual([true, true, true, true, true])
})
