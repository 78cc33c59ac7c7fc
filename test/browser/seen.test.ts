import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type DemoSite, startDemoSite } from '../../local/demo-site.ts'
import { startSite } from './site.ts'
import { type Counter, launchChromium, startCounter } from './visitor.ts'

let browser: Browser
let counter: Counter
let demo: DemoSite
beforeAll(async () => {
  counter = await startCounter()
  demo = await startDemoSite({ counter: counter.url, port: 0 })
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await demo?.stop()
  await counter?.stop()
})

/** A tab that is shown and hidden as tabs are: without Playwright's emulation, under which all of them are in front. */
async function tab(context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setFocusEmulationEnabled', { enabled: false })
  return page
}

const isHidden = (page: Page) => page.evaluate(() => document.hidden)

it('a tab in the background counts when it is shown, and what was loaded there before does not', async () => {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const background = await tab(context)
  const front = await tab(context)
  await front.bringToFront()
  await background.goto(`${demo.url}/article`)
  await background.goto(`${demo.url}/app/`)
  expect(await isHidden(background)).toBe(true)
  await background.evaluate(() => history.pushState(null, '', '/app/map'))
  await counter.has({})
  await background.bringToFront()
  expect(await isHidden(background)).toBe(false)
  await counter.has({ 'page_view /app/map': 1 })
  await front.bringToFront()
  await background.bringToFront()
  await counter.has({ 'page_view /app/map': 1 })
  await counter.clear()
})

it('a page that is prerendered counts when the visitor goes there', async () => {
  const tag = `<script defer src="${counter.url}/beacon.js" data-local></script>`
  const rules = '{"prerender":[{"source":"list","urls":["/next"],"eagerness":"immediate"}]}'
  let loaded = 0
  const site = await startSite({
    '/first': {
      html: `<!doctype html>${tag}<script type="speculationrules">${rules}</script><a href="/next">next</a>`,
    },
    '/next': {
      get html() {
        loaded++
        return `<!doctype html>${tag}<script>window.prerendered = document.prerendering</script>`
      },
    },
  })
  onTestFinished(() => site.stop())
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(`${site.url}/first`)
  await expect.poll(() => loaded, { timeout: 10_000 }).toBe(1)
  await counter.has({ 'page_view /first': 1 })
  await page.click('a', { noWaitAfter: true })
  await counter.has({ 'page_view /first': 1, 'page_view /next': 1 })
  expect(loaded).toBe(1)
  await counter.clear()
})
