import { expect, it, onTestFinished } from 'vitest'
import { chromiumOfFile, launchChromium } from './chromium.ts'
import { period, settledNumbers, shows, watch, watchedPage } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

const SITE = 'https://example.com'
const COUNTERS = { page_view: { record_type: 1, public: true, public_page: true, allowed_origins: [SITE] } }
const browser = chromiumOfFile()
const counter = counterOfFile({ COUNTERS })

it('The page /check says what a hit of this browser would do, without sending one', async () => {
  const automated = await launchChromium([], true)
  onTestFinished(() => automated.close())
  for (const [of, says] of [
    [browser, ['Yes, it counts.']],
    [automated, [expect.any(String), 'A program controls the browser.', expect.any(String)]],
  ] as const) {
    const context = await of.newContext()
    const provokes = await watch(context, counter)
    const page = await context.newPage()
    await page.goto(`${counter.url}/check?${new URLSearchParams({ type: 'page_view', page: `${SITE}/about` })}`)
    const answer = page.locator('#check-answer p')
    await page.getByLabel('Address of a page').press('Enter')
    await expect.poll(() => answer.allTextContents()).toEqual(says)
    await counter.has({}, page)
    // Something in between stops its hits.
    provokes(/ERR_BLOCKED_BY_CLIENT/)
    await page.route('**/check?*', (route) => route.abort('blockedbyclient'))
    await page.getByRole('button', { name: 'Check' }).click()
    await expect.poll(() => answer.last().textContent()).toContain('A blocker in this browser')
  }
})

it('The public page shows the numbers of the visitor’s days as soon as its script runs, and sets no cookie', async () => {
  await counter.add('page_view', '/', 7)
  const { page } = await watchedPage(browser, counter, { timezoneId: 'Asia/Tokyo' })
  await page.goto(`${counter.url}/stats/page_view`)
  await shows(page, '#as-of', 'Days begin at midnight in Asia/Tokyo.')
  await period(page, 'All time').click()
  await page.waitForURL(/\?period=all$/)
  await settledNumbers(page)
  expect(await page.textContent('#tile-all b')).toBe('7')
  expect(await page.context().cookies()).toEqual([])
})

it('A chart is an image that other sites show, light and dark, with bars in its plot', async () => {
  // Today has another bar.
  const day = new Date(Date.now() - 10 * 86_400_000).toISOString().slice(0, 10)
  await counter.api('POST', '/v1/imports', { counters: [{ type: 'page_view', key: '/pricing', count: 7, day }] })
  const address = `${counter.url}/chart/page_view/%2Fpricing.svg`
  const site = await startSite({ '/': `<!doctype html><img src="${address}">` })
  const page = await (await browser.newContext()).newPage()
  const looks: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.goto(site.url)
    await expect.poll(() => page.evaluate(() => document.images[0]!.naturalWidth)).toBe(640)
    looks.push((await page.locator('img').screenshot()).toString('base64'))
  }
  expect(new Set(looks).size).toBe(2)
  await page.goto(address)
  const { x, y, width, height } = (await page.locator('path.bars').boundingBox())!
  expect([x >= 52, x + width <= 621, y >= 40, y + height <= 200, height > 50]).toEqual([true, true, true, true, true])
})

/** Opens the page at /docs. */
async function docs(hash = '') {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 } })
  await watch(context, counter)
  const page = await context.newPage()
  await page.goto(`${counter.url}/docs${hash}`)
  const operations = () => page.locator('.operation:not([hidden]) > summary h3').allTextContents()
  return { page, context, operations }
}

it('The documentation is a few screens long, and finds operations by any of their words, of which it opens the only one left', async () => {
  const { page, operations } = await docs()
  expect(await page.evaluate(() => getComputedStyle(document.querySelector('.operation')!).borderRadius)).toBe('8px')
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(6_000)
  const everything = await operations()
  expect(everything.length).toBeGreaterThan(25)
  const field = page.getByRole('searchbox', { name: 'Find an operation' })
  await field.fill('  BADGE svg ')
  const { length } = await operations()
  expect(length > 1 && length < everything.length).toBe(true)
  await expect.poll(() => page.textContent('#found')).toBe(`${length} operations`)
  await field.fill('/v1/verify')
  await expect.poll(operations).toHaveLength(1)
  expect(await page.locator('.operation[open]').count()).toBe(1)
  expect(await page.locator('.chapter:not([hidden])').count()).toBe(1)
  // A link leads to an operation that the filter hides.
  await page.evaluate(() => location.assign('#increment'))
  await page.locator('#increment').waitFor()
  expect(await operations()).toEqual(everything)
  await field.fill('idempotency')
  await field.press('Enter')
  await expect.poll(() => page.evaluate(() => document.activeElement!.tagName)).toBe('SUMMARY')
})

it('The documentation opens the operation that a link names, with its heading in sight, copies its commands, and prints all', async () => {
  const { page, context } = await docs('#increment')
  await page.locator('#increment').waitFor()
  expect(await page.locator('.operation[open]').count()).toBe(1)
  const { height } = (await page.locator('#filter').boundingBox())!
  // The browser scrolls with a later frame.
  const top = async () => (await page.locator('.operation[open] > summary').boundingBox())!.y
  await expect.poll(top).toBeLessThan(height + 40)
  expect(await top()).toBeGreaterThanOrEqual(height - 1)

  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: counter.url })
  // It is said for 2 s only, so the page itself looks for it.
  const said = page.waitForFunction(() => document.querySelector('#copied')?.textContent === 'Copied')
  await page.locator('#increment').getByRole('button', { name: 'Copy: curl' }).first().click()
  await said
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toBe(await page.locator('#increment .curl').first().textContent())

  const commands = page.locator('.operation .curl')
  const hidden = () =>
    commands.evaluateAll((all) => all.filter((each) => !each.checkVisibility({ contentVisibilityAuto: true })).length)
  expect(await hidden()).toBeGreaterThan(25)
  await page.emulateMedia({ media: 'print' })
  // Browsers show hidden contents with the next frame.
  await expect.poll(hidden).toBe(0)
})
