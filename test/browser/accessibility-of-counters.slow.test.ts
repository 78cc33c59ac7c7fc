import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { audit } from './audit.ts'
import { launchChromium } from './chromium.ts'
import { charted, counterUrl, goOffline, openAll, type Session, sessionOf } from './open-dashboard.ts'
import { fillHistory } from './sample-history.ts'
import { type Counter, startCounter } from './shipped-worker.ts'

const LONG = 'W'.repeat(500)

let browser: Browser
/** A Worker with a year of counts. */
let counter: Counter
let session: Session
beforeAll(async () => {
  const COUNTERS = {
    page_view: {
      record_type: 1,
      public: true,
      title: 'Page views',
      unit: 'views',
      url: 'https://example.com',
      also: 'visitor',
      counting_badge: true,
    },
    download: { record_type: 2, redirect_to: '/files/' },
    visitor: { record_type: 3, dedupe_seconds: 86_400 },
  }
  ;[browser, counter] = await Promise.all([launchChromium(), startCounter({ COUNTERS })])
  await counter.add('page_view', LONG, 2 ** 45)
  await counter.api('POST', '/v1/imports', {
    counters: [{ type: 'page_view', key: '/big', count: '9223372036854775000' }],
  })
  await fillHistory(counter, new Date(), { hours: 6 })
  await counter.api('PUT', `/v1/counters/page_view/${encodeURIComponent('/')}`, { count: 400_000 })
  session = await sessionOf(browser, counter)
})
afterAll(async () => {
  await browser?.close()
  await counter?.stop()
})

/** Pages of counters: their key, and how to bring each into its state. */
const PAGES: Record<string, { key: string; state?: (page: Page) => Promise<unknown> }> = {
  'a counter': { key: '/', state: charted },
  'a counter with a long key': { key: LONG, state: charted },
  'a counter without counts': { key: 'never' },
  'a counter with a great count': { key: '/big', state: charted },
  'a counter, with every section open': {
    key: '/',
    async state(page) {
      await charted(page)
      await openAll(page)
    },
  },
  'a counter, about to be reset': { key: '/', state: (page) => dialog(page, 'Reset to zero …') },
  'a counter, about to be deleted': { key: '/', state: (page) => dialog(page, 'Delete …') },
  'a counter, while the Worker does not answer': { key: '/', state: goOffline },
}

describe('nothing is wrong for those who are signed in, light and dark, from 320 to 1,920 pixels, with', () => {
  it.each(Object.entries(PAGES))('%s', async (_, { key, state }) => {
    const viewport = { width: 1280, height: 800 }
    const context = await browser.newContext({ locale: 'en-GB', viewport, storageState: session })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(counterUrl(counter, 'page_view', key))
    await state?.(page)
    expect(await audit(page)).toEqual([])
  })
})

async function dialog(page: Page, button: string): Promise<void> {
  await openAll(page)
  await page.getByRole('button', { name: button }).click()
  await page.getByRole('dialog').waitFor()
}
