import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchChromium } from './chromium.ts'
import { counterUrl, signedIn, tableRows, type Violations, watch } from './open-dashboard.ts'
import { type Counter, startCounter } from './shipped-worker.ts'

const HOUR_MS = 3_600_000
/** Milliseconds in which a page shows a change. It polls every 5 s or 10 s, and backs off after failures. */
const LIVE_MS = 60_000

let browser: Browser
let counter: Counter
let context: BrowserContext
let page: Page
let violations: Violations
beforeAll(async () => {
  counter = await startCounter()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await counter?.stop()
})
beforeEach(async () => {
  context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC' })
  violations = await watch(context, counter)
  page = await signedIn(context, counter)
})
afterEach(async () => {
  await context.close()
  await counter.clear()
  // After every test.
  expect(violations).toEqual({ foreign: [], messages: [] })
})

const shows = (selector: string, text: string | RegExp) =>
  expect.poll(() => page.textContent(selector), { timeout: LIVE_MS }).toMatch(text)

const table = (selector: string) => tableRows(page, selector)

describe('the page of a counter', () => {
  const open = (type: string, key: string) => page.goto(counterUrl(counter, type, key))

  it('is exact beyond 2^53, and follows counting', async () => {
    await counter.api('POST', '/v1/imports', {
      counters: [{ type: 'download', key: 'big', count: '9223372036854775000' }],
    })
    await open('download', 'big')
    await shows('#count', /^9,223,372,036,854,775,000$/)
    await counter.add('download', 'big', 801)
    await shows('#count', /^9,223,372,036,854,775,801$/)
    expect(await page.textContent('#pending-count')).toBe('801')
    await shows('#adjustment-rows', /import\+9,223,372,036,854,775,000$/)
  })

  it('sets and resets after a confirmation that shows both numbers', async () => {
    await counter.add('download', 'app.zip', 41)
    await open('download', 'app.zip')
    const dialog = page.getByRole('dialog')
    const said = () => dialog.innerText()

    await page.getByLabel('Set to').fill('1000')
    await page.getByRole('button', { name: 'Set …' }).click()
    await dialog.waitFor()
    expect(await said()).toMatch(/Set this counter\?[\s\S]*app\.zip[\s\S]*download[\s\S]*41\s*→\s*1,000/)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await counter.has({ 'download app.zip': 41 })

    // A double click opens one dialog.
    await page.getByRole('button', { name: 'Set …' }).dblclick()
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await counter.has({ 'download app.zip': 41 })

    await page.getByRole('button', { name: 'Set …' }).click()
    await dialog.getByRole('button', { name: 'Set' }).click()
    await shows('#change-message', /^Set to 1,000\.$/)
    await counter.has({ 'download app.zip': 1_000 })
    await shows('#count', /^1,000$/)
    await shows('#adjustment-rows', /set\+959$/)

    await page.getByRole('button', { name: 'Reset to zero …' }).click()
    await dialog.waitFor()
    expect(await said()).toMatch(/Reset this counter to zero\?[\s\S]*1,000\s*→\s*0/)
    await dialog.getByRole('button', { name: 'Reset' }).click()
    await shows('#change-message', /^Reset to zero\.$/)
    await counter.has({ 'download app.zip': 0 })
    await shows('#count', /^0$/)
  })

  it('renames, merges and deletes after a confirmation, with the keyboard too', async () => {
    await counter.add('download', 'old.zip', 41)
    await counter.add('download', 'all.zip', 1)
    await open('download', 'old.zip')
    const dialog = page.getByRole('dialog')

    await page.getByLabel('Another key').fill('all.zip')
    await page.getByRole('button', { name: 'Rename …' }).click()
    await dialog.getByRole('button', { name: 'Rename' }).click()
    await shows('#move-message', /^There is a counter with the new key/)
    violations.messages = violations.messages.filter((line) => !line.includes('409'))

    await page.getByLabel('Another key').fill('new.zip')
    await page.getByRole('button', { name: 'Rename …' }).click()
    expect(await dialog.innerText()).toMatch(/Rename this counter\?[\s\S]*old\.zip\s*→\s*new\.zip[\s\S]*download/)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await counter.has({ 'download old.zip': 41, 'download all.zip': 1 })
    await page.getByRole('button', { name: 'Rename …' }).click()
    await dialog.getByRole('button', { name: 'Rename' }).click()
    await page.waitForURL(/key=new\.zip/)
    await shows('#count', /^41$/)

    await page.getByLabel('Another key').fill('all.zip')
    await page.getByRole('button', { name: 'Merge …' }).click()
    await dialog.getByRole('button', { name: 'Merge' }).click()
    await page.waitForURL(/key=all\.zip/)
    await shows('#count', /^42$/)

    await page.getByRole('button', { name: 'Delete …' }).focus()
    await page.keyboard.press('Enter')
    await dialog.waitFor()
    // The first button changes nothing.
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForSelector('main[data-page=overview]')
    await expect.poll(async () => Object.values(await counter.counts()).filter((count) => count !== 0)).toEqual([])
  })

  it('refuses an invalid number, before or after it is sent', async () => {
    await counter.add('download', 'app.zip', 41)
    await open('download', 'app.zip')
    for (const wrong of ['', '1.5', '1e3', 'abc', '12345678901234567890']) {
      await page.getByLabel('Set to').fill(wrong)
      await page.getByRole('button', { name: 'Set …' }).click()
      expect(await page.getByRole('dialog').isVisible(), wrong).toBe(false)
    }
    await page.getByLabel('Set to').fill('9007199254740993')
    await page.getByRole('button', { name: 'Set …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Set' }).click()
    await shows('#change-message', /^count must be a whole number between/)
    await counter.has({ 'download app.zip': 41 })
    violations.messages = violations.messages.filter((line) => !line.includes('422'))
  })

  it('shows any range of days, with their sum', async () => {
    const day = (ago: number) => new Date(Date.now() - ago * 24 * HOUR_MS).toISOString().slice(0, 10)
    await counter.api('POST', '/v1/imports', {
      counters: [
        { type: 'download', key: 'old', count: 7, day: day(400) },
        { type: 'download', key: 'old', count: 20, day: day(399) },
        { type: 'download', key: 'old', count: 500, day: day(398) },
      ],
    })
    await open('download', 'old')
    await shows('#sum', /^0 counted/)
    await page.getByLabel('From').fill(day(400))
    await page.getByLabel('to', { exact: true }).fill(day(399))
    await page.getByLabel('by').selectOption('day')
    await page.getByRole('button', { name: 'Show' }).click()
    await shows('#sum', /^27 counted/)
    expect((await table('#history-rows')).map((row) => row.split(' | ')[1])).toEqual(['7', '20'])
    // The last day is included, and nothing after it. A single day is a range too.
    await page.getByLabel('From').fill(day(398))
    await page.getByLabel('to', { exact: true }).fill(day(398))
    await page.getByRole('button', { name: 'Show' }).click()
    await shows('#sum', /^500 counted/)
    expect(await table('#history-rows')).toHaveLength(1)
    await page.getByLabel('by').selectOption('month')
    await page.getByLabel('From').fill(day(500))
    await page.getByRole('button', { name: 'Show' }).click()
    await shows('#sum', /^527 counted/)
    // With a range that ends before it begins, no request is sent.
    await page.getByLabel('From').fill(day(1))
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await page.textContent('#sum')).toMatch(/^527/)
    // More periods than the API allows.
    await page.getByLabel('From').fill('1990-01-01')
    await page.getByLabel('to', { exact: true }).fill(day(0))
    await page.getByLabel('by').selectOption('hour')
    await page.getByRole('button', { name: 'Show' }).click()
    await shows('#history-message', /^from must leave at most/)
    await page.getByRole('button', { name: '7 days' }).click()
    await expect.poll(async () => (await table('#history-rows')).length).toBe(7)
    violations.messages = violations.messages.filter((line) => !line.includes('422'))
  })

  it('has a badge to copy', async () => {
    await counter.add('page_view', '/a b/ü', 12)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: counter.url })
    await open('page_view', '/a b/ü')
    await page.getByRole('button', { name: 'Copy' }).click()
    await shows('#copy-message', /^Copied\.$/)
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toBe(`![page_view](${counter.url}/badge/page_view/%2Fa%20b%2F%C3%BC.svg)`)
    expect(await (await fetch(copied.slice(13, -1))).text()).toContain('12')
    expect(await page.locator('#badge').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(20)
  })
})
