import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DemoSite, startDemoSite } from '../../local/demo-site.ts'
import { chromiumOfFile, consoleOf, settled } from './chromium.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startDemo, startProxy } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()
let demo: DemoSite
let context: BrowserContext
let page: Page
let said: string[]
beforeAll(async () => {
  demo = await startDemoSite({ counter: counter.url, port: 0 })
  return () => demo.stop()
})
beforeEach(async () => {
  context = await browser.newContext()
  said = consoleOf(context)
  page = await context.newPage()
})
afterEach(async () => {
  await context.close()
  await counter.clear()
})

const visit = (path: string) => page.goto(demo.url + path)

describe('a view is counted', () => {
  it('once when a page is loaded, and again when it is reloaded', async () => {
    await visit('/')
    await counter.has({ 'page_view /': 1 }, page)
    await page.reload()
    await counter.has({ 'page_view /': 2 }, page)
  })

  it('under the canonical URL, without the query', async () => {
    await visit('/article?from=mail')
    await visit('/downloads?utm=1')
    await counter.has({ 'page_view /blog/counting': 1, 'page_view /downloads': 1 })
  })

  it('not again for another fragment of the page', async () => {
    await visit('/article')
    await page.click('a[href="#second"]')
    await page.goBack()
    await page.goForward()
    await counter.has({ 'page_view /blog/counting': 1 }, page)
  })

  it('even if the page is closed as soon as it is loaded', async () => {
    for (let i = 0; i < 5; i++) {
      const passing = await context.newPage()
      await passing.goto(`${demo.url}/downloads`, { waitUntil: 'domcontentloaded' })
      await passing.close()
    }
    await counter.has({ 'page_view /downloads': 5 })
  })

  it('even if the visitor leaves before the hit arrives', async () => {
    // A slow connection to the counter: a request that the browser cancels in the meantime never arrives.
    let arrive!: () => void
    const held = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const slow = await startProxy(counter.url, async () => undefined, { held })
    const far = await startDemo(slow)
    await page.goto(`${far.url}/downloads`)
    await page.goto('about:blank')
    const closed = await context.newPage()
    await closed.goto(`${far.url}/article`)
    await closed.close()
    // When another request of the browser has come through, it has cancelled what it would cancel.
    await page.goto(`${slow.url}/healthz`)
    arrive()
    await counter.has({ 'page_view /downloads': 1, 'page_view /blog/counting': 1 })
  })
})

