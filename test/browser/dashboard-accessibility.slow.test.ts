import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { launchChromium } from './chromium.ts'
import { counterUrl, signedIn, type Violations, watch } from './open-dashboard.ts'
import { type Counter, startCounter, TOKEN } from './shipped-worker.ts'

let browser: Browser
let counter: Counter
beforeAll(async () => {
  counter = await startCounter()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await counter?.stop()
})

/** Opens the dashboard in a signed-in browser. */
async function open(
  options: BrowserContextOptions = {},
): Promise<{ page: Page; context: BrowserContext; violations: Violations }> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  const violations = await watch(context, counter)
  onTestFinished(() => context.close())
  return { page: await signedIn(context, counter), context, violations }
}

describe('with the keyboard alone', () => {
  it('visitors can sign in, search, open a counter, set it and reset it', async () => {
    await counter.add('page_view', '/keys/one', 3)
    await counter.add('page_view', '/keys/two', 4)
    await counter.rollUp(new Date())
    onTestFinished(() => counter.clear())
    const context = await browser.newContext({ locale: 'en-GB' })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(counter.url)
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

    await tabTo(page, 'new-count')
    await page.keyboard.type('99')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    // The page under the dialog cannot be reached, and the first button changes nothing.
    expect(await focused(page)).toBe('Cancel')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Set')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.textContent('#figure-all')).toBe('99')
    await tabTo(page, 'Reset to zero …')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await counter.has({ 'page_view /keys/one': 3, 'page_view /keys/two': 99 })
    expect(await focused(page)).toBe('Reset to zero …')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await counter.has({ 'page_view /keys/one': 3, 'page_view /keys/two': 0 })
  })

  it('the focus is always visible', async () => {
    await counter.add('page_view', '/focus', 3)
    await counter.rollUp(new Date())
    onTestFinished(() => counter.clear())
    const { page } = await open()
    for (const url of [counter.url, counterUrl(counter, 'page_view', '/focus')]) {
      await page.goto(url)
      await page.waitForSelector('.chart svg')
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

describe('on any screen', () => {
  it.each([320, 360, 768, 1280, 1920])('with %i pixels in width, pages do not scroll sideways', async (width) => {
    for (const [type, key] of [
      ['page_view', 'W'.repeat(500)],
      ['download', '/short'],
    ] as const) {
      await counter.add(type, key, 2 ** 45)
    }
    await counter.api('POST', '/v1/imports', {
      counters: [{ type: 'page_view', key: 'big', count: '9223372036854775000' }],
    })
    await counter.rollUp(new Date())
    onTestFinished(() => counter.clear())
    const { page } = await open({ viewport: { width, height: 700 } })
    for (const url of [
      counter.url,
      `${counter.url}/?type=download`,
      counterUrl(counter, 'page_view', 'W'.repeat(500)),
      counterUrl(counter, 'page_view', 'big'),
    ]) {
      await page.goto(url)
      await page.waitForSelector('.chart svg')
      await page.getByText('Show as a table').click()
      await expect.poll(() => page.getAttribute('#state', 'data-state')).toBe('well')
      expect(await page.evaluate(tooWide), url).toEqual([])
      if (url.includes('counter')) {
        await page.getByRole('button', { name: 'Reset to zero …' }).click()
        await page.getByRole('dialog').waitFor()
        const box = (await page.getByRole('dialog').boundingBox())!
        expect(box.x).toBeGreaterThanOrEqual(0)
        expect(box.x + box.width).toBeLessThanOrEqual(width)
        await page.keyboard.press('Escape')
      }
    }
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API token').waitFor()
    expect(await page.evaluate(tooWide)).toEqual([])
  })

  it.each(['light', 'dark'] as const)('in %s mode, all text has enough contrast', async (colorScheme) => {
    await counter.add('page_view', '/read', 3)
    await counter.rollUp(new Date())
    onTestFinished(() => counter.clear())
    const { page } = await open({ colorScheme })
    const worst: string[] = []
    for (const url of [counter.url, counterUrl(counter, 'page_view', '/read')]) {
      await page.goto(url)
      await expect.poll(() => page.getAttribute('#state', 'data-state')).toBe('well')
      worst.push(...(await page.evaluate(poorContrasts)))
    }
    await page.getByRole('button', { name: 'Reset to zero …' }).click()
    await page.getByRole('dialog').waitFor()
    worst.push(...(await page.evaluate(poorContrasts)))
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    worst.push(...(await page.evaluate(poorContrasts)))
    expect(worst).toEqual([])
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(background).toBe(colorScheme === 'dark' ? 'rgb(18, 22, 28)' : 'rgb(245, 246, 248)')
  })
})

describe('before anything is counted', () => {
  /** Opens the dashboard of a Worker of its own, on a database with or without tables. */
  async function openNew(empty: boolean, options: BrowserContextOptions): Promise<Page> {
    const own = await startCounter({}, { empty })
    const context = await browser.newContext({ locale: 'en-GB', ...options })
    onTestFinished(async () => {
      await context.close()
      await own.stop()
    })
    return signedIn(context, own)
  }

  it.each([
    [320, 'light'],
    [1280, 'dark'],
  ] as const)('with %i pixels in width, in %s mode, all can be read, and by name', async (width, colorScheme) => {
    const options = { colorScheme, viewport: { width, height: 700 } }
    for (const empty of [true, false]) {
      const page = await openNew(empty, options)
      // What appears only if the branch has safe migrations on.
      if (empty) await page.locator('#deploy-request').evaluate((section) => section.removeAttribute('hidden'))
      else await page.locator('#first-run').waitFor()
      for (const summary of await page.locator('summary').all()) await summary.click()
      expect(await page.evaluate(tooWide)).toEqual([])
      expect(await page.evaluate(poorContrasts)).toEqual([])
      for (const name of empty ? ['Statements'] : ['Script and image', 'Badge']) {
        await page.getByRole('textbox', { name }).waitFor()
        await page.getByRole('button', { name: `Copy: ${name}` }).click()
        await page
          .getByText(/^(Copied\.|Selected\. Copy it with the keyboard\.)$/)
          .first()
          .waitFor()
      }
    }
  })
})

/** The focused element: its id if it is a field, otherwise its text. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { id, tagName, textContent } = document.activeElement!
    return tagName === 'INPUT' ? id : (textContent ?? '')
  })
}

async function tabTo(page: Page, wanted: string): Promise<void> {
  for (let i = 0; i < 60; i++) {
    if ((await focused(page)) === wanted) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${wanted}.`)
}

/** Elements beyond the right edge of a page that scrolls sideways. Runs in the page. */
function tooWide(): string[] {
  const { clientWidth, scrollWidth } = document.documentElement
  if (scrollWidth <= clientWidth) return []
  return [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth)
    .map((element) => element.outerHTML.slice(0, 60))
}

/** Texts with a contrast below 4.5 to 1, WCAG's minimum. Runs in the page. */
function poorContrasts(): string[] {
  const parse = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number)
  const over = (top: number[], below: number[]) => {
    const alpha = top[3] ?? 1
    return [0, 1, 2].map((i) => top[i]! * alpha + below[i]! * (1 - alpha))
  }
  const backgroundOf = (element: Element | null): number[] => {
    if (element === null) return [255, 255, 255]
    const color = parse(getComputedStyle(element).backgroundColor)
    return (color[3] ?? 1) === 1 ? color : over(color, backgroundOf(element.parentElement))
  }
  const luminance = (color: number[]) => {
    const [r = 0, g = 0, b = 0] = color.map((part) => {
      const c = part / 255
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const poor: string[] = []
  for (const element of document.querySelectorAll<HTMLElement>('body *')) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent!.trim() !== '')
    if (!text || !element.checkVisibility() || element.closest('.skip, noscript')) continue
    const background = backgroundOf(element)
    const foreground = over(parse(getComputedStyle(element).color), background)
    const [light = 0, dark = 0] = [luminance(background), luminance(foreground)].sort((a, b) => b - a)
    const contrast = (light + 0.05) / (dark + 0.05)
    if (contrast < 4.5) poor.push(`${element.tagName} ${element.textContent!.slice(0, 30)}: ${contrast.toFixed(2)}`)
  }
  return poor
}
