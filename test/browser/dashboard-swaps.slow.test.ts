import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import {
  charted,
  counterUrl,
  period,
  pollHurried,
  sessionOfFile,
  settledNumbers,
  shows,
  typeUrl,
  type Violations,
  watchedPage,
} from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'

const browser = chromiumOfFile()
const counter = sampleCounter()
const session = sessionOfFile(browser, counter)
let context: BrowserContext
let page: Page
let violations: Violations
/** Pages that were loaded, and not swapped. */
let loads: number
/** What Chromium says of answers that a test provokes. */
let provoked: RegExp
beforeEach(async () => {
  provoked = /^$/
  const options = { timezoneId: 'Europe/Berlin', storageState: session, viewport: { width: 1280, height: 800 } }
  ;({ context, violations, page } = await watchedPage(browser, counter, options))
  loads = 0
  page.on('load', () => void loads++)
})
afterEach(async () => {
  await context.close()
  const messages = violations.messages.filter((line) => !provoked.test(line))
  expect({ ...violations, messages }).toEqual({ foreign: [], messages: [] })
})

async function open(path = '/?type=page_view'): Promise<void> {
  await page.goto(path.startsWith('http') ? path : counter.url + path)
  await charted(page)
  await settledNumbers(page)
  await shows(page, '#as-of', 'Europe/Berlin')
}
const keys = () => page.locator('#top .whole').allTextContents()
const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '')
const count = async (selector: string) => Number((await page.textContent(selector))!.replaceAll(',', ''))

describe('A link to another view', () => {
  it('swaps the page, keeps the focus, the place and what is open, and can be gone back from', async () => {
    await open()
    await page.locator('#table > summary').click()
    await page.evaluate(() => scrollTo(0, 300))
    await period(page, '7 days').evaluate((link) => link.focus({ preventScroll: true }))
    await page.keyboard.press('Enter')
    await page.waitForURL(/period=7d$/)
    await settledNumbers(page)
    expect(await page.locator('#table tbody tr').count()).toBe(7)
    expect(await page.locator('#table').getAttribute('open')).toBe('')
    expect([await page.evaluate(() => scrollY), await page.evaluate(() => document.activeElement?.id)]).toEqual([
      300,
      'tile-7d',
    ])
    expect(await page.textContent('#announcement')).toBe(
      `${await page.textContent('#chart-days')}: ${await page.textContent('#chart-sum')}`,
    )
    await page.goBack()
    await expect.poll(() => page.locator('#table tbody tr').count()).toBe(30)
    expect(loads).toBe(1)
  })

  it.each([
    ['a unit', '#chart-options', 'Weeks', /by=week$/],
    ['another period', '#other-days', '90 days', /period=90d$/],
  ])('of %s is in a panel, which closes', async (_, button, name, address) => {
    await open()
    await page.locator(button).click()
    await page.getByRole('link', { name, exact: true }).click()
    await page.waitForURL(address)
    await settledNumbers(page)
    expect(await page.locator(':popover-open').count()).toBe(0)
    expect(loads).toBe(1)
  })

  it('of counts is above the chart', async () => {
    await open()
    const choice = page.getByRole('navigation', { name: 'Counts in the chart' })
    for (const [name, part, most] of [
      ['By key', 'path[fill]', 6],
      ['Cumulative', '.bars', 1],
      ['Both', '.inside', 1],
    ] as const) {
      await choice.getByRole('link', { name, exact: true }).click()
      await expect.poll(() => choice.locator('[aria-current]').textContent()).toBe(name)
      expect(await page.locator(`#chart ${part}`).count()).toBe(most)
    }
    expect(loads).toBe(1)
  })

  it('fades each drawing as a whole while its numbers come, so that weekends get no darker', async () => {
    await open()
    const opacities = () =>
      page.evaluate(() =>
        ['.chart > svg', '.chart > svg > svg', '.weekends', '.bars', '.small-chart svg', '#chart-sum'].map((part) =>
          Number(getComputedStyle(document.querySelector(part)!).opacity),
        ),
      )
    expect(await opacities()).toEqual([1, 1, 0.04, 1, 1, 1])
    const held = Promise.withResolvers<void>()
    await page.route(/period=90d/, async (route) => {
      await held.promise
      await route.continue()
    })
    await page.locator('#other-days').click()
    await page.getByRole('link', { name: '90 days' }).click()
    await expect.poll(opacities).toEqual([0.4, 1, 0.04, 1, 0.4, 1])
    held.resolve()
    await settledNumbers(page)
    expect(await opacities()).toEqual([1, 1, 0.04, 1, 1, 1])
  })

  it('takes days from the calendar, in either order', async () => {
    await open()
    await page.locator('#other-days').click()
    await page.getByLabel('From').fill('2026-01-03')
    await page.getByLabel('to', { exact: true }).fill('2026-01-01')
    await page.getByRole('button', { name: 'Show' }).click()
    await shows(page, '#chart-days', '1 – 3 Jan 2026')
    expect(await page.textContent('#other-days')).toBe('1 – 3 Jan 2026 ▾')
  })

  it('is an ordinary one to another page, and with a key that opens a tab', async () => {
    await open('/?type=page_view&period=7d')
    await page.locator('#top .count').first().click({ force: true })
    await page.waitForURL(`${counterUrl(counter, 'page_view', '/')}&period=7d`)
    await page.goBack()
    await charted(page)
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      period(page, 'Today').click({ modifiers: ['ControlOrMeta'] }),
    ])
    await tab.waitForURL(/period=today$/)
    expect(page.url()).toMatch(/period=7d$/)
  })

  it('sorts the list, and shows more of it', async () => {
    await open()
    await page.getByRole('link', { name: 'Change', exact: true }).click()
    await page.waitForURL(/sort=change$/)
    await settledNumbers(page)
    const rows = page.locator('#top tr')
    expect(await rows.count()).toBe(10)
    await page.getByRole('link', { name: 'Show more' }).click()
    await expect.poll(() => rows.count()).toBe(100)
    await page.getByRole('link', { name: 'Next' }).click()
    await expect.poll(() => page.getByText('Rows 101 to 200').count()).toBe(1)
    expect(loads).toBe(1)
  })
})

