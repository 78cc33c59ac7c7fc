import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { consoleOf, launchChromium } from './chromium.ts'
import { type Counter, startCounter } from './shipped-worker.ts'

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

/** Opens the page at /docs, and records its requests and its messages on the console. */
async function docs(options: { width?: number; colorScheme?: 'light' | 'dark'; javaScriptEnabled?: boolean } = {}) {
  const { width = 1200, ...rest } = options
  const context = await browser.newContext({ viewport: { width, height: 800 }, ...rest })
  onTestFinished(() => context.close())
  const said = consoleOf(context)
  const asked: string[] = []
  context.on('request', (request) => asked.push(request.url()))
  const page = await context.newPage()
  await page.goto(`${counter.url}/docs`)
  return { page, said, asked }
}

/** Texts of the page with too little contrast (WCAG 2.2, 1.4.3). */
function faint(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true
    const channels = (color: string) => color.match(/[\d.]+/g)!.map(Number)
    const luminance = (color: string) => {
      const [red, green, blue] = channels(color)
        .slice(0, 3)
        .map((value) => (value <= 10.31 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4))
      return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
    }
    const behind = (element: Element | null): string => {
      if (element === null) return 'rgb(255, 255, 255)'
      const { backgroundColor } = getComputedStyle(element)
      return channels(backgroundColor)[3] === 0 ? behind(element.parentElement) : backgroundColor
    }
    return [...document.querySelectorAll('body *')]
      .filter((element) =>
        [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent!.trim() !== ''),
      )
      .filter((element) => {
        const [dark, light] = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort(
          (a, b) => a - b,
        )
        return (light! + 0.05) / (dark! + 0.05) < 4.5
      })
      .map((element) => element.textContent!.trim().slice(0, 40))
  })
}

describe('the page at /docs', () => {
  it('loads nothing else, runs no scripts, and its policy allows its style', async () => {
    const { page, said, asked } = await docs()
    await page.waitForLoadState('networkidle')
    expect(asked.filter((url) => !url.startsWith('data:'))).toEqual([`${counter.url}/docs`])
    expect(said).toEqual([])
    expect(await page.evaluate(() => getComputedStyle(document.querySelector('.operation')!).borderRadius)).toBe('8px')
  })

  it.each(['light', 'dark'] as const)('has enough contrast in %s mode', async (colorScheme) => {
    const { page } = await docs({ colorScheme })
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(background).toBe(colorScheme === 'light' ? 'rgb(245, 246, 248)' : 'rgb(18, 22, 28)')
    expect(await faint(page)).toEqual([])
  })

  it.each([320, 390, 768, 1200])('fits into %i pixels with all its details open', async (width) => {
    const { page } = await docs({ width })
    const needed = await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true
      return document.documentElement.scrollWidth
    })
    expect(needed).toBe(width)
  })

  it('works with the keyboard and without scripts', async () => {
    const { page } = await docs({ javaScriptEnabled: false })
    const focused = page.locator(':focus')
    await page.keyboard.press('Tab')
    expect(await focused.textContent()).toBe('Skip to content')
    expect(await focused.isVisible()).toBe(true)
    await page.keyboard.press('Enter')
    expect(page.url()).toBe(`${counter.url}/docs#main`)

    const operation = page.locator('#increment')
    const example = operation.locator('details', { hasText: 'with an idempotency key' })
    expect(await example.locator('.curl').isVisible()).toBe(false)
    await example.locator('summary').focus()
    await page.keyboard.press('Enter')
    expect(await example.locator('.curl').isVisible()).toBe(true)
    expect(await example.locator('.curl').textContent()).toContain(
      `${counter.url}/v1/counters/page_view/%2Fblog%2Fhello`,
    )
  })
})
