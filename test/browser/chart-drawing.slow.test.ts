import { readFile } from 'node:fs/promises'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { zoneByDay } from './local-days.ts'
import { chartRows, counterUrl, sessionOfFile, settledNumbers, tableRows, watchedPage } from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'

const browser = chromiumOfFile()
const counter = sampleCounter()
const session = sessionOfFile(browser, counter)
const zone = zoneByDay()
const today = () => Temporal.Now.plainDateISO(zone)
const daysAgo = (days: number) => today().subtract({ days }).toString()

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const all = { locale: 'en-US', timezoneId: zone, viewport: { width: 1280, height: 800 }, storageState: session }
  const { page } = await watchedPage(browser, counter, { ...all, ...options })
  await go(page, counter.url + path)
  return page
}

async function go(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await settledNumbers(page)
}

/** The labels of the axis of time. */
const labels = (page: Page) => page.locator('.chart text[text-anchor=middle]').allTextContents()
const sumOf = (page: Page) => page.textContent('#history-sum')
const number = (text = '') => Number(text.replaceAll(/[^\d-]/g, ''))
const csvOf = async (page: Page) => {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save the chart as CSV' }).click(),
  ])
  return (await readFile(await download.path(), 'utf8')).replace('\ufeff', '').trim().split('\r\n')
}

describe('days', () => {
  /** The weekdays that are shaded, from 1, Monday, and how many days. */
  async function shaded(page: Page, days: number): Promise<[weekdays: number[], days: number]> {
    const [path, left, width] = await page
      .locator('.chart svg')
      .evaluate(
        (svg) =>
          [
            svg.querySelector('.weekends')!.getAttribute('d')!,
            svg.querySelector<SVGPathElement>('.grid')!.getBBox().x,
            svg.clientWidth,
          ] as const,
      )
    const xs = [...path.matchAll(/M([\d.]+)/g)].map(([, x]) => Math.round((Number(x) - left) / ((width - left) / days)))
    return [[...new Set(xs.map((index) => today().subtract({ days: days - 1 - index }).dayOfWeek))].sort(), xs.length]
  }

  it('are labelled on Mondays, and weekends are shaded, as the locale has them', async () => {
    const page = await open('/')
    const mondays = Array.from({ length: 30 }, (_, index) => today().subtract({ days: 29 - index }))
      .filter(({ dayOfWeek }) => dayOfWeek === 1)
      .map((date) => date.toLocaleString('en-US', { month: 'short', day: 'numeric' }))
    expect(mondays.join()).toContain((await labels(page)).join())
    expect((await labels(page)).length).toBeGreaterThanOrEqual(3)
    const [weekdays, days] = await shaded(page, 30)
    expect(weekdays).toEqual([6, 7])
    expect([8, 9, 10]).toContain(days)
    expect((await shaded(await open('/', { locale: 'fa-IR' }), 30))[0]).toEqual([5])
    // A browser that does not know the locale's weekends.
    const { context, page: old } = await watchedPage(browser, counter, {
      locale: 'fa-IR',
      timezoneId: zone,
      storageState: session,
    })
    await context.addInitScript(() => {
      for (const name of ['getWeekInfo', 'weekInfo']) Reflect.deleteProperty(Intl.Locale.prototype, name)
    })
    await go(old, counter.url)
    expect((await shaded(old, 30))[0]).toEqual([6, 7])
  })

  it('of two years are all drawn and found, with labels that fit', async () => {
    const page = await open(`/?from=${daysAgo(729)}&to=${daysAgo(0)}`)
    expect(await chartRows(page)).toHaveLength(730)
    expect((await page.locator('.chart .bars').getAttribute('d'))!.split('M')).toHaveLength(730)
    expect(await overlaps(page)).toEqual([])
    // This year's January may have no room.
    expect(await labels(page)).toContainEqual(expect.stringMatching(/^20\d\d$/))
    await page.locator('#history').focus()
    for (const key of ['Home', 'ArrowRight']) await page.keyboard.press(key)
    const second = today().subtract({ days: 728 })
    const text = second.toLocaleString('en-US', { weekday: 'short', month: 'short', day: 'numeric', year: 'numeric' })
    expect(await page.locator('.tip').textContent()).toBe(`0 views · ${text}`)
  })
})

