import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { charted, settledNumbers, signedInOfFile } from './open-dashboard.ts'
import { sampleCounter, startCounter } from './shipped-worker.ts'
import { startDemo } from './test-site.ts'

const DESKTOP = { viewport: { width: 1100, height: 1_400 } }
const PHONE = { viewport: { width: 360, height: 960 }, deviceScaleFactor: 2, hasTouch: true }
const PAGE = '/counter?type=page_view&key=%2Fpricing'
const SHOTS = [
  ['dashboard', '/?type=page_view', DESKTOP, 'light'],
  ['dashboard-dark', '/?type=page_view', DESKTOP, 'dark'],
  ['dashboard-phone', '/?type=page_view', PHONE, 'light'],
  ['dashboard-counter', `${PAGE}&period=30d`, DESKTOP, 'light'],
  ['dashboard-counter-dark', '/counter?type=download&key=map.txt&period=12m', DESKTOP, 'dark'],
  ['dashboard-counter-phone', `${PAGE}&period=7d`, PHONE, 'dark'],
] as const

// They are pictures for the documents. What the pages show is tested elsewhere.
describe.runIf(process.env.SCREENSHOTS)('screenshots', () => {
  const counter = sampleCounter({ SITE_NAME: 'example.com' })
  const { browser, session: storageState } = signedInOfFile(counter)

  it.each(SHOTS)('of the dashboard: %s', async (name, path, options, colorScheme) => {
    await counter.api('PUT', '/v1/counters/download/map.txt', { count: 5_000 })
    const where = { locale: 'en-GB', timezoneId: 'Europe/Berlin', storageState, colorScheme }
    const page = await (await browser.newContext({ ...where, ...options })).newPage()
    await page.goto(counter.url + path)
    await charted(page)
    await settledNumbers(page)
    await take(page, name, counter.url)
  })

  it.each([
    ['demo-home', '/'],
    ['demo-downloads', '/downloads'],
  ])('of the demo site: %s', async (name, path) => {
    const counter = await startCounter()
    const demo = await startDemo(counter)
    const views = { '/': 12_841, '/blog/counting': 3_977, '/app/': 1_208, '/downloads': 964 }
    for (const [key, by] of Object.entries(views)) await counter.add('page_view', key, by)
    const files = { 'files/map.txt': 1_530, 'list.csv': 411, 'app-1.2.0.tgz': 28_306 }
    for (const [key, by] of Object.entries(files)) await counter.add('download', key, by)
    const page = await (await browser.newContext({ locale: 'en-GB', viewport: { width: 760, height: 560 } })).newPage()
    await page.goto(demo.url + path)
    await expect.poll(() => page.locator('[data-counter]').allTextContents()).not.toContain('…')
    await take(page, name, counter.url)
  })
})

/** Takes a picture of a page down to the end of its last whole card, without the port of a test run. */
async function take(page: Page, name: string, origin: string): Promise<void> {
  await page.locator('textarea, pre').evaluateAll((parts, origin) => {
    for (const part of parts) part.textContent = part.textContent!.replaceAll(origin, 'https://counter.example')
  }, origin)
  await expect.poll(() => page.evaluate(() => [...document.images].every(({ complete }) => complete))).toBe(true)
  const ends = await page.locator('.card').evaluateAll((all) => all.map((card) => card.getBoundingClientRect().bottom))
  const { width, height } = page.viewportSize()!
  const end = Math.max(...ends.filter((end) => end < height)) + 16
  const clip = { x: 0, y: 0, width, height: end > 0 ? end : height }
  await page.screenshot({ path: join(import.meta.dirname, `../../docs/${name}.png`), clip })
}
