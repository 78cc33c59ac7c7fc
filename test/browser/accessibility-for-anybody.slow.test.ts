import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startDemoSite } from '../../local/demo-site.ts'
import { audit } from './audit.ts'
import { launchChromium } from './chromium.ts'
import { charted, openAll, signedInWithoutTables } from './open-dashboard.ts'
import { fillHistory } from './sample-history.ts'
import { type Counter, startCounter } from './shipped-worker.ts'

const PUBLIC = { public: true, public_page: true, allowed_origins: ['*'] }
const LONG = 'W'.repeat(500)

let browser: Browser
/** A Worker with a year of counts. */
let counter: Counter
beforeAll(async () => {
  const COUNTERS = {
    page_view: {
      record_type: 1,
      ...PUBLIC,
      title: 'Page views',
      unit: 'views',
      url: 'https://example.com',
      also: 'visitor',
    },
    download: { record_type: 2, ...PUBLIC, redirect_to: '/files/' },
    visitor: { record_type: 3, ...PUBLIC, dedupe_seconds: 86_400 },
  }
  ;[browser, counter] = await Promise.all([launchChromium(), startCounter({ COUNTERS })])
  await counter.add('page_view', LONG, 2 ** 45)
  await counter.api('POST', '/v1/imports', {
    counters: [{ type: 'page_view', key: '/big', count: '9223372036854775000' }],
  })
  await fillHistory(counter, new Date(), { hours: 6 })
})
afterAll(async () => {
  await browser?.close()
  await counter?.stop()
})

async function newContext(): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 } })
  onTestFinished(() => context.close())
  return context
}

describe('nothing is wrong for anybody, light and dark, from 320 to 1,920 pixels, with', () => {
  it('the sign-in, a wrong token too', async () => {
    const page = await (await newContext()).newPage()
    await page.goto(counter.url)
    expect(await audit(page)).toEqual([])
    await page.getByLabel('API token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await audit(page)).toEqual([])
  })

  it('a database without tables', async () => {
    const empty = await startCounter({}, { empty: true })
    onTestFinished(() => empty.stop())
    const signIn = await (await newContext()).newPage()
    await signIn.goto(empty.url)
    expect(await audit(signIn)).toEqual([])
    const page = await signedInWithoutTables(await newContext(), empty)
    // Shown only if the branch has safe migrations on.
    await page.locator('#deploy-request').evaluate((section) => section.removeAttribute('hidden'))
    await openAll(page)
    expect(await audit(page)).toEqual([])
  })

  it.each(['/stats/page_view', '/stats/download?period=today'])('the public page %s', async (path) => {
    const page = await (await newContext()).newPage()
    await page.goto(counter.url + path)
    await charted(page)
    await page.locator('#top tr').first().waitFor()
    await openAll(page)
    expect(await audit(page)).toEqual([])
  })

  it('the documentation, all of it open', async () => {
    const page = await (await newContext()).newPage()
    await page.goto(`${counter.url}/docs`)
    await openAll(page)
    expect(await audit(page)).toEqual([])
  })

  it.each(['/', '/article', '/downloads', '/app/', '/app/map'])('the demo’s page %s', async (path) => {
    const demo = await startDemoSite({ counter: counter.url, port: 0 })
    onTestFinished(() => demo.stop())
    const page = await (await newContext()).newPage()
    await page.goto(demo.url + path)
    await expect.poll(() => page.textContent('footer b')).toMatch(/^\d/)
    expect(await audit(page)).toEqual([])
  })
})
