import type { Page } from 'playwright-core'
import { beforeEach, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { charted, counterUrl, signedIn } from './open-dashboard.ts'
import { counterOfFile, TOKEN } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()
let page: Page
beforeEach(async () => {
  await counter.clear()
  page = await (await browser.newContext({ locale: 'en-GB' })).newPage()
})

/** The focused element: its id if it is a field, otherwise its text. */
const focused = () =>
  page.evaluate(() => {
    const { id, tagName, textContent } = document.activeElement!
    return tagName === 'INPUT' ? id : (textContent ?? '').trim()
  })
const press = async (...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}
async function tabTo(wanted: string): Promise<void> {
  for (let i = 0; i < 60 && (await focused()) !== wanted; i++) await press('Tab')
  expect(await focused()).toBe(wanted)
}

it('With the keyboard alone somebody can sign in, search, open a counter, set it and delete it', async () => {
  await counter.add('page_view', '/keys/one', 3)
  await counter.add('page_view', '/keys/two', 4)
  const shown = async (name: string) => {
    await page.waitForSelector(`main[data-page=${name}]`)
    // The page is shown before its script listens.
    await page.waitForLoadState()
  }
  const dialog = (state: 'visible' | 'hidden' = 'visible') => page.getByRole('dialog').waitFor({ state })
  await page.goto(`${counter.url}/?type=page_view`)
  // The field gets the focus with the first frame, which may be drawn after the page has loaded.
  await page.waitForSelector('input:focus')
  await page.keyboard.type(TOKEN)
  await press('Enter')
  await shown('overview')
  await press('Tab')
  expect(await focused()).toBe('Skip to content')
  await tabTo('find')
  await page.keyboard.type('/keys/t')
  await press('Enter')
  await expect.poll(() => page.locator('#top a').allTextContents()).toEqual(['/keys/two'])
  await tabTo('/keys/two')
  await press('Enter')
  await shown('counter')
  await tabTo('Change this counter')
  await press('Enter')
  await tabTo('new-count')
  await page.keyboard.type('99')
  await press('Enter')
  await dialog()
  // The page under the dialog cannot be reached, and the first button changes nothing.
  expect(await focused()).toBe('Cancel')
  await press('Tab')
  expect(await focused()).toBe('Set to 99')
  await press('Enter')
  await expect.poll(() => page.textContent('#tile-all b')).toBe('99')
  await tabTo('Delete …')
  await press('Enter')
  await dialog()
  await press('Enter')
  await dialog('hidden')
  await counter.has({ 'page_view /keys/one': 3, 'page_view /keys/two': 99 }, page)
  expect(await focused()).toBe('Delete …')
  await press('Enter')
  await dialog()
  await press('Tab', 'Enter')
  // The page of a deleted counter gives way to that of its type.
  await shown('overview')
  await counter.has({ 'page_view /keys/one': 3, 'page_view /keys/two': 0 }, page)
})

it('The focus is always visible', async () => {
  await counter.add('page_view', '/focus', 3)
  page = await signedIn(page.context(), counter)
  for (const url of [`${counter.url}/?type=page_view`, counterUrl(counter, 'page_view', '/focus')]) {
    await page.goto(url)
    await charted(page)
    const seen = new Set<string>()
    for (let i = 0; i < 60; i++) {
      await press('Tab')
      const [name, outline] = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement!)
        return [document.activeElement!.outerHTML.slice(0, 80), `${outlineStyle} ${outlineWidth}`]
      })
      if (name!.startsWith('<body') || seen.has(name!)) break
      seen.add(name!)
      expect(outline, name).toBe('solid 3px')
    }
    expect(seen.size).toBeGreaterThan(12)
  }
})
