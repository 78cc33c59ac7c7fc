import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { audit, auditedContext } from './audit.ts'
import { type Chromium, chromiumOfFile, launchChromium } from './chromium.ts'
import { charted, counterUrl, openAll, sessionOfFile } from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'

const browser = chromiumOfFile()
const counter = sampleCounter()
const session = sessionOfFile(browser, counter)
const urls = () => [counter.url, counterUrl(counter, 'page_view', '/pricing'), `${counter.url}/stats/page_view`]

/** The sizes of all text of the pages, in pixels. */
async function sizesOfText(of: Pick<Chromium, 'newContext'>): Promise<number[]> {
  const page = await (await auditedContext(of as Chromium, session)).newPage()
  const sizes = new Set<number>()
  for (const url of urls()) {
    await page.goto(url)
    await charted(page)
    await openAll(page)
    const found = await page.evaluate(() =>
      [...document.querySelectorAll('body *')]
        .filter(
          (part) =>
            part.checkVisibility() && [...part.childNodes].some((node) => node instanceof Text && /\S/.test(node.data)),
        )
        .map((part) => Number.parseFloat(getComputedStyle(part).fontSize)),
    )
    for (const size of found) sizes.add(size)
    expect(await page.evaluate(() => document.documentElement.scrollWidth), url).toBe(1280)
  }
  return [...sizes].sort((a, b) => a - b)
}

it('Text has three sizes, which follow the size that the browser is set to', async () => {
  const sizes = await sizesOfText(browser)
  expect(sizes).toHaveLength(3)
  const large = await launchChromium({ args: ['--blink-settings=defaultFontSize=32'] })
  onTestFinished(() => large.close())
  expect(await sizesOfText(large)).toEqual(sizes.map((size) => 2 * size))
})

it('In forced colors the bars, the period before and the chosen tile stand out, and nothing is wrong', async () => {
  const page = await (await auditedContext(browser, session)).newPage()
  await page.emulateMedia({ forcedColors: 'active' })
  for (const url of urls()) {
    await page.goto(url)
    await charted(page)
    expect(await page.evaluate(() => matchMedia('(forced-colors: active)').matches)).toBe(true)
    const { ground, bars, before } = await colors(page)
    expect(bars, url).not.toBe(ground)
    expect(before, url).not.toBe(ground)
    const outlines = await page
      .locator('.tile[value]')
      .evaluateAll((tiles) => tiles.map((tile) => [tile.ariaPressed, getComputedStyle(tile).outlineStyle].join(' ')))
    expect(
      outlines.filter((outline) => outline.startsWith('true')),
      url,
    ).toEqual(['true solid'])
    expect(
      outlines.filter((outline) => outline === 'false solid'),
      url,
    ).toEqual([])
    expect(await audit(page), url).toEqual([])
  }
})

/** The colors of the chart. */
const colors = (page: Page) =>
  page.evaluate(() => {
    const look = (name: string) => getComputedStyle(document.querySelector(name)!)
    return {
      ground: look('.card').backgroundColor,
      bars: look('.chart .bars').fill,
      before: look('.chart .previous').stroke,
    }
  })
