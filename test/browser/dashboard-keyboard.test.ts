import { expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { typeUrl, watch } from './open-dashboard.ts'
import { counterOfFile, TOKEN } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = counterOfFile({ BASE_PATH: '/counter' })

it('With the keyboard alone somebody can sign in, search, open a counter, set and delete it, below a base path', async () => {
  await counter.add('page_view', '/keys/one', 3)
  await counter.add('page_view', '/keys/two', 4)
  const context = await browser.newContext({ locale: 'en-GB' })
  await watch(context, counter)
  const page = await context.newPage()
  const press = (key: string) => page.keyboard.press(key)
  const tabbed = new Set<string>()
  /** Presses Tab. Returns the focused element: its id if it is a field, otherwise its text. The focus is always visible. */
  const tab = async () => {
    await press('Tab')
    const [name, outline] = await page.evaluate(() => {
      const focused = document.activeElement!
      const { outlineStyle, outlineWidth } = getComputedStyle(focused)
      const name = focused.tagName === 'INPUT' ? focused.id : (focused.textContent ?? '').trim()
      return [name, focused === document.body ? '' : `${outlineStyle} ${outlineWidth}`]
    })
    if (outline !== '') expect(outline, name).toBe('solid 3px')
    tabbed.add(name!)
    return name
  }
  const tabTo = async (wanted: string) => {
    let name: string | undefined
    for (let i = 0; i < 60 && name !== wanted; i++) name = await tab()
    expect(name).toBe(wanted)
  }
  const shown = async (name: string) => {
    await page.waitForSelector(`main[data-page=${name}]`)
    // The page is shown before its script listens.
    await page.waitForLoadState()
  }
  const dialog = (state: 'visible' | 'hidden' = 'visible') => page.getByRole('dialog').waitFor({ state })

  await page.goto(typeUrl(counter))
  // The field gets the focus with the first frame, which may be drawn after the page has loaded.
  await page.waitForSelector('input:focus')
  await page.keyboard.type(TOKEN)
  await press('Enter')
  await shown('overview')
  expect(await tab()).toBe('Skip to content')
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
  await expect.poll(() => page.locator(':focus').textContent()).toBe('Cancel')
  expect(await tab()).toBe('Set to 99')
  await press('Enter')
  await expect.poll(() => page.textContent('#tile-all b')).toBe('99')
  await tabTo('Delete …')
  await press('Enter')
  await dialog()
  await press('Enter')
  await dialog('hidden')
  await counter.has({ 'page_view /keys/one': 3, 'page_view /keys/two': 99 }, page)
  expect(await page.locator(':focus').textContent()).toBe('Delete …')
  await press('Enter')
  await dialog()
  await press('Tab')
  await press('Enter')
  // The page of a deleted counter gives way to that of its type.
  await shown('overview')
  expect(await page.textContent('#message')).toBe('Deleted /keys/two.')
  await counter.has({ 'page_view /keys/one': 3, 'page_view /keys/two': 0 }, page)
  expect(tabbed.size).toBeGreaterThan(25)
})
