import type { BrowserContextOptions, CDPSession, Page } from 'playwright-core'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { readReleases } from '../../scripts/assets/beacon-releases.ts'
import { type Chromium, chromiumOfFile, consoleOf, launchChromium } from './chromium.ts'
import { counterOfFile, startCounter } from './shipped-worker.ts'
import { startProxy, startSite } from './test-site.ts'

const SITE = 'blog.example'

/** With a name, the site is not the counter's site, and is counted without data-local. */
const RESOLVED = { args: [`--host-resolver-rules=MAP ${SITE} 127.0.0.1`] }

const browser = chromiumOfFile(RESOLVED)
const counter = counterOfFile({
  COUNTERS: {
    page_view: { record_type: 1, public: true, allowed_origins: ['*'] },
    download: { record_type: 2, public: true, allowed_origins: ['*'] },
    with_programs: { record_type: 3, allowed_origins: ['*'], count_automated: true },
  },
})
afterEach(() => counter.clear())

const tagOf = (url: string, attributes = '') => `<script defer src="${url}/slotted.js" ${attributes}></script>`
const html = (head: string, body = '') =>
  `<!doctype html><title>A page</title><link rel="icon" href="data:,">${head}${body}`

/** What differs when a site is visited. */
interface Visit extends BrowserContextOptions {
  host?: string
  /** Called before the page is loaded. */
  before?: (tab: Page) => Promise<unknown>
}

/** Visits a page of a new site, and records its messages on the console. */
async function visit(
  page: { html: string; headers?: Record<string, string> },
  { host = SITE, before, ...options }: Visit = {},
): Promise<{ tab: Page; said: string[] }> {
  const site = await startSite({ '/page': page, '/other': page })
  const context = await browser.newContext(options)
  const said = consoleOf(context)
  const tab = await context.newPage()
  await before?.(tab)
  await tab.goto(`http://${host}:${site.port}/page`)
  return { tab, said }
}

/** Calls the function of the script, and keeps the page busy for some milliseconds after that. */
const call = (tab: Page, what: string[], busyMs = 0) =>
  tab.evaluate(
    ([what, busyMs]) => {
      const { slottedCounter } = window as unknown as { slottedCounter: (...what: string[]) => Promise<void> }
      const called = slottedCounter(...what)
      for (const end = Date.now() + busyMs; Date.now() < end; );
      return busyMs === 0 ? called : undefined
    },
    [what, busyMs] as const,
  )

describe('another site', () => {
  it('is counted without messages on the console', async () => {
    const { tab, said } = await visit({ html: html(tagOf(counter.url)) })
    await counter.has({ 'page_view /page': 1 }, tab)
    expect(said).toEqual([])
  })

  it('counts under the key and the type of the tag, and for calls of slottedCounter', async () => {
    const { tab, said } = await visit({
      html: html(tagOf(counter.url, 'data-key="a page & more" data-type="download"')),
    })
    await counter.reaches({ 'download a page & more': 1 })
    await call(tab, [])
    await call(tab, ['by hand', 'page_view'])
    await counter.has({ 'download a page & more': 2, 'page_view by hand': 1 }, tab)
    expect(said).toEqual([])
  })

  it('that has the tag twice is counted once', async () => {
    const { tab } = await visit({ html: html(tagOf(counter.url) + tagOf(counter.url)) })
    await counter.has({ 'page_view /page': 1 }, tab)
  })

  it('that includes a release with integrity is counted', async () => {
    const { version, integrity } = (await readReleases()).at(-1)!
    const src = `${counter.url}/slotted-${version}.js`
    const { tab } = await visit({
      html: html(`<script async src="${src}" integrity="${integrity}" crossorigin></script>`),
    })
    await counter.has({ 'page_view /page': 1 }, tab)
  })

  it('with the tag before its canonical link is counted under that link', async () => {
    const tag = tagOf(counter.url).replace('defer', 'async')
    const one = await visit({ html: html(tag, `<p>text</p><link rel="canonical" href="/canonical?x">`) })
    await counter.reaches({ 'page_view /canonical?x': 1 })
    const two = await visit({ html: html(tagOf(counter.url), `<link rel="canonical" href="http://[">`) })
    await counter.has({ 'page_view /canonical?x': 1, 'page_view /page': 1 }, one.tab, two.tab)
  })
})

