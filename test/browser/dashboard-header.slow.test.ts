import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tokenLines, tokenOf } from '../harness/tokens.ts'
import { audit } from './audit.ts'
import { chromiumOfFile } from './chromium.ts'
import {
  charted,
  counterUrl,
  openMenu,
  sessionOfFile,
  signedIn,
  typeToken,
  type Violations,
  watch,
} from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'
import { startCounter } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = sampleCounter({ SITE_NAME: 'example.com' })
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

const menu = () => page.locator('#menu')
const focusedId = () => page.evaluate(() => document.activeElement?.id)

describe('the header', () => {
  it('has the name of the site, the types with the current one underlined, the dot, and one menu', async () => {
    await page.goto(`${counter.url}/?type=download`)
    expect(await page.title()).toBe('Downloads · example.com')
    expect(await page.getByRole('link', { name: 'example.com', exact: true }).getAttribute('href')).toBe('/')
    const types = page.getByRole('navigation', { name: 'Types' }).getByRole('link')
    const lines = await types.evaluateAll((links) =>
      links.map((link) => [link.textContent, getComputedStyle(link).textDecorationLine]),
    )
    expect(lines).toEqual([
      ['Page views', 'none'],
      ['Downloads', 'underline'],
      ['Visitors', 'none'],
    ])
    await expect.poll(() => page.locator('#state').getAttribute('data-state')).toBe('well')
    expect(await page.textContent('#state')).toMatch(/Live/)
    expect(await menu().isVisible()).toBe(false)
    await openMenu(page)
    for (const name of ['Do not count this browser', 'Sign out']) {
      expect(await menu().getByRole('button', { name }).isVisible(), name).toBe(true)
    }
    expect(await menu().getByRole('link', { name: 'API' }).isVisible()).toBe(true)
  })

  it('tells a problem, if there is one', async () => {
    // Waiting for an hour, it is a problem, for those who may see the status.
    const late = await startCounter()
    await late.rollUp(new Date(Date.now() - 3_600_000))
    await late.add('page_view', '/about', 1)
    const tab = await signedIn(await browser.newContext({ locale: 'en-GB' }), late)
    await expect.poll(() => tab.textContent('#state')).toMatch(/^ ?1 problem$/)
    const radius = await tab.locator('.dot').evaluate((dot) => getComputedStyle(dot).borderRadius)
    expect(radius).toBe('2px')
    expect(await tab.locator('#problems li').count()).toBe(1)
  })

  it('heads the page of a counter with the site too', async () => {
    await page.goto(counterUrl(counter, 'page_view', '/about'))
    expect(await page.title()).toBe('/about · example.com')
    await expect.poll(() => page.textContent('#state-text')).toMatch(/^Live/)
  })

  it('says that numbers do not arrive, until they do', async () => {
    await page.goto(counter.url)
    await expect.poll(() => page.textContent('#state-text')).toMatch(/^Live/)
    await context.setOffline(true)
    await page.getByRole('group', { name: 'Period' }).getByRole('button', { name: 'Today' }).click()
    await expect.poll(() => page.textContent('#state-text')).toBe('Not up to date')
    expect(await page.locator('#state').getAttribute('data-state')).toBe('unknown')
    await context.setOffline(false)
    await expect.poll(() => page.textContent('#state-text')).toMatch(/^Live/)
    violations.messages = violations.messages.filter((line) => !line.includes('ERR_INTERNET_DISCONNECTED'))
  })

  it('has the dot, but no problems, for a token that may not see it', async () => {
    const limited = await startCounter({ API_TOKENS: await tokenLines({ someone: 'read:download' }) })
    const tab = await (await browser.newContext()).newPage()
    await tab.goto(limited.url)
    await typeToken(tab, tokenOf('someone'))
    await tab.keyboard.press('Enter')
    await expect.poll(() => tab.textContent('#state-text')).toMatch(/^Live/)
    await openMenu(tab)
    expect(await tab.getByRole('button', { name: 'Sign out' }).isVisible()).toBe(true)
    expect(await tab.locator('#problems').count()).toBe(0)
  })

  it('takes at most two rows on a phone, with many types and a long name', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`type${i}`, { record_type: i + 1, title: `Type number ${i}` }]),
    )
    const long = await startCounter({ COUNTERS: many, SITE_NAME: 'The association of all who count pages, exactly' })
    await long.rollUp(new Date())
    const tab = await signedIn(await browser.newContext(), long)
    await expect.poll(() => tab.textContent('#state-text')).toMatch(/^Live/)
    for (const [width, most] of [
      [320, 2],
      [390, 2],
      [720, 2],
      [768, 1],
      [1920, 1],
    ] as const) {
      await tab.setViewportSize({ width, height: 800 })
      const tops = await tab
        .locator('header > *:not([popover])')
        .evaluateAll((parts) =>
          parts.map((part) => part.getBoundingClientRect()).map(({ top, bottom }) => (top + bottom) / 2),
        )
      // Those in a row are centered on it.
      expect(new Set(tops.map((top) => Math.round(top / 8))).size, `${width} px`).toBeLessThanOrEqual(most)
      expect((await tab.locator('header').boundingBox())!.height).toBeLessThanOrEqual(most * 48 + 12)
      await openMenu(tab)
      expect(await tab.locator('#menu').evaluate((part) => part.getBoundingClientRect().right)).toBeLessThanOrEqual(
        width,
      )
      await tab.keyboard.press('Escape')
    }
    expect(await audit(tab)).toEqual([])
  })
})

describe('the menu', () => {
  it('opens by keyboard, and Escape or a click beside it closes it', async () => {
    await page.goto(counter.url)
    await charted(page)
    await page.getByRole('button', { name: 'Menu' }).focus()
    await page.keyboard.press('Enter')
    expect(await menu().isVisible()).toBe(true)
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('API')
    await page.keyboard.press('Escape')
    expect([await menu().isVisible(), await focusedId()]).toEqual([false, 'menu-button'])
    await openMenu(page)
    await page.getByRole('heading', { level: 1 }).click()
    expect(await menu().isVisible()).toBe(false)
  })
})
