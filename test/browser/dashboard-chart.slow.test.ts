import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { charted, pollHurried, sessionOfFile, settledNumbers, watchedPage } from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'

const browser = chromiumOfFile()
const counter = sampleCounter()
const session = sessionOfFile(browser, counter)

const PAGE = '/?type=page_view'

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const all = { timezoneId: 'Europe/Berlin', viewport: { width: 1280, height: 800 }, storageState: session }
  const { page } = await watchedPage(browser, counter, { ...all, ...options })
  await page.goto(counter.url + path)
  await charted(page)
  await expect.poll(() => page.textContent('#as-of')).toContain('Europe/Berlin')
  await settledNumbers(page)
  return page
}

/** The width of the labels of its values. */
const LABELS = 48

/** Where a unit of the chart is in the window. */
async function unitAt(page: Page, index: number) {
  const chart = page.locator('#chart')
  await chart.scrollIntoViewIfNeeded()
  const { x, y, width } = (await chart.boundingBox())!
  const place = (width - LABELS) / Number(await chart.getAttribute('data-units'))
  const from = x + LABELS + place * index
  return { from, to: from + place, middle: from + place / 2, y: y + 50 }
}

const tip = (page: Page) => page.locator('.tip')
const lines = (page: Page) => page.locator('.tip div').allTextContents()
/** What the table says of a unit, as its tip does. */
async function rowText(page: Page, index: number): Promise<string[]> {
  const cells = await page.locator('#table tbody tr').nth(index).locator('th, td').allTextContents()
  const [time, views, visitors, before, change] = cells as [string, string, string, string, string]
  return [`${views} · ${visitors} · ${time}`, `${before} ${change}`]
}

describe('The tip of the chart', () => {
  it('is beside the unit under the pointer, with a band behind its bar, and says what the table does', async () => {
    const page = await open(PAGE)
    for (const index of [0, 3, 17, 28]) {
      const { from, to, middle, y } = await unitAt(page, index)
      await page.mouse.move(middle, y)
      await expect.poll(() => lines(page)).toEqual(await rowText(page, index))
      const [band, box] = [(await page.locator('.band').boundingBox())!, (await tip(page).boundingBox())!]
      expect(Math.abs(band.x - from) + Math.abs(band.x + band.width - to)).toBeLessThan(1)
      expect(box.x >= to || box.x + box.width <= from).toBe(true)
    }
    await page.mouse.move(0, 0)
    await expect.poll(() => tip(page).count()).toBe(0)
  })

  it('has a line for each part of a chart by key, in the order of the stack', async () => {
    const page = await open('/?type=page_view&show=keys')
    const names = await page.locator('.legend li').allTextContents()
    const { middle, y } = await unitAt(page, 17)
    await page.mouse.move(middle, y)
    const row = page.locator('#table tbody tr').nth(17)
    await expect
      .poll(() => lines(page))
      .toEqual([
        expect.stringMatching(/ views · [\d,]+ visitors · /),
        ...(await row.locator('.part-of').allTextContents()),
        expect.stringContaining(' on '),
      ])
    const said = (await lines(page)).slice(1, -1)
    expect(said.map((line) => line.replace(/^[\d,]+ /, ''))).toEqual(names)
  })

  it('moves with the arrow keys, is read as the value of a slider, and Enter opens the day', async () => {
    const page = await open(`${PAGE}&period=7d`)
    const chart = page.locator('#chart')
    await chart.focus()
    await page.keyboard.press('Home')
    expect(await lines(page)).toEqual(await rowText(page, 0))
    await page.keyboard.press('ArrowRight')
    expect(await lines(page)).toEqual(await rowText(page, 1))
    const said = (await rowText(page, 1)).join(', ').replace('▲', 'up').replace('▼', 'down')
    expect([await chart.getAttribute('aria-valuenow'), await chart.getAttribute('aria-valuetext')]).toEqual(['1', said])
    const day = await page.locator('#table tbody th').nth(1).textContent()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.textContent('#chart-days')).toContain(day!.replace(/^\w+ /, ''))
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('chart')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Escape')
    expect(await tip(page).count()).toBe(0)
  })

  it('stays at its unit when new numbers come', async () => {
    const page = await open(`${PAGE}&period=7d`)
    await page.locator('#chart').focus()
    await page.keyboard.press('End')
    const [before] = await lines(page)
    await counter.add('page_view', '/', 1_000_000)
    await pollHurried(page, async () => (await lines(page))[0]).not.toBe(before)
    expect(await lines(page)).toEqual(await rowText(page, 6))
  })

  it('comes with the first tap, and a second one opens the day', async () => {
    const page = await open(PAGE, { hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } })
    const { middle, y } = await unitAt(page, 10)
    await page.touchscreen.tap(middle, y)
    expect(await lines(page)).toEqual(await rowText(page, 10))
    expect(page.url()).toBe(counter.url + PAGE)
    await page.touchscreen.tap(middle, y)
    await page.waitForURL(/from=.*to=/)
  })
})