describe('months', () => {
  it('are those of the Gregorian calendar in every locale, and January is the year', async () => {
    const first = today().with({ day: 1 })
    const months = Array.from({ length: 12 }, (_, index) => first.subtract({ months: 11 - index }))
    for (const locale of ['en-US', 'th-TH', 'fa-IR']) {
      const page = await open('/?period=12m', { locale })
      const format = (options: Intl.DateTimeFormatOptions, date: Temporal.PlainDate) =>
        new Intl.DateTimeFormat(locale, { calendar: 'gregory', timeZone: zone, ...options }).format(
          date.toZonedDateTime(zone).epochMilliseconds,
        )
      const expected = months.map((date) => format(date.month === 1 ? { year: 'numeric' } : { month: 'short' }, date))
      expect(await labels(page), locale).toEqual(expected)
      expect(
        (await chartRows(page)).map((row) => row.split(' | ')[0]),
        locale,
      ).toEqual(months.map((date) => format({ month: 'long', year: 'numeric' }, date)))
    }
  })
})

describe('the head of the chart', () => {
  it('chooses days, weeks and months, of the same counts, and the address says so', async () => {
    const page = await open('/')
    const sum = number((await sumOf(page))!)
    const units = page.getByLabel('Units of the chart')
    for (const [unit, least, most] of [
      ['week', 5, 6],
      ['month', 1, 3],
    ] as const) {
      await units.selectOption(unit)
      await expect.poll(() => new URL(page.url()).search).toBe(`?by=${unit}`)
      await settledNumbers(page)
      const rows = await chartRows(page)
      expect(rows.length).toBeGreaterThanOrEqual(least)
      expect(rows.length).toBeLessThanOrEqual(most)
      expect(rows.reduce((sum, row) => sum + number(row.split(' | ')[1]), 0)).toBe(sum)
    }
    await page.reload()
    await settledNumbers(page)
    expect(await units.inputValue()).toBe('month')
    await page.goBack()
    await expect.poll(() => units.inputValue()).toBe('week')
    // A week opens the days that its bar has.
    await page.locator('#history').focus()
    for (const key of ['End', 'ArrowLeft', 'Enter']) await page.keyboard.press(key)
    const monday = today().subtract({ days: today().dayOfWeek - 1, weeks: 1 })
    await expect.poll(() => new URL(page.url()).search).toBe(`?from=${monday}&to=${monday.add({ days: 6 })}`)
    await settledNumbers(page)
    expect(await units.inputValue()).toBe('day')
    await units.selectOption('day')
    expect(new URL(page.url()).search).not.toContain('by=')
    // Hours and all time have no other units.
    for (const period of ['today', 'all']) {
      await go(page, `${counter.url}/?period=${period}`)
      expect(await units.isVisible(), period).toBe(false)
    }
  })

  it('chooses views, visitors or both', async () => {
    const page = await open('/?period=12m')
    const views = number((await sumOf(page))!)
    const rows = (await chartRows(page)).map((row) => row.split(' | '))
    const visitors = rows.reduce((sum, row) => sum + number(row.at(-1)), 0)
    expect(visitors).toBeGreaterThan(views / 3)
    expect(visitors).toBeLessThan(views)
    const choice = page.getByLabel('Counts in the chart')
    const tipAtEnd = async () => {
      await page.locator('#history').focus()
      await page.keyboard.press('End')
      return page.locator('.tip div').first().textContent()
    }
    await choice.selectOption('Visitors')
    const text = (count: number) => count.toLocaleString('en-US')
    expect(await sumOf(page)).toBe(`${text(visitors)} visitors`)
    expect(await page.getAttribute('#history', 'aria-label')).toContain(`Chart of ${text(visitors)} visitors by month`)
    expect(await tipAtEnd()).toContain(`${rows.at(-1)!.at(-1)} visitors · `)
    await choice.selectOption('Both')
    expect(await sumOf(page)).toBe(`${text(views)} views, ${text(visitors)} visitors`)
    expect(await tipAtEnd()).toContain(`${rows.at(-1)![1]} views · ${rows.at(-1)!.at(-1)} visitors · `)
    expect((await page.locator('.chart .inside').getAttribute('d'))!.split('M')).toHaveLength(13)
    expect(await page.locator('#history-legend li').allTextContents()).toEqual(['views', 'visitors'])
    await page.reload()
    await settledNumbers(page)
    expect(new URL(page.url()).search).toBe('?period=12m&show=both')
    expect(await choice.inputValue()).toBe('both')
    // The dashboard of a type without visitors has no such choice.
    await go(page, `${counter.url}/?type=download&show=both`)
    expect(await choice.count()).toBe(0)
    expect(await sumOf(page)).toMatch(/^[\d,]+ downloads$/)
  })

  it('has the table and the file, in which hours to come are missing, as in the chart', async () => {
    const page = await open('/?period=today')
    expect(await page.locator('#history-numbers').isVisible()).toBe(false)
    const table = page.getByRole('button', { name: 'Table' })
    await table.click()
    expect(await table.getAttribute('aria-expanded')).toBe('true')
    const rows = await tableRows(page, '#history-rows')
    const hours = Temporal.Now.zonedDateTimeISO(zone).hour
    expect([hours, hours + 1, hours + 2]).toContain(rows.length)
    expect(rows.length).toBeLessThan(24)
    const lines = await csvOf(page)
    expect(lines[0]).toBe('"start","count","before","also"')
    expect(lines).toHaveLength(rows.length + 1)
    const bars = (
      await Promise.all(['.bars', '.now'].map((name) => page.locator(`.chart ${name}`).getAttribute('d')))
    ).join('')
    expect(bars.split('M')).toHaveLength(rows.length + 1)
    // The hours before are drawn to the end of the day.
    expect((await page.locator('.chart .previous').getAttribute('d'))!.split(/[ML]/)).toHaveLength(25)
    await page
      .locator('#history')
      .hover({ position: { x: (await page.locator('#history').boundingBox())!.width - 4, y: 60 } })
    expect(await page.locator('.tip').isVisible()).toBe(false)
    await table.click()
    expect(await page.locator('#history-numbers').isVisible()).toBe(false)
  })
})

