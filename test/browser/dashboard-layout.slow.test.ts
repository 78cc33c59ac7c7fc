import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { audit, auditedContext } from './audit.ts'
import { charted, counterUrl, openAll, settledNumbers, signedInOfFile, typeUrl } from './open-dashboard.ts'
import { sampleCounter } from './shipped-worker.ts'

const counter = sampleCounter()
const { browser, session } = signedInOfFile(counter)

/** What is wrong with the layout of a page that is touched, at its present width. Runs in the page. */
function wrongLayout(): string[] {
  const boxOf = (part: Element) => part.getBoundingClientRect()
  const all = (selector: string) => [...document.querySelectorAll(selector)].filter((part) => part.checkVisibility())
  const rows = [...Map.groupBy(all('.tile'), (tile) => Math.round(boxOf(tile).top)).values()]
  const isLow = (part: Element) => boxOf(part).height < 44
  const hasText = (part: Element) => [...part.childNodes].some((node) => node instanceof Text && /\S/.test(node.data))
  const isCut = (part: Element) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0
  return [
    ...rows
      .filter((row) => Math.abs(boxOf(row.at(-1)!).right - boxOf(document.querySelector('.tiles')!).right) > 2)
      .map(() => 'a row of tiles is not filled'),
    ...['span', 'b', 'small'].flatMap((part) =>
      rows
        .map((row) =>
          row.flatMap((tile) => [...tile.querySelectorAll(part)]).map((each) => Math.round(boxOf(each).top)),
        )
        .filter((tops) => new Set(tops).size > 1)
        .map(() => `${part} at different heights`),
    ),
    ...all('header a, button, .choice a, .tile, .pages a, .panel > a, summary, #find, tr:has(.whole), .type a, #menu a')
      .filter(isLow)
      .map(({ textContent }) => `too low: ${textContent}`),
    ...all('.tile > *, .type *, .pair td')
      .filter(isCut)
      .map(({ textContent }) => `cut off: ${textContent}`),
    ...all('body *')
      .filter((part) => hasText(part) && ![12.5, 14, 22.4].includes(Number.parseFloat(getComputedStyle(part).fontSize)))
      .map(({ textContent }) => `another size of text: ${textContent}`),
    ...(document.documentElement.scrollWidth > innerWidth ? ['scrolls sideways'] : []),
  ]
}

it('At every width from 320 pixels the tiles fill their rows on the same lines, and a finger finds everything 44 pixels high', async () => {
  const context = await browser.newContext({ storageState: session, isMobile: true, hasTouch: true })
  const page = await context.newPage()
  const pricing = counterUrl(counter, 'page_view', '/pricing')
  for (const url of [counter.url, typeUrl(counter), pricing, `${counter.url}/stats/page_view`]) {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(url)
    if (url === typeUrl(counter)) {
      const rows = await page.locator('#top tr').evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect()))
      expect([rows[0]!.y <= 700, ...rows.map(({ height }) => height >= 44)]).toEqual(Array(1 + rows.length).fill(true))
      await page.locator('#chart-options').click()
    }
    for (let width = 320; width <= 1300; width += 4) {
      await page.setViewportSize({ width, height: 844 })
      expect(await page.evaluate(wrongLayout), `${url} at ${width} px`).toEqual([])
    }
    await openAll(page)
    expect(await page.evaluate(wrongLayout), `${url}, all of it open`).toEqual([])
  }
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
