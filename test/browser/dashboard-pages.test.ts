import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { counterUrl, type Misdeeds, signedIn, watch } from './dashboard.ts'
import { type Counter, launchChromium, startCounter, TOKEN } from './visitor.ts'

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

/** A signed-in browser, whose pages must do nothing wrong until the test is over. */
async function open(
  options: BrowserContextOptions = {},
): Promise<{ page: Page; context: BrowserContext; misdeeds: Misdeeds }> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  const misdeeds = await watch(context, counter)
  onTestFinished(() => context.close())
  return { page: await signedIn(context, counter), context, misdeeds }
}

const RIGHT_TO_LEFT = '\u202Egnp.efas'
const HOSTILE: [name: string, key: string][] = [
  ['a script', '<script>document.title="owned"</script>'],
  ['an image', '"><img src=x onerror="document.title=\'owned\'">'],
  ['quotes', `'";--\`\${1}{{2}}`],
  ['the end of what it stands in', '</bdi></h1></textarea></dialog></main><h1>owned</h1>'],
  ['a style', '<style>*{display:none}</style>'],
  ['entities', '&lt;b&gt;&amp;&#x41;&nbsp'],
  ['a script’s address', 'javascript:document.title="owned"'],
  ['right to left', 'שלום/مرحبا'],
  ['an override of direction', RIGHT_TO_LEFT],
  ['emoji', '👩‍👩‍👧‍👦🏳️‍🌈 e\u0301 👍🏽'],
  ['no letters at all', ' '],
  ['what a form has', 'a&key=b=c+d#e?f%2Fg'],
  ['control characters', 'with\r\nb\tc\u0007\u007f'],
  ['512 bytes without a break', 'x'.repeat(512)],
  ['512 bytes of two-byte letters', 'é'.repeat(256)],
  ['a byte order mark', '\uFEFFa'],
  ['a path out of here', '../../v1/status'],
]

describe('a key that is', () => {
  it.each(HOSTILE)('%s is text everywhere, and nothing else', async (_, key) => {
    await counter.add('page_view', key, 7)
    await counter.rollUp(new Date())
    onTestFinished(() => counter.clear())
    const { page, misdeeds } = await open()
    await expect.poll(() => page.locator('#top a').allTextContents()).toEqual([key])
    // Fields have no line breaks in them.
    await page.getByLabel('Key, or how it begins').fill(key.replace(/[\r\n].*/s, ''))
    await page.getByRole('button', { name: 'Find' }).click()
    await expect.poll(() => page.locator('#found a').allTextContents()).toEqual([key])

    await page.locator('#top a').click()
    await page.waitForSelector('main[data-page=counter]')
    await expect.poll(() => page.textContent('#count')).toBe('7')
    expect(new URL(page.url()).searchParams.get('key')).toBe(key)
    // HTML knows one kind of line break.
    const shown = key.replaceAll('\r\n', '\n')
    expect(await page.textContent('h1')).toBe(shown)
    expect(await page.locator('h1').count()).toBe(1)
    await page.getByRole('button', { name: 'Reset to zero …' }).click()
    expect(await page.getByRole('dialog').locator('.key').textContent()).toBe(shown)
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
    // The very counter that was meant.
    await expect.poll(() => page.textContent('#count')).toBe('0')
    expect(Object.values(await counter.counts())).toEqual([0])

    expect(await page.title()).not.toBe('owned')
    expect(misdeeds).toEqual({ foreign: [], said: [] })
  })

  it('no key at all is said to be none', async () => {
    const { page, misdeeds } = await open()
    for (const key of ['', 'x'.repeat(513)]) {
      await page.goto(counterUrl(counter, 'page_view', key))
      await expect.poll(() => page.textContent('#count-message')).toMatch(/^key\.0 must/)
    }
    expect(misdeeds.foreign).toEqual([])
  })
})

describe('by keyboard alone', () => {
  it('one signs in, searches, opens a counter, sets and resets it', async () => {
    await counter.add('page_view', '/keys/one', 3)
    await counter.add('page_view', '/keys/two', 4)
    onTestFinished(() => counter.clear())
    const context = await browser.newContext({ locale: 'en-GB' })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(counter.url)
    // The field gets the focus by itself, with the first frame, which may be drawn after the page has loaded.
    await page.waitForSelector('input:focus')
    await page.keyboard.type(TOKEN)
    await page.keyboard.press('Enter')
    await page.waitForSelector('main[data-page=overview]')
    await page.locator('#found a').nth(1).waitFor()

    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to the content')
    await tabTo(page, 'prefix')
    await page.keyboard.type('/keys/t')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('#found a').allTextContents()).toEqual(['/keys/two'])
    await tabTo(page, '/keys/two')
    await page.keyboard.press('Enter')
    await page.waitForSelector('main[data-page=counter]')

    await tabTo(page, 'new-count')
    await page.keyboard.type('99')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    // What is under the dialog cannot be reached, and its first button changes nothing.
    expect(await focused(page)).toBe('Cancel')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Set')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.textContent('#count')).toBe('99')
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

  it('everything that has the focus shows it', async () => {
    await counter.add('page_view', '/focus', 3)
    await counter.rollUp(new Date())
    onTestFinished(() => counter.clear())
    const { page } = await open()
    for (const url of [counter.url, counterUrl(counter, 'page_view', '/focus')]) {
      await page.goto(url)
      await page.waitForSelector('.chart canvas')
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
  it.each([320, 360, 768, 1280])('%i pixels wide, nothing has to be scrolled sideways', async (width) => {
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
      await page.waitForSelector('.chart canvas')
      await page.getByText('The numbers as a table').click()
      await expect.poll(() => page.textContent('#pending')).toMatch(/^\d/)
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

  it.each(['light', 'dark'] as const)('%s, all text can be read', async (colorScheme) => {
    await counter.add('page_view', '/read', 3)
    await counter.rollUp(new Date())
    onTestFinished(() => counter.clear())
    const { page } = await open({ colorScheme })
    const worst: string[] = []
    for (const url of [counter.url, counterUrl(counter, 'page_view', '/read')]) {
      await page.goto(url)
      await expect.poll(() => page.textContent('#pending')).toBe('0')
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

/** What has the focus: its id if it is a field, else its text. */
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
  throw new Error(`${wanted} cannot be reached with Tab.`)
}

/** What reaches beyond the right edge, unless it can be scrolled by itself. Runs in the page. */
function tooWide(): string[] {
  const { clientWidth, scrollWidth } = document.documentElement
  if (scrollWidth <= clientWidth) return []
  return [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth)
    .map((element) => element.outerHTML.slice(0, 60))
}

/** Texts with less contrast than 4.5 to 1, which WCAG asks for. Runs in the page. */
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