it('the period before is dashed, and stands out from the page, in light and dark', async () => {
  const page = await open('/')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const [line, ground] = await page.evaluate(() =>
      [
        getComputedStyle(document.querySelector('.chart .previous')!).stroke,
        getComputedStyle(document.querySelector('.card')!).backgroundColor,
      ].map((color) =>
        color
          .match(/[\d.]+/g)!
          .slice(0, 3)
          .map(Number),
      ),
    )
    const luminance = (color: number[]) => {
      const [red, green, blue] = color.map((part) => (part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4))
      return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
    }
    const contrast = (a: number[], b: number[]) => {
      const [dark, light] = [luminance(a), luminance(b)].sort((a, b) => a - b)
      return (light! + 0.05) / (dark! + 0.05)
    }
    expect(contrast(line!, ground!), colorScheme).toBeGreaterThan(4.5)
    const { strokeDasharray } = await page.locator('.chart .previous').evaluate((path) => {
      const { strokeDasharray } = getComputedStyle(path)
      return { strokeDasharray }
    })
    expect(strokeDasharray).toBe('4px, 3px')
  }
})

it('printing shows the whole chart and the table, in light colors, and no controls', async () => {
  const page = await open('/', { colorScheme: 'dark' })
  expect(await chartRows(page)).toHaveLength(30)
  await page.locator('#history').focus()
  await page.keyboard.press('End')
  await page.emulateMedia({ media: 'print' })
  // At once, before the page could draw the chart again: a printer gives it no time.
  const seen = await page.evaluate(() => {
    document.body.style.width = '600px'
    const [card, svg] = ['section.card:has(#history)', '.chart svg'].map((name) =>
      document.querySelector(name)!.getBoundingClientRect(),
    )
    const { scrollHeight, clientHeight } = document.querySelector('#history-numbers')!
    return {
      fits: svg!.width > 500 && svg!.right <= card!.right && svg!.bottom <= card!.bottom,
      labels: [...document.querySelectorAll('.chart text')].every(
        (text) => text.getBoundingClientRect().right <= svg!.right + 1,
      ),
      table: scrollHeight === clientHeight,
      color: getComputedStyle(document.querySelector('.card')!).backgroundColor,
    }
  })
  expect(seen).toEqual({ fits: true, labels: true, table: true, color: 'rgb(255, 255, 255)' })
  for (const control of ['header', '.chart-menu', '.tip', 'form', 'footer']) {
    for (const part of await page.locator(control).all()) expect(await part.isVisible(), control).toBe(false)
  }
})

