import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { audit } from './audit.ts'
import { chromiumOfFile } from './chromium.ts'
import { charted, counterUrl, openMenu, sessionOfFile, type Violations, watch } from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'

const browser = chromiumOfFile()
const counter = sampleCounter()
const storageState = sessionOfFile(browser, counter)

let context: BrowserContext
let page: Page
let violations: Violations
beforeEach(async () => {
  context = await browser.newContext({ locale: 'en-GB', storageState })
  violations = await watch(context, counter)
  page = await context.newPage()
})
afterEach(async () => {
  await context.close()
  expect(violations).toEqual({ foreign: [], messages: [] })
})

const period = () => page.evaluate(() => new URLSearchParams(location.search).get('period'))
const focusedId = () => page.evaluate(() => document.activeElement?.id)

describe('the keys', () => {
  beforeEach(async () => {
    await page.goto(counter.url)
    await charted(page)
  })

  it('T, W, M and Y show a period, as capitals or not', async () => {
    const pressed: (string | null)[] = []
    // 30 days are the default, which the address leaves out.
    for (const key of ['t', 'w', 'm', 'Y', 'T', 'M', 'W', 'y']) {
      await page.keyboard.press(key)
      pressed.push(await period())
    }
    expect(pressed).toEqual(['today', '7d', null, '12m', 'today', null, '7d', '12m'])
  })

  it('/ goes to the filter, in which keys are text', async () => {
    await page.keyboard.press('/')
    expect(await focusedId()).toBe('find')
    await page.keyboard.type('/twy?')
    expect(await page.inputValue('#find')).toBe('/twy?')
    expect([await period(), await page.locator('dialog[open]').count()]).toEqual([null, 0])
  })

  it('with Ctrl, Alt or Meta are left to the browser, and other keys do nothing', async () => {
    for (const key of ['Control+y', 'Alt+t', 'Meta+w', 'x', 'Tab', 'ArrowLeft']) await page.keyboard.press(key)
    expect([await period(), await page.locator('dialog[open]').count()]).toEqual([null, 0])
    await page.keyboard.press('Shift+T')
    expect(await period()).toBe('today')
  })

  it('? shows them all, and while they are shown no other works', async () => {
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    expect(await dialog.locator('kbd').allTextContents()).toEqual(['/', 'T', 'W', 'M', 'Y', '?'])
    await page.keyboard.press('t')
    expect(await period()).toBe(null)
    expect(await audit(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
  })

  it('can be turned off and on again in this browser, from the menu too', async () => {
    const dialog = page.getByRole('dialog')
    await page.keyboard.press('?')
    await dialog.getByRole('checkbox').uncheck()
    await dialog.getByRole('button', { name: 'Close' }).click()
    for (const key of ['t', '?', '/']) await page.keyboard.press(key)
    expect([await period(), await dialog.count(), await focusedId()]).toEqual([null, 0, ''])
    await page.reload()
    await charted(page)
    await page.keyboard.press('w')
    expect(await period()).toBe(null)

    await openMenu(page)
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    await dialog.getByRole('checkbox').check()
    await page.keyboard.press('Escape')
    expect(await focusedId()).toBe('menu-button')
    await page.keyboard.press('w')
    expect(await period()).toBe('7d')
  })

  it('work where the browser blocks its storage, as does the menu', async () => {
    await page.addInitScript(() => {
      const blocked = () => {
        throw new DOMException('blocked', 'SecurityError')
      }
      for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get: blocked })
    })
    await page.reload()
    await charted(page)
    await openMenu(page)
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await page.keyboard.press('w')
    expect(await period()).toBe('7d')
  })

  it('work on the page of a counter, which has no filter', async () => {
    await page.goto(counterUrl(counter, 'page_view', '/about'))
    await charted(page)
    await page.keyboard.press('/')
    await page.keyboard.press('y')
    expect(await period()).toBe('12m')
    await page.keyboard.press('?')
    expect(await page.getByRole('dialog').locator('kbd').allTextContents()).toEqual(['T', 'W', 'M', 'Y', '?'])
  })
})
