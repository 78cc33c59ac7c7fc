import type { BrowserContextOptions, Page } from 'playwright-core'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { chromiumOfFile } from './chromium.ts'
import { withinAnHour, zoneByDay } from './local-days.ts'
import { chartRows, pollHurried, sessionOfFile, settledNumbers, watchedPage } from './open-dashboard.ts'
import { changeText, sampleCounter } from './sample-counter.ts'

const browser = chromiumOfFile()
const counter = sampleCounter()
const session = sessionOfFile(browser, counter)
const zone = zoneByDay()
const today = () => Temporal.Now.plainDateISO(zone)

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const all = { locale: 'en-US', timezoneId: zone, viewport: { width: 1280, height: 800 }, storageState: session }
  const { page } = await watchedPage(browser, counter, { ...all, ...options })
  await page.goto(counter.url + path)
  await settledNumbers(page)
  return page
}

/** Where a unit of the chart is in the window. */
async function unitAt(page: Page, index: number, units: number) {
  const chart = page.locator('#history')
  await chart.scrollIntoViewIfNeeded()
  const { x, y, width } = (await chart.boundingBox())!
  const left = await page
    .locator('.chart .grid')
    .first()
    .evaluate((line: SVGPathElement) => line.getBBox().x)
  const place = (width - left) / units
  return {
    from: x + left + place * index,
    to: x + left + place * (index + 1),
    middle: x + left + place * (index + 0.5),
    top: y,
  }
}

const tip = (page: Page) => page.locator('.tip')
const lines = (page: Page) => page.locator('.tip div').allTextContents()
/** A date as pages write it: with its year only if that is not the present one. */
const dateText = (date: Temporal.PlainDate) => {
  const year = date.year === today().year ? undefined : 'numeric'
  return date.toLocaleString('en-US', { weekday: 'short', month: 'short', day: 'numeric', year })
}
const whole = (count: number) => count.toLocaleString('en-US')

/** The views of some hours, as the database has them. */
async function viewsOf(from: Temporal.ZonedDateTime, to: Temporal.ZonedDateTime): Promise<number> {
  const text = ({ epochMilliseconds }: Temporal.ZonedDateTime) => new Date(epochMilliseconds).toISOString().slice(0, 19)
  const { rows } = await openDatabase({ url: counter.databaseUrl, deadlineMs: 60_000 }).execute(
    `SELECT COALESCE(SUM(count), 0) AS views FROM type_history
     WHERE record_type = 1 AND period = 0 AND period_start >= ? AND period_start < ?`,
    [text(from), text(to)],
  )
  return Number(rows[0]!.views)
}

const viewsOn = (date: Temporal.PlainDate) =>
  viewsOf(date.toZonedDateTime(zone), date.add({ days: 1 }).toZonedDateTime(zone))

describe('under the pointer', () => {
  it('a day has a band behind its bar, and a tip beside it with its unit, both dates and the change', async () => {
    const page = await open('/')
    for (const index of [0, 3, 17, 28]) {
      const { from, to, middle, top } = await unitAt(page, index, 30)
      await page.mouse.move(middle, top + 100)
      const date = today().subtract({ days: 29 - index })
      const before = date.subtract({ weeks: 5 })
      const [now, then] = [await viewsOn(date), await viewsOn(before)]
      await expect
        .poll(() => lines(page))
        .toEqual([
          `${whole(now)} views · ${dateText(date)}`,
          `${whole(then)} on ${dateText(before)} ${changeText(now, then)}`,
        ])
      const [band, box] = [(await page.locator('.chart .band').boundingBox())!, (await tip(page).boundingBox())!]
      expect(Math.abs(band.x - from) + Math.abs(band.x + band.width - to)).toBeLessThan(1)
      expect(box.x >= to || box.x + box.width <= from).toBe(true)
      expect(box.y).toBeGreaterThanOrEqual(top)
      const paints = await page.locator('.chart svg > *').evaluateAll((parts) => parts.map((part) => part.classList[0]))
      expect(paints.indexOf('band')).toBeLessThan(paints.indexOf('bars'))
    }
    await page.mouse.move(0, 0)
    await tip(page).waitFor({ state: 'hidden' })
  })

  it('a day that is not over is compared with the same hours', async () => {
    const page = await open('/')
    const { middle, top } = await unitAt(page, 29, 30)
    await withinAnHour(async () => {
      await page.reload()
      await settledNumbers(page)
      await page.mouse.move(middle + 1, top + 100)
      await page.mouse.move(middle, top + 100)
      const now = Temporal.Now.zonedDateTimeISO(zone)
      const hour = now.round({ smallestUnit: 'hour', roundingMode: 'floor' })
      const before = today().subtract({ weeks: 5 })
      const [views, then] = await Promise.all([
        viewsOf(now.startOfDay(), hour),
        viewsOf(
          before.toZonedDateTime(zone),
          before.toZonedDateTime({ timeZone: zone, plainTime: hour.toPlainTime() }),
        ),
      ])
      await expect
        .poll(() => lines(page))
        .toEqual([
          `${whole(views)} views · ${dateText(today())}, so far`,
          `${whole(then)} on ${dateText(before)} up to the same hour ${changeText(views, then)}`,
        ])
    })
  })

  it('an hour that is not over is compared with nothing: its full hours are none', async () => {
    const page = await open('/?period=today')
    await page.locator('#history').focus()
    await page.keyboard.press('End')
    expect(await lines(page)).toEqual([expect.stringMatching(/, so far$/)])
  })

  it('a click opens a day by its hours, and back returns', async () => {
    const page = await open('/')
    const { middle, top } = await unitAt(page, 20, 30)
    await page.mouse.click(middle, top + 100)
    const day = today().subtract({ days: 9 })
    await expect.poll(() => new URL(page.url()).search).toBe(`?from=${day}&to=${day}`)
    await settledNumbers(page)
    const rows = await chartRows(page)
    expect(rows).toHaveLength(24)
    const sum = rows.reduce((sum, row) => sum + Number(row.split(' | ')[1]!.replaceAll(',', '')), 0)
    expect(sum).toBe(await viewsOn(day))
    // Hours open nothing.
    const hour = await unitAt(page, 12, 24)
    await page.mouse.click(hour.middle, hour.top + 100)
    expect(await lines(page)).toHaveLength(2)
    expect(new URL(page.url()).search).toBe(`?from=${day}&to=${day}`)
    await page.goBack()
    await expect.poll(async () => (await chartRows(page)).length).toBe(30)
  })
})