describe('a page that is one of several sites', () => {
  it('has the prefix in front of all its keys: views, downloads, calls and numbers', async () => {
    const body = '<a href="#file" data-download="app.zip">app</a><b data-counter></b><i data-counter="/other">many</i>'
    const { tab } = await visit({ html: html(tagOf(counter.url, 'data-prefix="blog.example"'), body) })
    await counter.reaches({ 'page_view blog.example/page': 1 })
    await tab.click('a')
    await call(tab, ['/other'])
    const counts = {
      'page_view blog.example/page': 1,
      'page_view blog.example/other': 1,
      'download blog.exampleapp.zip': 1,
    }
    await counter.has(counts, tab)
    await expect.poll(() => tab.textContent('b')).toBe('1')
    await expect.poll(() => tab.textContent('i')).toBe('1')
  })
})

describe('a browser that a program drives', () => {
  it('says so with each hit, which counts only if the type says so, and others say nothing', async () => {
    const driven = await launchChromium({ automated: true, ...RESOLVED })
    onTestFinished(() => driven.close())
    const tabs: Page[] = []
    const hitOf = async (browser: Pick<Chromium, 'newContext'>, type: string) => {
      const site = await startSite({ '/page': { html: html(tagOf(counter.url, `data-type="${type}"`)) } })
      const context = await browser.newContext()
      const tab = await context.newPage()
      tabs.push(tab)
      const answered = tab.waitForResponse((response) => response.url().startsWith(`${counter.url}/hit`))
      await tab.goto(`http://${SITE}:${site.port}/page`)
      const answer = await answered
      const says = [...new URL(answer.url()).searchParams].sort().map(([name, value]) => `${name}=${value}`)
      return { says, hit: await answer.headerValue('X-Hit') }
    }
    expect(await hitOf(driven, 'page_view')).toEqual({
      says: ['automated=1', 'key=/page', 'type=page_view'],
      hit: 'ignored; reason=automated',
    })
    expect(await hitOf(driven, 'with_programs')).toEqual({
      says: ['automated=1', 'key=/page', 'type=with_programs'],
      hit: 'counted',
    })
    expect(await hitOf(browser, 'page_view')).toEqual({
      says: ['automated=0', 'key=/page', 'type=page_view'],
      hit: 'counted',
    })
    await counter.has({ 'with_programs /page': 1, 'page_view /page': 1 }, ...tabs)
  })
})

describe('where it has no tag of its own', () => {
  const svg = (tag: string) => `<svg xmlns="http://www.w3.org/2000/svg">${tag}</svg>`
  const evaluate = (how: string) =>
    `<script>const element = document.createElement('script'); fetch('URL').then((it) => it.text()).then((text) => ${how})</script>`
  it.each([
    ['a module', '<script type="module" src="URL"></script>', {}],
    ['an SVG document', svg('<script href="URL"/>'), { 'Content-Type': 'image/svg+xml' }],
    ['a loader that evaluates it', evaluate('(0, eval)(text)'), {}],
    ['a loader that adds its text', evaluate('document.body.append(Object.assign(element, { text }))'), {}],
  ])('in %s, the script throws nothing, and says on the console what it needs', async (_, page, headers) => {
    const whole = page.startsWith('<svg') ? page : html('', page)
    const { tab, said } = await visit({ html: whole.replace('URL', `${counter.url}/slotted.js`), headers })
    await expect.poll(() => said).toEqual(['log: needs <script>'])
    await counter.has({}, tab)
  })
})

describe('on this machine', () => {
  it.each(['localhost', '127.0.0.1'])('%s is not counted unless the tag says so, as the console says', async (host) => {
    const { tab, said } = await visit({ html: html(tagOf(counter.url)) }, { host })
    await counter.has({}, tab)
    expect(said).toEqual(['log: needs data-local'])
    const local = await visit({ html: html(tagOf(counter.url, 'data-local')) }, { host })
    await counter.has({ 'page_view /page': 1 }, tab, local.tab)
    expect(local.said).toEqual([])
  })
})

