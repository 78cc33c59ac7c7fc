import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { fillSampleSite, SAMPLE_COUNTERS } from '../../scripts/sample-site.ts'
import { chromiumOfFile } from './chromium.ts'
import { charted, loadedImages, sessionOf, settledNumbers } from './open-dashboard.ts'
import { startCounter } from './shipped-worker.ts'
import { startDemo } from './test-site.ts'

/** Pixels below the last card. */
const MARGIN = 16
const FOLDER = join(import.meta.dirname, '../../docs')

const DESKTOP: BrowserContextOptions = { viewport: { width: 1100, height: 1_400 } }
const PHONE: BrowserContextOptions = { viewport: { width: 360, height: 960 }, deviceScaleFactor: 2, hasTouch: true }

// They are pictures for the documents. What the pages show is tested elsewhere.
describe.runIf(process.env.SCREENSHOTS)('screenshots', () => {
  const browser = chromiumOfFile()

  it('of the dashboard', async () => {
    const counter = await startCounter({ COUNTERS: SAMPLE_COUNTERS, SITE_NAME: 'example.com' })
    await fillSampleSite(counter.databaseUrl, new Date())
    // Makes the status well.
    await counter.rollUp(new Date())
    await counter.api('PUT', '/v1/counters/download/map.txt', { count: 5_000 })
    const storageState = await sessionOf(browser, counter)
    const ofPage = '/counter?type=page_view&key=%2Fpricing'
    const ofFile = '/counter?type=download&key=map.txt'

    const shots: [name: string, path: string, options: BrowserContextOptions, range: string | undefined][] = [
      ['dashboard', '/?type=page_view', { ...DESKTOP, colorScheme: 'light' }, undefined],
      ['dashboard-dark', '/?type=page_view', { ...DESKTOP, colorScheme: 'dark' }, '30 days'],
      ['dashboard-phone', '/?type=page_view', { ...PHONE, colorScheme: 'light' }, undefined],
      ['dashboard-counter', ofPage, { ...DESKTOP, colorScheme: 'light' }, '30 days'],
      ['dashboard-counter-dark', ofFile, { ...DESKTOP, colorScheme: 'dark' }, '12 months'],
      ['dashboard-counter-phone', ofPage, { ...PHONE, colorScheme: 'dark' }, '7 days'],
    ]
    for (const [name, path, options, range] of shots) {
      const where = { locale: 'en-GB', timezoneId: 'Europe/Berlin', storageState }
      const page = await (await browser.newContext({ ...where, ...options })).newPage()
      await page.goto(counter.url + path)
      if (range !== undefined) await page.getByRole('link', { name: range }).click()
      await charted(page)
      await settledNumbers(page)
      await expect.poll(() => page.locator('#state').getAttribute('data-state')).not.toBe('unknown')
      await take(page, name, { origin: counter.url, mostBytes: 200_000, clip: wholeCards })
    }
  })

  it('of the demo site', async () => {
    const counter = await startCounter()
    const demo = await startDemo(counter)
    const seeds = { '/': 12_841, '/blog/counting': 3_977, '/app/': 1_208, '/downloads': 964 }
    for (const [key, by] of Object.entries(seeds)) await counter.add('page_view', key, by)
    const files = { 'files/map.txt': 1_530, 'list.csv': 411, 'app-1.2.0.tgz': 28_306 }
    for (const [key, by] of Object.entries(files)) await counter.add('download', key, by)

    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 760, height: 560 } })
    const page = await context.newPage()
    for (const [name, path] of Object.entries({ 'demo-home': '/', 'demo-downloads': '/downloads' })) {
      await page.goto(demo.url + path)
      await expect.poll(() => page.locator('[data-counter]').allTextContents()).not.toContain('…')
      await take(page, name, { origin: counter.url, mostBytes: 60_000 })
    }
  })
})

interface Picture {
  /** The address of the Worker. */
  origin: string
  mostBytes: number
  /** The part of the window. */
  clip?: typeof wholeCards
}

/** Takes a picture of a page, without the port of a test run, which means nothing to a reader. */
async function take(page: Page, name: string, { origin, mostBytes, clip }: Picture): Promise<void> {
  await page.evaluate((origin) => {
    const hide = (text: string) => text.replaceAll(origin, 'https://counter.example')
    for (const area of document.querySelectorAll('textarea')) area.value = hide(area.value)
    for (const pre of document.querySelectorAll('pre')) pre.textContent = hide(pre.textContent!)
  }, origin)
  await loadedImages(page)
  const path = join(FOLDER, `${name}.png`)
  await page.screenshot({ path, ...(clip && { clip: await clip(page) }) })
  const { size } = await stat(path)
  expect(size).toBeGreaterThan(5_000)
  expect(size).toBeLessThan(mostBytes)
}

/** The part of the window down to the end of its last card that is wholly in it; without one, the whole window. */
async function wholeCards(page: Page): Promise<{ x: number; y: number; width: number; height: number }> {
  const { width, height } = page.viewportSize()!
  const ends = await page
    .locator('.card')
    .evaluateAll((cards) => cards.map((card) => card.getBoundingClientRect().bottom))
  const whole = ends.filter((end) => end < height)
  return { x: 0, y: 0, width, height: whole.length === 0 ? height : Math.max(...whole) + MARGIN }
}
