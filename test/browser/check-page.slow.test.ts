import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { chromiumOfFile, launchChromium } from './chromium.ts'
import { openMenu, signedIn, watch } from './open-dashboard.ts'
import { type Counter, counterOfFile, startCounter } from './shipped-worker.ts'

const SITE = 'https://example.com'
const site = { public: true, allowed_origins: [SITE] }
const browser = chromiumOfFile()
const counter = counterOfFile({
  COUNTERS: { page_view: { ...site, record_type: 1 }, shy: { ...site, record_type: 2, respect_do_not_track: true } },
})

/** Opens the owner's link in a new browser. */
async function open(options: BrowserContextOptions = {}, { type = 'page_view', of = browser, on = counter } = {}) {
  const context = await of.newContext(options)
  const violations = await watch(context, on)
  onTestFinished(() => expect(violations).toEqual({ foreign: [], messages: [] }))
  const page = await context.newPage()
  await page.goto(`${on.url}/check?${new URLSearchParams({ type, page: `${SITE}/about` })}`)
  await page.waitForLoadState()
  return page
}

/** Presses the button. Returns the answer in lines. */
async function answer(page: Awaited<ReturnType<typeof open>>): Promise<string[]> {
  await page.getByRole('button', { name: 'Check' }).click()
  const lines = page.locator('#check-answer p')
  await lines.first().waitFor()
  return lines.allTextContents()
}

describe('The page /check says of a browser', () => {
  it('that its hits count, without counting any', async () => {
    const page = await open()
    expect(await answer(page)).toEqual(['Yes, it counts.'])
    await page.getByLabel('Address of a page').fill('https://example.org/')
    await page.keyboard.press('Enter')
    await page.getByText('does not list https://example.org.').waitFor()
    await page.getByLabel('Type').fill('views')
    await page.keyboard.press('Enter')
    await page.getByText('The type is not configured.').waitFor()
    await counter.has({}, page)
  })

  it('that its owner has marked it, until the mark is taken off', async () => {
    const context = await browser.newContext()
    const page = await signedIn(context, counter)
    await openMenu(page)
    await page.getByRole('button', { name: 'Do not count this browser' }).click()
    await openMenu(page)
    await page.getByRole('button', { name: 'Count this browser again' }).waitFor()
    await page.goto(`${counter.url}/check?type=page_view`)
    expect((await answer(page))[1]).toBe('This browser is marked as the owner’s.')
    await page.goto(counter.url)
    await openMenu(page)
    await page.getByRole('button', { name: 'Count this browser again' }).click()
    await openMenu(page)
    await page.getByRole('button', { name: 'Do not count this browser' }).waitFor()
    await page.goto(`${counter.url}/check?type=page_view`)
    expect(await answer(page)).toEqual(['Yes, it counts.'])
  })

  it.each<[string, string, BrowserContextOptions]>([
    ['Do Not Track', 'shy', { extraHTTPHeaders: { DNT: '1' } }],
    ['Global Privacy Control', 'shy', { extraHTTPHeaders: { 'Sec-GPC': '1' } }],
    ['bot’s', 'page_view', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/142.0.0.0 Safari/537.36' }],
  ])('that it does not count: %s, type %s', async (cause, type, options) => {
    const [no, why] = await answer(await open(options, { type }))
    expect([no, why]).toEqual(['No, it does not count.', expect.stringContaining(cause)])
  })

  it('that a program drives it', async () => {
    const automated = await launchChromium({ automated: true })
    onTestFinished(() => automated.close())
    expect((await answer(await open({}, { of: automated })))[1]).toBe('A program drives the browser.')
  })

  it('that something in between stops its hits', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${counter.url}/check`)
    await page.waitForLoadState()
    await page.route('**/check?*', (route) => route.abort('blockedbyclient'))
    expect(await answer(page)).toEqual(['The hit did not reach the Worker.', expect.stringContaining('blocker')])
  })

  it('the same below a base path', async () => {
    const based: Counter = await startCounter({
      BASE_PATH: '/stats/own',
      COUNTERS: { page_view: { ...site, record_type: 1 } },
    })
    expect(await answer(await open({}, { on: based }))).toEqual(['Yes, it counts.'])
  })
})
