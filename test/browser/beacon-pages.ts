import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterEach, expect } from 'vitest'
import { type Chromium, chromiumOfFile, consoleOf } from './chromium.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startServer } from './test-site.ts'

/** With a name, a site is neither the counter's own nor on this machine. */
export const SITE = 'blog.example'
export const RESOLVED = ['--host-resolver-rules=MAP *.example 127.0.0.1']
const ANY_ORIGIN = { public: true, allowed_origins: ['*'] }

interface Options {
  host?: string
  path?: string
  headers?: Record<string, string>
  by?: Chromium
  /** Where the script comes from. */
  from?: string
  /** The attributes of the script. */
  tag?: string
  /** What takes the place of the tag. */
  script?: string
  context?: BrowserContextOptions
  /** Called before the page is loaded. */
  before?: (tab: Page) => Promise<unknown>
}

/** A browser and a Worker for the tests of a file, and `open` for pages with the script. @param settings further ones */
export function pagesOfFile(settings = {}) {
  const browser = chromiumOfFile(RESOLVED)
  const counter = counterOfFile({
    ...settings,
    COUNTERS: {
      page_view: { record_type: 1, ...ANY_ORIGIN, prefixes: [SITE], new_keys_per_minute: 10_000 },
      download: { record_type: 2, ...ANY_ORIGIN, prefixes: [`${SITE}/app-`], redirect_to: '/files/' },
      with_programs: { record_type: 3, ...ANY_ORIGIN, public: false, count_automated: true },
    },
  })
  afterEach(() => counter.clear())
  /** Opens a page. Returns the tab, what it says on the console, and the names in each request for counts. */
  async function open(body = '', options: Options = {}) {
    const { host = SITE, path = '/page', headers, from = counter.url, tag = '', by = browser, before } = options
    const { script = `<script defer src="${from}/slotted.js" ${tag}></script>`, context: more = {} } = options
    const isSvg = script.startsWith('<svg')
    const html = `<!doctype html><title>A page</title><link rel="icon" href="data:,">${script}${body}`
    const site = await startServer((_, response) => {
      const type = isSvg ? 'image/svg+xml' : 'text/html; charset=utf-8'
      response.writeHead(200, { 'Content-Type': type, ...headers }).end(isSvg ? script : html)
    })
    const context = await by.newContext(more)
    const asked: string[][] = []
    context.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.endsWith('/v1/shown')) asked.push(searchParams.getAll('of'))
    })
    const said = consoleOf(context)
    const tab = await context.newPage()
    await before?.(tab)
    await tab.goto(`http://${host}:${site.port}${path}`)
    return { tab, said, asked }
  }
  return { browser, counter, open }
}

/** Calls the function of the script, and keeps the page busy for some milliseconds after that. */
export const call = (tab: Page, what: string[] = [], busyMs = 0) =>
  tab.evaluate(`{
    const called = slottedCounter(...${JSON.stringify(what)})
    for (const end = Date.now() + ${busyMs}; Date.now() < end; );
    ${busyMs} === 0 ? called : undefined
  }`)

export const shows = (tab: Page, selector: string, text: string) =>
  expect.poll(() => tab.textContent(selector)).toBe(text)

export const goTo = (tab: Page, path: string) => tab.evaluate((path) => history.pushState(null, '', path), path)

export const views = (counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).map(([path, count]) => [`page_view ${path}`, count]))
