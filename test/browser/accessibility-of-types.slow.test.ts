import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { audit } from './audit.ts'
import { launchChromium } from './chromium.ts'
import { charted, goOffline, openAll, type Session, sessionOf } from './open-dashboard.ts'
import { fillHistory } from './sample-history.ts'
import { type Counter, startCounter } from './shipped-worker.ts'

const PUBLIC = { public: true, public_page: true, allowed_origins: ['*'] }
const LONG = 'W'.repeat(500)

let browser: Browser
/** A Worker with a year of counts, and one without any. */
let counter: Counter
let unused: Counter
let session: Session
let sessionWithUnused: Session
beforeAll(async () => {
  const COUNTERS = {
    page_view: {
      record_type: 1,
      ...PUBLIC,
      title: 'Page views',
      unit: 'views',
      url: 'https://example.com',
      also: 'visitor',
      counting_badge: true,
    },
    download: { record_type: 2, ...PUBLIC, redirect_to: '/files/' },
    visitor: { record_type: 3, ...PUBLIC, dedupe_seconds: 86_400 },
  }
  ;[browser, counter, unused] = await Promise.all([launchChromium(), startCounter({ COUNTERS }), startCounter()])
  await counter.add('page_view', LONG, 2 ** 45)
  await counter.api('POST', '/v1/imports', {
    counters: [{ type: 'page_view', key: '/big', count: '9223372036854775000' }],
  })
  await fillHistory(counter, new Date(), { hours: 6 })
  session = await sessionOf(browser, counter)
  sessionWithUnused = await sessionOf(browser, unused)
  await counter.api('PUT', `/v1/counters/page_view/${encodeURIComponent('/')}`, { count: 400_000 })
})
afterAll(async () => {
  await browser?.close()
  await counter?.stop()
  await unused?.stop()
})

async function newContext(storageState?: Session): Promise<BrowserContext> {
  const viewport = { width: 1280, height: 800 }
  const context = await browser.newContext({ locale: 'en-GB', viewport, ...(storageState && { storageState }) })
  onTestFinished(() => context.close())
  return context
}

/** Pages of types: their path, and how to bring each into its state. */
const SIGNED_IN: Record<string, { path: string; of?: 'unused'; state?: (page: Page) => Promise<unknown> }> = {
  'a type': { path: '/?type=page_view', state: charted },
  'another type': { path: '/?type=download', state: charted },
  'a type, with every section open': {
    path: '/?type=page_view',
    async state(page) {
      await charted(page)
      await openAll(page)
    },
  },
  'a type, with other days to choose': {
    path: '/?from=2026-01-01&to=2026-01-02',
    state: (page) => page.getByLabel('From').waitFor(),
  },
  'a type without counts': {
    path: '/',
    of: 'unused',
    state: (page) => page.getByRole('heading', { name: 'Count the first one' }).waitFor(),
  },
  'a search with results': { path: '/', state: (page) => search(page, '/blog') },
  'a search without results': { path: '/', state: (page) => search(page, 'nothing') },
  'a type, while the Worker does not answer': { path: '/', state: goOffline },
  'a type, after the session has ended': { path: '/', state: sessionEnded },
}

describe('nothing is wrong for those who are signed in, light and dark, from 320 to 1,920 pixels, with', () => {
  it.each(Object.entries(SIGNED_IN))('%s', async (_, { path, of, state }) => {
    const [worker, cookies] = of === 'unused' ? [unused, sessionWithUnused] : [counter, session]
    const page = await (await newContext(cookies)).newPage()
    await page.goto(worker.url + path)
    await state?.(page)
    expect(await audit(page)).toEqual([])
  })
})

async function search(page: Page, prefix: string): Promise<void> {
  await charted(page)
  await page.getByRole('searchbox').fill(prefix)
  await page.keyboard.press('Enter')
  if (prefix === 'nothing') await page.getByText('No key begins with that.').waitFor()
  else await expect.poll(() => page.locator('#top a').first().textContent()).toContain(prefix)
}

async function sessionEnded(page: Page): Promise<void> {
  await charted(page)
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Today' }).click()
  await page.getByText('Your session has ended.').waitFor()
}