describe('Share', () => {
  it('opens a panel, loads its images only then, and shows what is chosen in the page', async () => {
    const images: string[] = []
    page.on('request', (request) => request.resourceType() === 'image' && images.push(request.url()))
    await open()
    const sent = () => images.filter((url) => !url.startsWith('data:')).map((url) => new URL(url).pathname)
    expect(sent()).toEqual([])
    await page.getByRole('button', { name: 'Share' }).click()
    const area = page.locator('#share')
    await expect.poll(async () => sent().sort()).toEqual(['/badge/page_view.svg', '/chart/page_view.svg'])
    await page.getByRole('button', { name: 'Copy: Badge' }).click()
    await expect
      .poll(() => area.locator('[role=status]').first().textContent())
      .toMatch(/^(Copied\.|Selected\. Copy it with the keyboard\.)$/)
    await area.getByLabel('One key').fill('/pricing')
    await area.getByRole('button', { name: 'Show' }).click()
    await page.waitForURL(/share=key&of=%2Fpricing$/)
    await settledNumbers(page)
    expect(await page.getByLabel('Badge', { exact: true }).inputValue()).toContain('/badge/page_view/%2Fpricing.svg)')
    expect(await page.locator(':popover-open').count()).toBe(0)
    await area.getByRole('link', { name: 'Close' }).click()
    await expect.poll(() => page.getByRole('button', { name: 'Share' }).count()).toBe(1)
    expect(loads).toBe(1)
  })
})

describe('Typing in the search', () => {
  it('shows what is found after a pause, keeps the cursor, and is one step to go back from', async () => {
    await open()
    const before = await keys()
    const field = page.getByLabel('Filter')
    await field.pressSequentially('/docs/')
    await pollHurried(page, async () => (await keys()).every((key) => key.startsWith('/docs/'))).toBe(true)
    expect(
      await field.evaluate((input: HTMLInputElement) => [input.selectionStart, input === document.activeElement]),
    ).toEqual([6, true])
    // In the middle of the text.
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Delete')
    await page.waitForURL(/find=%2Focs%2F/)
    await settledNumbers(page)
    expect(await field.evaluate((input: HTMLInputElement) => input.selectionStart)).toBe(1)
    await page.goBack()
    await expect.poll(keys).toEqual(before)
    expect([await field.inputValue(), loads]).toEqual(['', 1])
  })

  it('is not lost while an earlier answer comes', async () => {
    await open()
    const field = page.getByLabel('Filter')
    await field.fill('/docs/')
    await page.clock.fastForward(300)
    await field.press('End')
    await field.pressSequentially('mysql')
    await pollHurried(page, keys).toEqual(expect.arrayContaining(['/docs/mysql/tail']))
    expect(await field.inputValue()).toBe('/docs/mysql')
  })
})

