import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { launchChromium } from './chromium.ts'
import { loadedImages, sessionOf } from './open-dashboard.ts'
import { fillHistory } from './sample-history.ts'
import { startCounter } from './shipped-worker.ts'

const MAX_BYTES = 200_000
/** Pixels below the last card. */
const MARGIN = 16
const FOLDER = join(import.meta.dirname, '../../docs')

const DESKTOP: BrowserContextOptions = { viewport: { width: 1100, height: 1_400 } }
const PHONE: BrowserContextOptions = { viewport: { width: 360, height: 960 }, deviceScaleFactor: 2, hasTouch: true }

// They are pictures for the documents. What the pages show is tested elsewhere.
it.runIf(process.env.SCREENSHOTS)('screenshots of the dashboard', async () => {
  const counter = await startCounter()
  const browser = await launchChromium()
  onTestFinished(() => browser.close())
  await fillHistory(counter, new Date())
  // So that lists, which are as of the last roll-up, show what the pages of counters show.
  await counter.rollUp(new Date())
  await counter.api('PUT', '/v1/counters/download/map.txt', { count: 5_000 })
  const storageState = await sessionOf(browser, counter)
  const counterPath = '/counter?type=page_view&key=%2Fblog%2Fcounting'

  const shots: [name: string, path: string, options: BrowserContextOptions, range: string | undefined][] = [
    ['dashboard', '/', { ...DESKTOP, colorScheme: 'light' }, undefined],
    ['dashboard-dark', '/', { ...DESKTOP, colorScheme: 'dark' }, '30 days'],
    ['dashboard-phone', '/', { ...PHONE, colorScheme: 'light' }, undefined],
    ['dashboard-counter', counterPath, { ...DESKTOP, colorScheme: 'light' }, '30 days'],
    ['dashboard-counter-dark', '/counter?type=download&key=map.txt', { ...DESKTOP, colorScheme: 'dark' }, '12 months'],
    ['dashboard-counter-phone', counterPath, { ...PHONE, colorScheme: 'dark' }, '7 days'],
  ]
  for (const [name, path, options, range] of shots) {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', storageState, ...options })
    const page = await context.newPage()
    await page.goto(counter.url + path)
    if (range !== undefined) await page.getByRole('button', { name: range }).click()
    await page.waitForSelector('.chart svg')
    await expect.poll(() => page.locator('.stale').count()).toBe(0)
    // The port of a test run means nothing to a reader.
    await page.evaluate((origin) => {
      for (const area of document.querySelectorAll('textarea')) {
        area.value = area.value.replaceAll(origin, 'https://counter.example')
      }
    }, counter.url)
    await expect.poll(() => page.locator('#state').getAttribute('data-state')).not.toBe('unknown')
    await loadedImages(page)
    const file = join(FOLDER, `${name}.png`)
    await page.screenshot({ path: file, clip: await wholeCards(page) })
    const { size } = await stat(file)
    expect(size).toBeGreaterThan(5_000)
    expect(size).toBeLessThan(MAX_BYTES)
    await context.close()
  }
})

/** The part of the window down to the end of its last card that is wholly in it. */
async function wholeCards(page: Page): Promise<{ x: number; y: number; width: number; height: number }> {
  const { width, height } = page.viewportSize()!
  const ends = await page
    .locator('.card')
    .evaluateAll((cards) => cards.map((card) => card.getBoundingClientRect().bottom))
  return { x: 0, y: 0, width, height: Math.max(...ends.filter((end) => end < height)) + MARGIN }
}