describe('a type that only some sites may count', () => {
  it('is counted for them, even if the page sends no referrer', async () => {
    const strict = { html: '', headers: { 'Referrer-Policy': 'no-referrer' } }
    const site = await startSite({ '/page': strict })
    // Without a type that the other site may count: it could read the answers then, and its console would stay silent.
    const own = await startCounter({
      COUNTERS: { page_view: { record_type: 1, allowed_origins: [`http://${SITE}:${site.port}`] } },
    })
    strict.html = html(tagOf(own.url))
    const context = await browser.newContext()
    const said = consoleOf(context)
    const tab = await context.newPage()
    await tab.goto(`http://${SITE}:${site.port}/page`)
    await own.has({ 'page_view /page': 1 }, tab)
    expect(said).toEqual([])
    // Another site is not counted in any way, and its owner can see why.
    const other = await visit({ html: html(tagOf(own.url)) })
    await expect.poll(() => other.said.join()).toContain('CORS')
    await own.has({ 'page_view /page': 1 }, tab, other.tab)
  })
})

describe('a Content-Security-Policy', () => {
  const policy = (connect: string, image = '') => ({
    'Content-Security-Policy': `default-src 'none'; script-src ${counter.url}; connect-src ${connect}; img-src data: ${image}`,
  })

  it('that allows only the script and requests to the counter is enough, with Trusted Types too', async () => {
    const { 'Content-Security-Policy': text } = policy(counter.url)
    const headers = { 'Content-Security-Policy': `${text}; require-trusted-types-for 'script'; trusted-types 'none'` }
    const { tab, said } = await visit({ html: html(tagOf(counter.url), '<b data-counter>…</b>'), headers })
    await counter.has({ 'page_view /page': 1 }, tab)
    await expect.poll(() => tab.textContent('b')).toBe('1')
    expect(said).toEqual([])
  })

  it('that allows only images leads to one count per view, by the pixel', async () => {
    const { tab } = await visit({ html: html(tagOf(counter.url)), headers: policy("'none'", counter.url) })
    await counter.reaches({ 'page_view /page': 1 })
    await tab.evaluate(() => history.pushState(null, '', '/other'))
    await counter.has({ 'page_view /page': 1, 'page_view /other': 1 }, tab)
  })

  it('leads to the pixel on a processor four times as slow, once even if two policies block the request', async () => {
    const { 'Content-Security-Policy': text } = policy("'none'", counter.url)
    const page = { html: html(tagOf(counter.url)), headers: { 'Content-Security-Policy': `${text}, ${text}` } }
    const { tab } = await visit(page, {
      before: async (tab) =>
        (await tab.context().newCDPSession(tab)).send('Emulation.setCPUThrottlingRate', { rate: 4 }),
    })
    await counter.has({ 'page_view /page': 1 }, tab)
  })

  it('leads to the pixel even if the page is busy when the request is blocked', async () => {
    const { tab } = await visit({ html: html(tagOf(counter.url)), headers: policy("'none'", counter.url) })
    await call(tab, ['busy'], 300)
    await counter.has({ 'page_view /page': 1, 'page_view busy': 1 }, tab)
  })

  it('that only reports makes no difference', async () => {
    const reported = { 'Content-Security-Policy-Report-Only': policy("'none'")['Content-Security-Policy'] }
    const { tab } = await visit({ html: html(tagOf(counter.url)), headers: reported })
    await counter.reaches({ 'page_view /page': 1 })
    await tab.evaluate(() => history.pushState(null, '', '/other'))
    await counter.has({ 'page_view /page': 1, 'page_view /other': 1 }, tab)
  })
})

describe('without scripts', () => {
  it('the pixel counts', async () => {
    const pixel = `${counter.url}/hit.gif?key=%2Fpage&amp;type=page_view`
    const body = `<noscript><img src="${pixel}" alt=""></noscript>`
    await visit({ html: html(tagOf(counter.url), body) }, { javaScriptEnabled: false })
    await counter.reaches({ 'page_view /page': 1 })
    // With scripts, the pixel adds nothing.
    const { tab } = await visit({ html: html(tagOf(counter.url), body) })
    await counter.has({ 'page_view /page': 2 }, tab)
  })
})

