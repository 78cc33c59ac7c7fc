import { readFile } from 'node:fs/promises'
import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import {
  chartRows,
  counterUrl,
  pollHurried,
  sessionOfFile,
  shows,
  type Violations,
  watchedPage,
} from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'

const HOUR_MS = 3_600_000

const browser = chromiumOfFile()
const counter = counterOfFile()
const session = sessionOfFile(browser, counter)
let context: BrowserContext
let page: Page
let violations: Violations
beforeEach(async () => {
  ;({ context, violations, page } = await watchedPage(browser, counter, { timezoneId: 'UTC', storageState: session }))
})
afterEach(async () => {
  await context.close()
  await counter.clear()
  // After every test.
  expect(violations).toEqual({ foreign: [], messages: [] })
})

describe('the page of a counter', () => {
  const open = (type: string, key: string) => page.goto(counterUrl(counter, type, key))

  it('is exact beyond 2^53, and follows counting', async () => {
    await counter.api('POST', '/v1/imports', {
      counters: [{ type: 'download', key: 'big', count: '9223372036854775000' }],
    })
    await open('download', 'big')
    await shows(page, '#figure-all', /^9,223,372,036,854,775,000$/)
    await counter.add('download', 'big', 801)
    await shows(page, '#figure-all', /^9,223,372,036,854,775,801$/)
    expect(await page.textContent('#figure-today')).toBe('801')
    expect(await page.textContent('#as-of')).toMatch(/and 801 waiting to be added up/)
    await shows(page, '#adjustment-rows', /import\+9,223,372,036,854,775,000$/)
    expect(await page.textContent('#history-legend')).toContain('set or imported')
  })

  it('sets after a confirmation that names both numbers', async () => {
    await counter.add('download', 'app.zip', 41)
    await open('download', 'app.zip')
    const dialog = page.getByRole('dialog')
    const said = () => dialog.innerText()
    expect(await page.getByLabel('Set to').isVisible()).toBe(false)
    await page.getByText('Change this counter').click()

    // As the page writes it.
    await page.getByLabel('Set to').fill('1,000')
    await page.getByRole('button', { name: 'Set …' }).click()
    await dialog.waitFor()
    expect(await said()).toMatch(/Set this counter\?[\s\S]*app\.zip[\s\S]*from 41 to 1,000 \(\+959\)/)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await counter.has({ 'download app.zip': 41 }, page)

    // A double click opens one dialog.
    await page.getByRole('button', { name: 'Set …' }).dblclick()
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await counter.has({ 'download app.zip': 41 }, page)

    await page.getByRole('button', { name: 'Set …' }).click()
    await dialog.getByRole('button', { name: 'Set to 1,000' }).click()
    await shows(page, '#done', /^Set to 1,000\.$/)
    await counter.has({ 'download app.zip': 1_000 }, page)
    await shows(page, '#figure-all', /^1,000$/)
    await shows(page, '#adjustment-rows', /set\+959$/)
  })

  it('shows the period that its address names, and keeps it there', async () => {
    const now = Date.now()
    const day = (ago: number) => new Date(now - ago * 24 * HOUR_MS).toISOString().slice(0, 10)
    await counter.api('POST', '/v1/imports', {
      counters: [
        { type: 'download', key: 'old', count: 7, day: day(40) },
        { type: 'download', key: 'old', count: 20, day: day(39) },
        { type: 'download', key: 'old', count: 500, day: day(38) },
      ],
    })
    await open('download', 'old')
    await shows(page, '#history-sum', /^0 /)
    await page.getByRole('button', { name: 'Other days' }).click()
    await page.getByLabel('From').fill(day(40))
    await page.getByLabel('to', { exact: true }).fill(day(38))
    await page.getByRole('button', { name: 'Show' }).click()
    await shows(page, '#history-sum', /^527 /)
    expect((await chartRows(page)).map((row) => row.split(' | ')[1])).toEqual(['7', '20', '500'])
    await page.reload()
    await shows(page, '#history-sum', /^527 /)
    await page.goBack()
    await shows(page, '#history-sum', /^0 /)
    await page.getByRole('button', { name: '7 days' }).click()
    await expect.poll(async () => (await chartRows(page)).length).toBe(7)
    expect(page.url()).toContain('period=7d')
  })

  it('saves as CSV what the chart shows', async () => {
    const today = () => new Date().toISOString().slice(0, 10)
    const before = today()
    // Counting began before the week with which this one is compared.
    await counter.add('download', '=1+1', 5)
    await counter.rollUp(new Date(Date.now() - 20 * 86_400_000))
    await counter.add('download', '=1+1', 12)
    await open('download', '=1+1')
    await page.getByRole('button', { name: '7 days' }).click()
    await pollHurried(page, async () => (await chartRows(page)).length).toBe(7)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the chart as CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^download-1-1-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/)
    const lines = (await readFile(await download.path(), 'utf8')).replace('\ufeff', '').trim().split('\r\n')
    expect(lines[0]).toBe('"start","count","before"')
    expect(lines).toHaveLength(8)
    // The day may end meanwhile.
    expect([before, today()].map((day) => `"${day}T00:00:00Z",12,0`)).toContain(lines.at(-1))
  })
})