it('a tip stays after a tap, and a second tap opens the day', async () => {
  const page = await open('/', { hasTouch: true, viewport: { width: 360, height: 800 } })
  const { middle, top } = await unitAt(page, 10, 30)
  await page.touchscreen.tap(middle, top + 100)
  const date = today().subtract({ days: 19 })
  await expect
    .poll(() => lines(page).then(([line]) => line))
    .toBe(`${whole(await viewsOn(date))} views · ${dateText(date)}`)
  // What the browser does after a finger was lifted.
  await page.locator('#history').evaluate((chart) => {
    chart.dispatchEvent(new PointerEvent('pointerleave', { pointerType: 'touch' }))
  })
  expect(await tip(page).isVisible()).toBe(true)
  expect(new URL(page.url()).search).toBe('')
  const box = (await tip(page).boundingBox())!
  expect(box.x).toBeGreaterThanOrEqual(0)
  expect(box.x + box.width).toBeLessThanOrEqual(360)
  await page.touchscreen.tap((await unitAt(page, 20, 30)).middle, top + 100)
  await expect.poll(() => lines(page).then(([line]) => line)).toContain(dateText(today().subtract({ days: 9 })))
  expect(new URL(page.url()).search).toBe('')
  await page.touchscreen.tap((await unitAt(page, 20, 30)).middle, top + 100)
  await expect.poll(() => new URL(page.url()).search).toContain(`from=${today().subtract({ days: 9 })}`)
})

describe('with the keyboard', () => {
  it('the chart is one stop, and arrows, Home and End move the tip, which is read aloud', async () => {
    const page = await open('/')
    const chart = page.getByRole('slider', {
      name: /^Chart of [\d,]+ views by day, .+ \d{4}\. Arrow keys move, Enter opens a day\.$/,
    })
    const stops = await page
      .locator('#history, #history *')
      .evaluateAll((all) => all.filter((part) => (part as HTMLElement).tabIndex >= 0).length)
    expect(stops).toBe(1)
    await chart.focus()
    for (const [key, back] of [
      ['ArrowLeft', 0],
      ['ArrowLeft', 1],
      ['ArrowLeft', 2],
      ['ArrowRight', 1],
      ['Home', 29],
      ['ArrowLeft', 29],
      ['End', 0],
      ['ArrowRight', 0],
    ] as const) {
      await page.keyboard.press(key)
      const [first, second] = await lines(page)
      expect(first).toContain(dateText(today().subtract({ days: back })))
      const text = `${first}, ${second}`.replace('▲', 'up').replace('▼', 'down')
      expect(await chart.getAttribute('aria-valuetext')).toBe(text)
      expect(await chart.getAttribute('aria-valuenow')).toBe(String(29 - back))
    }
    await page.keyboard.press('Escape')
    expect(await tip(page).isVisible()).toBe(false)
    expect(await chart.evaluate((element) => element === document.activeElement)).toBe(true)
  })

  it('Enter opens a day by its hours, and a month by its days', async () => {
    const page = await open('/')
    await page.locator('#history').focus()
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    const yesterday = today().subtract({ days: 1 })
    await expect.poll(() => new URL(page.url()).search).toBe(`?from=${yesterday}&to=${yesterday}`)

    await page.goto(`${counter.url}/?period=12m`)
    await settledNumbers(page)
    await page.locator('#history').focus()
    for (const key of ['End', 'ArrowLeft']) await page.keyboard.press(key)
    const month = today().with({ day: 1 }).subtract({ months: 1 })
    const name = month.toLocaleString(
      'en-US',
      month.year === today().year ? { month: 'long' } : { month: 'long', year: 'numeric' },
    )
    expect((await lines(page))[0]).toMatch(new RegExp(`^[\\d,]+ views · ${name}$`))
    await page.keyboard.press('Enter')
    const last = month.with({ day: month.daysInMonth })
    await expect.poll(() => new URL(page.url()).search).toBe(`?from=${month}&to=${last}`)
    await expect.poll(async () => (await chartRows(page)).length).toBe(month.daysInMonth)
  })

  it('the tip stays where it is when new counts arrive', async () => {
    const page = await open('/')
    await page.locator('#history').focus()
    for (const key of ['End', 'ArrowLeft']) await page.keyboard.press(key)
    const [yesterday] = await lines(page)
    await page.keyboard.press('End')
    const [before] = await lines(page)
    const views = Number(/[\d,]+/.exec(before!)![0].replaceAll(',', ''))
    await counter.add('page_view', '/', 7)
    await counter.rollUp(new Date())
    await pollHurried(page, () => lines(page).then(([line]) => line)).toContain(`${whole(views + 7)} views`)
    await page.keyboard.press('ArrowLeft')
    expect((await lines(page))[0]).toBe(yesterday)
  })
})