describe('A page', () => {
  it('shows new counts by itself, keeps the focus, and waits while something is typed, selected or open', async () => {
    await open()
    const today = await count('#tile-today b')
    await page.locator('#top .whole').nth(1).focus()
    const second = await focused()
    await counter.add('page_view', second, 100_000)
    await pollHurried(page, () => count('#tile-today b')).toBe(today + 100_000)
    expect([await focused(), (await keys())[0]]).toEqual([second, second])

    await page.evaluate(() => getSelection()!.selectAllChildren(document.querySelector('#top a')!))
    await counter.add('page_view', second, 1)
    const isSame = () => page.evaluate(() => document.querySelector('#main')!.hasAttribute('data-same'))
    await page.evaluate(() => document.querySelector('#main')!.setAttribute('data-same', ''))
    await page.clock.fastForward(120_000)
    expect(await isSame()).toBe(true)
    await page.evaluate(() => getSelection()!.removeAllRanges())
    await pollHurried(page, () => count('#tile-today b')).toBe(today + 100_001)
    expect(loads).toBe(1)
  })

  it('says that it is offline, or what is wrong, keeps its numbers, and goes on afterwards', async () => {
    provoked = /ERR_INTERNET_DISCONNECTED|ERR_FAILED|502/
    await open()
    const month = await page.textContent('#chart-sum')
    await context.setOffline(true)
    await period(page, 'Today').click()
    await shows(page, '#message', 'You are offline. These are the last known numbers.')
    expect([await page.textContent('#state'), await page.textContent('#chart-sum')]).toEqual([
      expect.stringContaining('Not up to date'),
      month,
    ])
    await context.setOffline(false)
    await pollHurried(page, () => page.textContent('#message')).toBe('')
    expect(await page.textContent('#state')).toContain('up to')

    await page.route('**/?*', (route) => route.fulfill({ status: 502, body: 'Bad gateway' }))
    await period(page, '7 days').click()
    await shows(page, '#message', 'The Worker answered 502.')
    await page.unroute('**/?*')
    await pollHurried(page, () => page.locator('#table tbody tr').count()).toBe(7)
  })

  it('whose numbers could not be read at first shows them as soon as they can be', async () => {
    const trouble = '<main id="main" data-page="trouble"><h1>Wrong</h1><p id="trouble">Not now.</p></main>'
    await page.route(typeUrl(counter), async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replace(/<main.*<\/main>/s, trouble)
      await route.fulfill({ response, body })
    })
    await page.goto(typeUrl(counter))
    await pollHurried(page, () => page.locator('.tile').count()).toBe(6)
    expect(await page.textContent('#message')).toBe('')
  })

  it('has no sideways scroll and no shift of its layout', async () => {
    await page.goto(typeUrl(counter))
    await settledNumbers(page)
    await shows(page, '#as-of', 'Europe/Berlin')
    const shift = await page.evaluate(
      () =>
        new Promise<number>((done) => {
          let sum = 0
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value
          }).observe({ type: 'layout-shift', buffered: true })
          requestAnimationFrame(() => requestAnimationFrame(() => done(sum)))
        }),
    )
    expect(shift).toBe(0)
  })
})

it('The public page shows its first numbers in UTC, and those of the visitor’s days as soon as its script runs', async () => {
  const options = { timezoneId: 'Asia/Tokyo' }
  const { page, violations } = await watchedPage(browser, counter, options)
  const first = await (await fetch(`${counter.url}/stats/page_view`)).text()
  expect(first).toContain('data-zone="UTC"')
  await page.goto(`${counter.url}/stats/page_view`)
  await shows(page, '#as-of', 'Days begin at midnight in Asia/Tokyo.')
  await period(page, 'All time').click()
  await page.waitForURL(/\?period=all$/)
  await settledNumbers(page)
  expect(await page.textContent('#as-of')).toContain('Asia/Tokyo')
  expect(await page.context().cookies()).toEqual([])
  expect(violations).toEqual({ foreign: [], messages: [] })
})

it('Without a script every period, unit, prefix, sort, page and search is reached by links and forms', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false, storageState: session })
  const page = await context.newPage()
  await page.goto(typeUrl(counter))
  const shown = () => page.textContent('#chart-days')
  const month = await shown()
  for (const name of ['Today', '7 days', '12 months', 'All time']) {
    await period(page, name).click()
    expect(await shown(), name).not.toBe(month)
  }
  await page.locator('#other-days').click()
  await page.getByRole('link', { name: 'Last month' }).click()
  await page.getByRole('link', { name: 'By key' }).click()
  await page.waitForURL(/show=keys/, { waitUntil: 'load' })
  expect(await page.locator('.legend li').count()).toBe(6)
  await page.locator('#chart-options').click()
  await page.getByRole('link', { name: 'Weeks' }).click()
  expect(await page.locator('#table tbody tr').count()).toBeLessThan(7)
  await page.getByRole('link', { name: '/docs/', exact: true }).click()
  await page.getByRole('link', { name: 'Visitors', exact: true }).last().click()
  expect(page.url()).toMatch(/period=last-month.*find=%2Fdocs%2F.*by=week.*sort=also.*show=keys/)
  await page.getByRole('button', { name: 'Share' }).click()
  const share = page.locator('#share')
  expect(await share.getByLabel('Badge', { exact: true }).inputValue()).toContain('?prefix=%2Fdocs%2F')
  await share.getByRole('link', { name: 'All pages' }).click()
  await page.waitForURL(/share=total/, { waitUntil: 'load' })
  expect(await share.getByLabel('Badge', { exact: true }).inputValue()).not.toContain('prefix')
  await share.getByRole('link', { name: 'Close' }).click()
  await page.waitForURL((url) => !url.search.includes('share'), { waitUntil: 'load' })
  await page.getByLabel('Filter').fill('/blog/')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Show more' }).click()
  await page.waitForURL(/page=1/, { waitUntil: 'load' })
  const found = await page.locator('#top .whole').allTextContents()
  expect([found.length > 10, found.every((key) => key.startsWith('/blog/'))]).toEqual([true, true])
  await page.locator('#top a').first().click()
  expect(await page.textContent('h1')).toBe(found[0])
})
