import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { charted, counterUrl, signedIn, signedInWithoutTables, typeUrl } from './open-dashboard.ts'
import { counterOfFile, startCounter, TOKEN } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()

describe('with the keyboard alone', () => {
  it('visitors can sign in, search, open a counter, set it and delete it', async () => {
    await counter.add('page_view', '/keys/one', 3)
    await counter.add('page_view', '/keys/two', 4)
    await counter.rollUp(new Date())
    onTestFinished(() => counter.clear())
    const context = await browser.newContext({ locale: 'en-GB' })
    const page = await context.newPage()
    await page.goto(typeUrl(counter))
    // The field gets the focus with the first frame, which may be drawn after the page has loaded.
    await page.waitForSelector('input:focus')
    await page.keyboard.type(TOKEN)
    await page.keyboard.press('Enter')
    await page.waitForSelector('main[data-page=overview]')
    await page.locator('#top a').nth(1).waitFor()

    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to content')
    await tabTo(page, 'find')
    await page.keyboard.type('/keys/t')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('#top a').allTextContents()).toEqual(['/keys/two'])
    await tabTo(page, '/keys/two')
    await page.keyboard.press('Enter')
    await page.waitForSelector('main[data-page=counter]')
    // The page is shown before its script listens.
    await page.waitForLoadState()

    await tabTo(page, 'Change this counter')
    await page.keyboard.press('Enter')
    await tabTo(page, 'new-count')
    await page.keyboard.type('99')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    // The page under the dialog cannot be reached, and the first button changes nothing.
    expect(await focused(page)).toBe('Cancel')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Set to 99')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.textContent('#tile-all b')).toBe('99')
    await tabTo(page, 'Delete …')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await counter.has({ 'page_view /keys/one': 3, 'page_view /keys/two': 99 }, page)
    expect(await focused(page)).toBe('Delete …')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    // The page of a deleted counter gives way to that of its type.
    await page.waitForSelector('main[data-page=overview]')
    await counter.has({ 'page_view /keys/one': 3, 'page_view /keys/two': 0 }, page)
  })

  it('the focus is always visible', async () => {
    await counter.add('page_view', '/focus', 3)
    await counter.rollUp(new Date())
    onTestFinished(() => counter.clear())
    const context = await browser.newContext({ locale: 'en-GB' })
    const page = await signedIn(context, counter)
    for (const url of [typeUrl(counter), counterUrl(counter, 'page_view', '/focus')]) {
      await page.goto(url)
      await charted(page)
      const seen = new Set<string>()
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press('Tab')
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
})

it.each([true, false])('what there is to copy has a name, on a database without tables (%s)', async (empty) => {
  const own = await startCounter({}, { empty })
  const context = await browser.newContext({ locale: 'en-GB' })
  const page = await (empty ? signedInWithoutTables : signedIn)(context, own)
  // Shown only if the branch has safe migrations on.
  if (empty) await page.locator('#deploy-request').evaluate((section) => section.removeAttribute('hidden'))
  else await page.locator('#first-run').waitFor()
  for (const name of empty ? ['Statements'] : ['Script and image']) {
    await page.getByRole('textbox', { name }).waitFor()
    await page.getByRole('button', { name: `Copy: ${name}` }).click()
    await page
      .getByText(/^(Copied\.|Selected\. Copy it with the keyboard\.)$/)
      .first()
      .waitFor()
  }
})

/** The focused element: its id if it is a field, otherwise its text. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { id, tagName, textContent } = document.activeElement!
    return tagName === 'INPUT' ? id : (textContent ?? '').trim()
  })
}

async function tabTo(page: Page, wanted: string): Promise<void> {
  for (let i = 0; i < 60; i++) {
    if ((await focused(page)) === wanted) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${wanted}.`)
}
