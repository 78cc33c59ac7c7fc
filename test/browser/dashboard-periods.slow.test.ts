import type { BrowserContext, Page } from 'playwright-core'
import { Temporal } from 'temporal-polyfill'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SAMPLE_COUNTERS } from '../../scripts/sample-site.ts'
import { chromiumOfFile } from './chromium.ts'
import { midnightIn, withinAnHour, zoneByDay } from './local-days.ts'
import {
  chartRows,
  counterUrl,
  sessionOfFile,
  settledNumbers,
  shows,
  type Violations,
  watchedPage,
} from './open-dashboard.ts'
import { changeText, rankingOf, sampleCounter, sumOf } from './sample-counter.ts'

const browser = chromiumOfFile()
const counter = sampleCounter({
  COUNTERS: { ...SAMPLE_COUNTERS, visitor: { ...SAMPLE_COUNTERS.visitor, prefixes: ['/docs/'] } },
})
const session = sessionOfFile(browser, counter)
const zone = zoneByDay()
const now = () => Temporal.Now.zonedDateTimeISO(zone)
const midnight = midnightIn(zone)
const year = () => ({ firstMonth: now().toPlainDate().with({ day: 1 }).subtract({ months: 11 }).toString() })
const whole = (count: number) => count.toLocaleString('en-GB')
let context: BrowserContext
let page: Page
let violations: Violations
beforeEach(async () => {
  const options = { timezoneId: zone, storageState: session }
  ;({ context, violations, page } = await watchedPage(browser, counter, options))
})
afterEach(async () => {
  await context.close()
  expect(violations).toEqual({ foreign: [], messages: [] })
})

const keys = () => page.locator('#top .whole').allTextContents()
const choose = (name: string) => page.getByRole('group', { name: 'Period' }).getByRole('button', { name }).click()
const showsViews = (views: number) => shows(page, '#history-sum', new RegExp(`^${whole(views)} views$`))
const firstOf = (ranking: { key: string }[]) => ranking.slice(0, 10).map(({ key }) => key)

describe('the page of a type', () => {
  it('follows one period, which stands in the address: reload, back and a shared link show the same', async () => {
    const [today, month, quarter] = await Promise.all(
      [0, 29, 89].map((daysBack) => rankingOf(counter, 'page_view', { from: midnight(daysBack) })),
    )
    await page.goto(counter.url)
    await showsViews(sumOf(month!))
    expect(await keys()).toEqual(firstOf(month!))
    await choose('Today')
    await showsViews(sumOf(today!))
    await settledNumbers(page)
    expect(await keys()).toEqual(firstOf(today!))
    expect(new URL(page.url()).search).toBe('?period=today')
    await choose('Other days')
    await choose('90 days')
    await showsViews(sumOf(quarter!))
    await page.getByLabel('Filter').fill('/docs')
    await page.getByLabel('Filter').press('Enter')
    const found = firstOf(quarter!.filter(({ key }) => key.startsWith('/docs')))
    await expect.poll(keys).toEqual(found)
    const shared = page.url()
    expect(new URL(shared).search).toBe('?period=90d&find=%2Fdocs')
    await page.goBack()
    await expect.poll(keys).toEqual(firstOf(quarter!))
    await page.goBack()
    await showsViews(sumOf(today!))
    await settledNumbers(page)
    expect(await page.getByRole('button', { name: 'Today' }).getAttribute('aria-pressed')).toBe('true')

    const other = await context.newPage()
    await other.goto(shared)
    await expect.poll(() => other.textContent('#history-sum')).toBe(`${whole(sumOf(quarter!))} views`)
    await expect.poll(() => other.locator('#top .whole').allTextContents()).toEqual(found)
    expect(await other.inputValue('#find')).toBe('/docs')
    // Other types keep the period.
    expect(await page.getByRole('link', { name: 'Downloads', exact: true }).getAttribute('href')).toContain(
      'period=today',
    )
  })

  it('shows any days, and says what is wrong with others', async () => {
    const date = (daysBack: number) => now().toPlainDate().subtract({ days: daysBack }).toString()
    const views = sumOf(await rankingOf(counter, 'page_view', { from: midnight(11), to: midnight(8) }))
    await page.goto(counter.url)
    await choose('Other days')
    await page.getByLabel('From').fill(date(11))
    await page.getByLabel('to', { exact: true }).fill(date(9))
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await showsViews(views)
    await expect.poll(async () => (await chartRows(page)).length).toBe(3)
    await page.getByLabel('From').fill(date(1_500))
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await shows(page, '#history-message', /at most 999 days/)
    // What it still shows is not what was asked for.
    expect(await page.locator('.chart.stale').count()).toBe(1)
    violations.messages = violations.messages.filter((line) => !line.includes('422'))
  })

  it('dims what it shows until the numbers fit the pressed button', async () => {
    await page.goto(counter.url)
    await settledNumbers(page)
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/numbers?*', async (route) => {
      await held
      await route.continue()
    })
    await choose('12 months')
    expect(await page.locator('.chart.stale').count()).toBe(1)
    expect(await page.locator('#history').getAttribute('aria-busy')).toBe('true')
    answer()
    await settledNumbers(page)
    expect((await chartRows(page)).length).toBe(12)
    const views = whole(sumOf(await rankingOf(counter, 'page_view', year())))
    expect(await page.getByRole('slider', { name: new RegExp(`^Chart of ${views} views by month`) }).count()).toBe(1)
  })

  it('has the other days below their tile, and nothing is cut off on a phone', async () => {
    await page.goto(counter.url)
    await choose('Other days')
    await choose('Yesterday')
    await settledNumbers(page)
    expect(new URL(page.url()).searchParams.get('period')).toBe('yesterday')
    await page.reload()
    const pressed = page.locator('#period [aria-pressed=true]')
    await expect.poll(() => pressed.allTextContents()).toEqual(['Other days\u00a0▾', 'Yesterday'])
    expect(await page.getByRole('button', { name: 'Yesterday' }).isVisible()).toBe(true)
    await page.setViewportSize({ width: 320, height: 700 })
    // The chart is drawn again.
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  })
})