it('on a narrow page, labels do not touch, and the chart is as wide as its card', async () => {
  const page = await open('/', { viewport: { width: 320, height: 800 } })
  const monday = today().subtract({ days: today().dayOfWeek - 1 })
  for (const path of [
    '/',
    '/?period=today',
    '/?period=7d',
    // The label of the last day has no room.
    `/?from=${monday.subtract({ days: 6 })}&to=${monday}`,
    '/?period=12m',
    '/?period=90d',
    '/?period=90d&by=week',
    '/?period=all',
  ]) {
    await go(page, counter.url + path)
    expect(await overlaps(page), path).toEqual([])
    expect((await labels(page)).length, path).toBeGreaterThan(0)
    expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBe(320)
  }
})

/** The texts of the chart that touch each other or leave it. */
function overlaps(page: Page): Promise<string[]> {
  return page.locator('.chart svg').evaluate((svg) => {
    const { left, right } = svg.getBoundingClientRect()
    const texts = [...svg.querySelectorAll('text')].map((text) => ({
      text: text.textContent,
      box: text.getBoundingClientRect(),
    }))
    return texts.flatMap(({ text, box }, index) => {
      const touches = texts.slice(index + 1).some(({ box: other }) => {
        const beside = box.right < other.left || other.right < box.left
        return !beside && box.top < other.bottom && other.top < box.bottom
      })
      return touches || box.left < left - 1 || box.right > right + 4 ? [text] : []
    })
  })
}

it('a chart has sense with nothing, one point, negative counts and counts beyond 2^53', async () => {
  const entry = (key: string, count: number | string, days: number) => ({
    type: 'page_view',
    key,
    count,
    day: daysAgo(days),
  })
  await counter.api('POST', '/v1/imports', {
    counters: [
      entry('/less', -50, 2),
      entry('/less', 30, 3),
      entry('/most', '9007199254740993', 3),
      entry('/most', 5, 4),
    ],
  })
  await counter.add('page_view', '/once', 1)
  const page = await open('/')
  const show = async (key: string, more: string) => {
    await go(page, counterUrl(counter, 'page_view', key) + more)
    const drawing = await page.locator('.chart svg').evaluate((svg) => svg.outerHTML)
    expect(drawing, key).not.toMatch(/NaN|Infinity|undefined/)
    await page.locator('#history').focus()
  }
  await show('/never', '&period=7d')
  expect(await page.locator('.chart text[text-anchor=end]').allTextContents()).toEqual(['0', '1'])
  await page.keyboard.press('Home')
  expect(await page.locator('.tip').textContent()).toMatch(/^0 views · /)

  await show('/once', '&period=all')
  expect(await chartRows(page)).toHaveLength(1)
  await page.keyboard.press('Home')
  expect(await page.locator('.tip').textContent()).toMatch(/^1 view · .+, so far$/)
  expect(await page.locator('.chart .now').evaluate((bar: SVGPathElement) => bar.getBBox().width)).toBe(48)

  await show('/less', '&period=7d')
  const axis = await page.locator('.chart text[text-anchor=end]').allTextContents()
  expect(axis.map((text) => number(text.replace('−', '-')))).toEqual([-60, -40, -20, 0, 20, 40])
  const below = await page.evaluate(() => {
    const [bars, zero] = ['.bars', '.zero'].map((name) =>
      document.querySelector<SVGPathElement>(`.chart ${name}`)!.getBBox(),
    )
    return bars!.y + bars!.height - zero!.y > 50 && zero!.y - bars!.y > 20
  })
  expect(below).toBe(true)
  for (const key of ['End', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key)
  expect(await page.locator('.tip').textContent()).toMatch(/^-50 views · /)

  await show('/most', '&period=7d')
  for (const key of ['End', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key)
  expect(await page.locator('.tip').textContent()).toMatch(/^9,007,199,254,740,993 views · /)
  expect((await chartRows(page)).map((row) => row.split(' | ')[1])).toContain('9,007,199,254,740,993')
  expect((await csvOf(page)).join()).toContain(',9007199254740993')
})
