import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { audit, auditedContext } from './audit.ts'
import { type Chromium, chromiumOfFile, launchChromium } from './chromium.ts'
import { charted, counterUrl, openAll, sessionOfFile, settledNumbers, typeUrl } from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'

const browser = chromiumOfFile()
const counter = sampleCounter()
const session = sessionOfFile(browser, counter)
const urls = () => [typeUrl(counter), counterUrl(counter, 'page_view', '/pricing'), `${counter.url}/stats/page_view`]

it('At every width from 320 pixels the tiles fill their rows, and their parts stand on the same lines', async () => {
  const page = await (await browser.newContext({ storageState: session })).newPage()
  for (const url of urls()) {
    await page.goto(url)
    await charted(page)
    for (let width = 320; width <= 1300; width += 4) {
      await page.setViewportSize({ width, height: 800 })
      const wrong = await page.evaluate(() => {
        const boxOf = (part: Element) => part.getBoundingClientRect()
        const tiles = [...document.querySelectorAll('.tile')]
        const rows = [...Map.groupBy(tiles, (tile) => Math.round(boxOf(tile).top)).values()]
        const outer = boxOf(document.querySelector('.tiles')!)
        return [
          ...rows
            .filter((row) => Math.abs(boxOf(row.at(-1)!).right - outer.right) > 2)
            .map(() => 'a row is not filled'),
          ...['span', 'b', 'small'].flatMap((part) =>
            rows.flatMap((row) => {
              const tops = row.flatMap((tile) => [...tile.querySelectorAll(part)]).map((each) => boxOf(each).top)
              return new Set(tops.map(Math.round)).size > 1 ? [`${part} at different heights`] : []
            }),
          ),
          ...tiles
            .flatMap((tile) => [...tile.children])
            .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0)
            .map(({ textContent }) => `cut off: ${textContent}`),
          ...(document.documentElement.scrollWidth > innerWidth ? ['scrolls sideways'] : []),
        ]
      })
      expect(wrong, `${url} at ${width} px`).toEqual([])
    }
  }
})

it('On a phone the first row of the list is within 700 pixels, and everything to touch is 44 pixels high', async () => {
  const options = { storageState: session, viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
  const page = await (await browser.newContext(options)).newPage()
  await page.goto(typeUrl(counter))
  await charted(page)
  const { y } = (await page.locator('#top tr').first().boundingBox())!
  expect(y).toBeLessThanOrEqual(700)
  // A finger needs 44 pixels.
  expect(await page.evaluate(() => matchMedia('(pointer: coarse)').matches)).toBe(true)
  await page.locator('#chart-options').click()
  const low = await page
    .locator('header a, button, .choice a, .tile, .pages a, .panel > a, summary, #find, #top tr')
    .evaluateAll((all) =>
      all
        .filter((part) => part.checkVisibility() && part.getBoundingClientRect().height < 44)
        .map((part) => `${part.textContent}: ${part.getBoundingClientRect().height}`),
    )
  expect(low).toEqual([])
})

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

it('In forced colors the bars and the chosen tile stand out, and nothing is wrong', async () => {
  const page: Page = await (await auditedContext(browser, session)).newPage()
  await page.emulateMedia({ forcedColors: 'active' })
  await page.goto(typeUrl(counter))
  await charted(page)
  await settledNumbers(page)
  const styles = await page.evaluate(() => {
    const of = (selector: string) => getComputedStyle(document.querySelector(selector)!)
    return [of('.bars').fill === of('.card').backgroundColor, of('.tile[aria-current]').outlineStyle]
  })
  expect(styles).toEqual([false, 'solid'])
  expect(await audit(page)).toEqual([])
})

it('The page to begin with fits from 320 pixels on, opens types and keys, and is high enough for a finger', async () => {
  const options = { storageState: session, viewport: { width: 320, height: 800 }, isMobile: true, hasTouch: true }
  const page = await (await browser.newContext(options)).newPage()
  await page.goto(counter.url)
  for (let width = 320; width <= 1300; width += 20) {
    await page.setViewportSize({ width, height: 800 })
    const wrong = await page.evaluate(() => [
      ...(document.documentElement.scrollWidth > innerWidth ? ['scrolls sideways'] : []),
      ...[...document.querySelectorAll('main a, main tbody tr')]
        .map((part) => (part.matches('.whole') ? part.closest('tr')! : part))
        .filter((part) => part.getBoundingClientRect().height < 44)
        .map(({ textContent }) => `too low: ${textContent}`),
      ...[...document.querySelectorAll('.type *, .pair td')]
        .filter((part) => part.scrollWidth > part.clientWidth + 1)
        .map(({ textContent }) => `cut off: ${textContent}`),
    ])
    expect(wrong, `at ${width} px`).toEqual([])
  }
  // The refresh swaps this page, but a link to a type has another header.
  await page.locator('.type a').nth(1).click()
  await page.waitForURL('**/?type=download')
  expect(await page.locator('header [aria-current]').textContent()).toBe('Downloads')
})