describe('a request that fails', () => {
  /** Refuses hits as blockers do: the browser refuses the request before it leaves. */
  async function block(tab: Page): Promise<CDPSession> {
    const devTools = await tab.context().newCDPSession(tab)
    await devTools.send('Network.enable')
    await devTools.send('Network.setBlockedURLs', { urls: ['*/hit?*'] })
    return devTools
  }

  // The beacon tells a blocker by how soon the browser refused the request, and rather misses a view than invents one. A machine
  // that stalls makes the browser too late, so that the view must not count. What counts is what the browser told the beacon.
  /** The bound of the beacon, in milliseconds. */
  const REFUSED_MS = 20
  /** The most requests until the browser has been quick often enough. */
  const MOST_REQUESTS = 50
  /** In the page: keeps what the beacon is told about how long its request took. */
  const keepWhatIsTold = () => {
    const real = performance.getEntriesByName.bind(performance)
    performance.getEntriesByName = (name, type) => {
      const entries = real(name, type)
      Object.assign(window, { told: { [name]: entries.at(-1)?.duration ?? null } })
      return entries
    }
  }
  /** Waits until the beacon has asked about a hit under a key. Returns whether it was refused so soon that the pixel must follow. */
  async function refusedSoon(tab: Page, key: string): Promise<boolean> {
    const told = await tab.waitForFunction(
      (query) => {
        const { told = {} } = window as unknown as { told?: Record<string, number | null> }
        return Object.entries(told).find(([url]) => url.includes(query))
      },
      `?${new URLSearchParams({ key })}&`,
    )
    const [, ms] = (await told.jsonValue()) as [string, number | null]
    return ms !== null && ms < REFUSED_MS
  }

  it.each([1, 4])(
    'because a blocker refuses it is followed by the pixel, on a processor %i times as slow',
    async (rate) => {
      const site = await startSite({ '/page': { html: html(tagOf(counter.url)) } })
      const context = await browser.newContext()
      await context.addInitScript(keepWhatIsTold)
      let counted = 0
      for (let views = 0; counted < 3; views++) {
        expect(views).toBeLessThan(MOST_REQUESTS)
        const tab = await context.newPage()
        const devTools = await block(tab)
        await devTools.send('Emulation.setCPUThrottlingRate', { rate })
        await tab.goto(`http://${SITE}:${site.port}/page`)
        if (await refusedSoon(tab, '/page')) counted++
        await counter.has(counted === 0 ? {} : { 'page_view /page': counted }, tab)
        await tab.close()
      }
    },
  )

  it('because a blocker refuses it is followed by the pixel even if the page is busy', async () => {
    const { tab } = await visit({ html: html(tagOf(counter.url)) })
    const expected: Record<string, number> = { 'page_view /page': 1 }
    await counter.reaches(expected)
    await block(tab)
    await tab.evaluate(keepWhatIsTold)
    for (let requests = 0; Object.keys(expected).length < 2; requests++) {
      expect(requests).toBeLessThan(MOST_REQUESTS)
      const key = `busy-${requests}`
      await call(tab, [key], 300)
      if (await refusedSoon(tab, key)) expected[`page_view ${key}`] = 1
      await counter.has(expected, tab)
    }
  })

  it.each([
    ['', {}],
    [', even if a policy reports it', { 'Content-Security-Policy-Report-Only': "connect-src 'none'; img-src http:" }],
  ])('after it was counted is not sent again%s', async (_, headers: Record<string, string>) => {
    const seen: string[] = []
    const proxy = await startProxy(counter.url, async ({ method, url = '' }) => {
      if (!url.startsWith('/hit')) return undefined
      seen.push(`${method} ${url}`)
      await new Promise((done) => setTimeout(done, 100))
      return 'drop'
    })
    const { tab } = await visit({ html: html(tagOf(proxy.url)), headers })
    await counter.reaches({ 'page_view /page': 1 })
    await tab.evaluate(() => history.pushState(null, '', '/other'))
    await counter.has({ 'page_view /page': 1, 'page_view /other': 1 }, tab)
    // The type comes last: lists of blockers name `?type=pageview&`.
    expect(seen).toEqual(['page', 'other'].map((key) => `POST /hit?key=%2F${key}&automated=0&type=page_view`))
  })
})
