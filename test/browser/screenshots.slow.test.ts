import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { charted, sessionOfFile, settledNumbers } from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'
import { startCounter } from './shipped-worker.ts'
import { startDemo } from './test-site.ts'

/** Pixels below the last card. */
const MARGIN = 16
const DESKTOP: BrowserContextOptions = { viewport: { width: 1100, height: 1_400 } }
const PHONE: BrowserContextOptions = { viewport: { width: 360, height: 960 }, deviceScaleFactor: 2, hasTouch: true }

const FRONT = '/?type=page_view'
const PAGE = '/counter?type=page_view&key=%2Fpricing'
const FILE = '/counter?type=download&key=map.txt'
const SHOTS: [name: string, path: string, options: BrowserContextOptions][] = [
  ['dashboard', FRONT, { ...DESKTOP, colorScheme: 'light' }],
  ['dashboard-dark', FRONT, { ...DESKTOP, colorScheme: 'dark' }],
  ['dashboard-phone', FRONT, { ...PHONE, colorScheme: 'light' }],
  ['dashboard-counter', `${PAGE}&period=30d`, { ...DESKTOP, colorScheme: 'light' }],
  ['dashboard-counter-dark', `${FILE}&period=12m`, { ...DESKTOP, colorScheme: 'dark' }],
  ['dashboard-counter-phone', `${PAGE}&period=7d`, { ...PHONE, colorScheme: 'dark' }],
]

// They are pictures for the documents. What the pages show is tested elsewhere.
describe.runIf(process.env.SCREENSHOTS)('screenshots', () => {
  const browser = chromiumOfFile()
  const counter = sampleCounter({ SITE_NAME: 'example.com' })
  const storageState = sessionOfFile(browser, counter)

  it('of the dashboard', async () => {
    await counter.api('PUT', '/v1/counters/download/map.txt', { count: 5_000 })
    for (const [name, path, options] of SHOTS) {
      const where = { locale: 'en-GB', timezoneId: 'Europe/Berlin', storageState }
      const page = await (await browser.newContext({ ...where, ...options })).newPage()
      await page.goto(counter.url + path)
      await charted(page)
      await settledNumbers(page)
      await take(page, name, counter.url, 200_000)
    }
  })

  it('of the demo site', async () => {
    const counter = await startCounter()
    const demo = await startDemo(counter)
    const views = { '/': 12_841, '/blog/counting': 3_977, '/app/': 1_208, '/downloads': 964 }
    for (const [key, by] of Object.entries(views)) await counter.add('page_view', key, by)
    const files = { 'files/map.txt': 1_530, 'list.csv': 411, 'app-1.2.0.tgz': 28_306 }
    for (const [key, by] of Object.entries(files)) await counter.add('download', key, by)
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 760, height: 560 } })
    const page = await context.newPage()
    for (const [name, path] of Object.entries({ 'demo-home': '/', 'demo-downloads': '/downloads' })) {
      await page.goto(demo.url + path)
      await expect.poll(() => page.locator('[data-counter]').allTextContents()).not.toContain('…')
      await take(page, name, counter.url, 60_000)
    }
  })
})

/** Takes a picture of a page down to the end of its last whole card, without the port of a test run, which means nothing to a reader. */
async function take(page: Page, name: string, origin: string, mostBytes: number): Promise<void> {
  await page.evaluate((origin) => {
    const hide = (text: string) => text.replaceAll(origin, 'https://counter.example')
    for (const area of document.querySelectorAll('textarea')) area.value = hide(area.value)
    for (const pre of document.querySelectorAll('pre')) pre.textContent = hide(pre.textContent!)
  }, origin)
  await expect.poll(() => page.evaluate(() => [...document.images].every(({ complete }) => complete))).toBe(true)
  const cards = page.locator('.card')
  const ends = await cards.evaluateAll((all) => all.map((card) => card.getBoundingClientRect().bottom))
  const { width, height } = page.viewportSize()!
  const whole = ends.filter((end) => end < height)
  const clip = { x: 0, y: 0, width, height: whole.length === 0 ? height : Math.max(...whole) + MARGIN }
  const path = join(import.meta.dirname, `../../docs/${name}.png`)
  await page.screenshot({ path, clip })
  const { size } = await stat(path)
  expect(size).toBeGreaterThan(5_000)
  expect(size).toBeLessThan(mostBytes)
}