describe.each([
  ['with the Navigation API', true],
  ['in a browser without it', false],
])('a single-page application, %s,', (_, hasApi) => {
  beforeEach(async () => {
    if (!hasApi) await context.addInitScript(() => Object.defineProperty(window, 'navigation', { value: undefined }))
  })

  it('counts every section shown, and going back and forward', async () => {
    await visit('/app/')
    await page.click('text=Map')
    await page.waitForURL('**/map')
    await counter.reaches({ 'page_view /app/': 1, 'page_view /app/map': 1 })
    await page.click('a[href="/app/list"]')
    await page.click('a[href="/app/list?page=2"]')
    await counter.reaches({ 'page_view /app/': 1, 'page_view /app/map': 1, 'page_view /app/list': 2 })
    await page.goBack()
    await page.goBack()
    await page.goForward()
    await counter.has({ 'page_view /app/': 1, 'page_view /app/map': 2, 'page_view /app/list': 4 }, page)
    expect(said).toEqual([])
  })

  it('counts a replaced URL only if its path changes, and does not count a state pushed on the same URL', async () => {
    await visit('/app/')
    await counter.reaches({ 'page_view /app/': 1 })
    await page.evaluate(() => history.replaceState(null, '', '/app/?filter=a'))
    await page.evaluate(() => history.pushState({ open: true }, ''))
    await counter.has({ 'page_view /app/': 1 }, page)
    await page.evaluate(() => history.replaceState(null, '', '/app/map'))
    await counter.has({ 'page_view /app/': 1, 'page_view /app/map': 1 }, page)
  })

  it('that navigates quickly counts each page under its own path', async () => {
    await visit('/app/')
    await page.evaluate(() => {
      for (const name of ['a', 'b', 'c']) history.pushState(null, '', `/app/${name}`)
    })
    await counter.has(
      { 'page_view /app/': 1, 'page_view /app/a': 1, 'page_view /app/b': 1, 'page_view /app/c': 1 },
      page,
    )
  })

  it('counts its last page even if the visitor leaves at once', async () => {
    // The timer is always too late, even if the next page loads slowly.
    await page.addInitScript(() => {
      const real = window.setTimeout
      window.setTimeout = ((work: () => void, ms: number) => real(work, 100 * ms)) as typeof setTimeout
    })
    await visit('/app/')
    await page.evaluate(() => {
      history.pushState(null, '', '/app/last')
      location.href = '/downloads'
    })
    await counter.has({ 'page_view /app/': 1, 'page_view /app/last': 1, 'page_view /downloads': 1 })
  })

  it('that navigates while its first page settles waits for the canonical link of the next', async () => {
    // Timers end when the test says so.
    await page.addInitScript(() => {
      const { setTimeout: real } = window
      const waiting = new Map<number, () => void>()
      window.setTimeout = ((work: () => void) => {
        waiting.set(waiting.size + 1, work)
        return waiting.size
      }) as typeof setTimeout
      window.clearTimeout = (id) => void waiting.set(id as number, () => {})
      Object.assign(window, { waiting, real })
    })
    await visit('/article')
    await counter.reaches({ 'page_view /blog/counting': 1 })
    await page.evaluate(() => {
      const { waiting, real } = window as unknown as { waiting: Map<number, () => void>; real: typeof setTimeout }
      const ofFirstPage = waiting.size
      history.pushState(null, '', '/elsewhere')
      for (const [id, end] of waiting) if (id <= ofFirstPage) end()
      document.querySelector<HTMLLinkElement>('link[rel=canonical]')!.href = '/blog/elsewhere'
      for (const [id, end] of waiting) if (id > ofFirstPage) end()
      window.setTimeout = real
    })
    await counter.has({ 'page_view /blog/counting': 1, 'page_view /blog/elsewhere': 1 }, page)
  })

  it('counts under a canonical link that changed with the page, and not under an unchanged one', async () => {
    await visit('/article')
    await page.evaluate(() => history.pushState(null, '', '/elsewhere'))
    await counter.reaches({ 'page_view /blog/counting': 1, 'page_view /elsewhere': 1 })
    await page.evaluate(() => {
      history.pushState(null, '', '/third?x=1')
      setTimeout(() => {
        document.querySelector<HTMLLinkElement>('link[rel=canonical]')!.href = '/blog/third'
      }, 20)
    })
    await counter.has({ 'page_view /blog/counting': 1, 'page_view /elsewhere': 1, 'page_view /blog/third': 1 }, page)
  })
})

describe('a router on the Navigation API', () => {
  it('counts every page, and a replaced address only if its path changes', async () => {
    await visit('/app/')
    await page.evaluate(() => {
      const { navigation } = window as unknown as { navigation: EventTarget }
      navigation.addEventListener('navigate', (event) =>
        (event as Event & { intercept(options: object): void }).intercept({ handler: async () => {} }),
      )
    })
    const navigate = (path: string, options = {}) =>
      page.evaluate(
        async ([path, options]) => {
          type Result = { finished: Promise<unknown> }
          const { navigation } = window as unknown as { navigation: { navigate(...what: unknown[]): Result } }
          await navigation.navigate(path, options).finished
        },
        [path, options] as const,
      )
    await navigate('/app/one')
    await counter.reaches({ 'page_view /app/': 1, 'page_view /app/one': 1 })
    await navigate('/app/one?page=2')
    await counter.reaches({ 'page_view /app/': 1, 'page_view /app/one': 2 })
    await navigate('/app/one?page=3', { history: 'replace' })
    await navigate('/app/two', { history: 'replace' })
    await counter.reaches({ 'page_view /app/': 1, 'page_view /app/one': 2, 'page_view /app/two': 1 })
    await page.goBack()
    await counter.has({ 'page_view /app/': 1, 'page_view /app/one': 3, 'page_view /app/two': 1 }, page)
    expect(said).toEqual([])
  })
})

describe('back and forward', () => {
  it('between pages count, even if the page comes from the back/forward cache', async () => {
    await visit('/')
    // Pages with open requests need not be kept.
    await settled(page)
    await page.evaluate(() => Object.assign(window, { left: true }))
    await visit('/downloads')
    await counter.has({ 'page_view /': 1, 'page_view /downloads': 1 }, page)
    // The page is not loaded again, so there is no load event to wait for.
    await page.goBack({ waitUntil: 'commit' })
    // The same page, not a new one. Otherwise this would not test the back/forward cache.
    expect(await page.evaluate(() => 'left' in window)).toBe(true)
    await counter.has({ 'page_view /': 2, 'page_view /downloads': 1 }, page)
    await page.goForward({ waitUntil: 'commit' })
    await counter.has({ 'page_view /': 2, 'page_view /downloads': 2 }, page)
  })
})