describe('a tile', () => {
  const tiles = () => page.locator('.tile')
  const texts = () =>
    tiles().evaluateAll((all) => all.map(({ textContent }) => textContent!.replaceAll(/\s+/g, ' ').trim()))

  it('has the figure of its period, the change of the same hours in a color with a sign, and the visitors', async () => {
    /** The text of a tile, and whether views became more or fewer. */
    const tile = async (
      label: string,
      of: Parameters<typeof rankingOf>[2],
      days?: [length: number, earlier: number],
    ) => {
      const [views, visitors] = await Promise.all(
        (['page_view', 'visitor'] as const).map(async (type) => whole(sumOf(await rankingOf(counter, type, of)))),
      )
      const [text, more] = [`${label} ${views}`, `${visitors} visitors`]
      if (days === undefined) return `${text} ${more}`
      const [length, earlier] = days
      const hour = now().round({ smallestUnit: 'hour', roundingMode: 'floor' })
      const [compared, before] = await Promise.all(
        [0, earlier].map(async (days) => {
          const to = new Date(hour.subtract({ days }).epochMilliseconds)
          return sumOf(await rankingOf(counter, 'page_view', { from: midnight(length - 1 + days), to }))
        }),
      )
      return `${text} ${changeText(compared!, before!)} ${more}`
    }
    await withinAnHour(async () => {
      await page.goto(counter.url)
      await settledNumbers(page)
      expect(await texts()).toEqual([
        await tile('Today', { from: midnight(0) }, [1, 1]),
        await tile('7 days', { from: midnight(6) }, [7, 7]),
        await tile('30 days', { from: midnight(29) }, [30, 35]),
        // Counting had not begun when the 12 months before did.
        await tile('12 months', year()),
        await tile('All time', 'totals'),
        'Other days ▾',
      ])
    })
    const colors = await page
      .locator('.growth.up, .growth.down')
      .evaluateAll((all) => all.map((change) => [change.textContent!.slice(0, 1), getComputedStyle(change).color]))
    const colorOf = (sign: string) => colors.find(([first]) => first === sign)?.[1]
    for (const [sign, color] of colors) expect(color).toBe(colorOf(sign!))
    expect(colorOf('▲')).not.toBe(colorOf('▼'))
    // The other type does not list this prefix.
    await page.getByRole('button', { name: '/blog/' }).click()
    const blog = (await rankingOf(counter, 'page_view', 'totals')).filter(({ key }) => key.startsWith('/blog/'))
    await expect.poll(texts).toContain(`All time ${whole(sumOf(blog))}`)
  })

  it('is marked while its period is shown', async () => {
    await page.goto(counter.url)
    const looks = () =>
      page.locator('.tile[value]').evaluateAll((all) => {
        const of = all.map((tile) => {
          const { backgroundColor, borderColor, boxShadow, outlineColor } = getComputedStyle(tile)
          return [backgroundColor, borderColor, boxShadow, outlineColor].join()
        })
        // The look that only one of them has.
        return of.flatMap((look, index) => (of.indexOf(look) === of.lastIndexOf(look) ? [index] : []))
      })
    for (const [index, name] of ['Today', '7 days', '30 days', '12 months', 'All time'].entries()) {
      await choose(name)
      await settledNumbers(page)
      await page.mouse.move(0, 0)
      await page.evaluate(() => (document.activeElement as HTMLElement).blur())
      await expect.poll(looks, { message: name }).toEqual([index])
    }
  })

  it('says one view in the singular, as do the chart and what is read aloud', async () => {
    const once = (await rankingOf(counter, 'page_view', { from: midnight(29) })).find(({ count }) => count === 1)!
    await page.goto(`${counterUrl(counter, 'page_view', once.key)}&period=7d`)
    await settledNumbers(page)
    await choose('30 days')
    await shows(page, '#history-sum', /^1 view$/)
    await shows(page, '#announcement', /: 1 view$/)
    expect(await page.getByRole('slider', { name: /^Chart of 1 view by day/ }).count()).toBe(1)
    await shows(page, '#also-30d', /^1 visitor$/)
  })
})
