import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readReleases } from '../../build/assets/beacon-release.ts'
import { consoleOf, launchChromium } from './chromium.ts'
import { type Counter, startCounter } from './shipped-worker.ts'
import { startProxy, startSite } from './test-site.ts'

const SITE = 'blog.example'

let browser: Browser
let counter: Counter
beforeAll(async () => {
  counter = await startCounter()
  // With a name, the site is not the counter's site, and is counted without data-local.
  browser = await launchChromium({ args: [`--host-resolver-rules=MAP ${SITE} 127.0.0.1`] })
})
afterAll(async () => {
  await browser?.close()
  await counter?.stop()
})
afterEach(() => counter.clear())

const tagOf = (url: string, attributes = '') => `<script defer src="${url}/beacon.js" ${attributes}></script>`
const html = (head: string, body = '') =>
  `<!doctype html><title>A page</title><link rel="icon" href="data:,">${head}${body}`

/** Visits a page of a new site, and records its messages on the console. */
async function visit(
  page: { html: string; headers?: Record<string, string> },
  { host = SITE, ...options }: BrowserContextOptions & { host?: string } = {},
): Promise<{ tab: Page; said: string[] }> {
  const site = await startSite({ '/page': page, '/other': page })
  const context = await browser.newContext(options)
  onTestFinished(async () => {
    await context.close()
    await site.stop()
  })
  const said = consoleOf(context)
  const tab = await context.newPage()
  await tab.goto(`http://${host}:${site.port}/page`)
  return { tab, said }
}

describe('another site', () => {
  it('is counted without messages on the console', async () => {
    const { said } = await visit({ html: html(tagOf(counter.url)) })
    await counter.has({ 'page_view /page': 1 })
    expect(said).toEqual([])
  })

  it('counts under the key and the type of the tag, and for calls of slottedCounter', async () => {
    const { tab, said } = await visit({
      html: html(tagOf(counter.url, 'data-key="a page & more" data-type="download"')),
    })
    await counter.has({ 'download a page & more': 1 })
    await tab.evaluate(async () => {
      const { slottedCounter } = window as unknown as { slottedCounter: (...what: string[]) => Promise<void> }
      await slottedCounter()
      await slottedCounter('by hand', 'page_view')
    })
    await counter.has({ 'download a page & more': 2, 'page_view by hand': 1 })
    expect(said).toEqual([])
  })

  it('that has the tag twice is counted once', async () => {
    await visit({ html: html(tagOf(counter.url) + tagOf(counter.url)) })
    await counter.has({ 'page_view /page': 1 })
  })

  it('that includes a release with integrity is counted', async () => {
    const { version, integrity } = (await readReleases()).at(-1)!
    const src = `${counter.url}/beacon/${version}.js`
    await visit({ html: html(`<script async src="${src}" integrity="${integrity}" crossorigin></script>`) })
    await counter.has({ 'page_view /page': 1 })
  })

  it('with the tag before its canonical link is counted under that link', async () => {
    const tag = tagOf(counter.url).replace('defer', 'async')
    await visit({ html: html(tag, `<p>text</p><link rel="canonical" href="/canonical?x">`) })
    await counter.has({ 'page_view /canonical': 1 })
    await counter.clear()
    await visit({ html: html(tagOf(counter.url), `<link rel="canonical" href="http://[">`) })
    await counter.has({ 'page_view /page': 1 })
  })
})

describe('a page that is one of several sites', () => {
  it('has the prefix in front of all its keys: views, downloads, calls and numbers', async () => {
    const body = '<a href="#file" data-download="app.zip">app</a><b data-counter></b><i data-counter="/other">many</i>'
    const { tab } = await visit({ html: html(tagOf(counter.url, 'data-prefix="blog.example"'), body) })
    await counter.has({ 'page_view blog.example/page': 1 })
    await tab.click('a')
    await tab.evaluate(async () => {
      const { slottedCounter } = window as unknown as { slottedCounter: (...what: string[]) => Promise<void> }
      await slottedCounter('/other')
    })
    await counter.has({
      'page_view blog.example/page': 1,
      'page_view blog.example/other': 1,
      'download blog.exampleapp.zip': 1,
    })
    await expect.poll(() => tab.textContent('b')).toBe('1')
    await expect.poll(() => tab.textContent('i')).toBe('1')
  })
})

describe('a browser that a program drives', () => {
  it('says so with each hit, which counts only if the type says so, and others say nothing', async () => {
    const driven = await launchChromium({ automated: true, args: [`--host-resolver-rules=MAP ${SITE} 127.0.0.1`] })
    onTestFinished(() => driven.close())
    const counting = await startCounter({
      COUNTERS: { page_view: { record_type: 1, public: true, allowed_origins: ['*'], count_automated: true } },
    })
    onTestFinished(() => counting.stop())
    const hitOf = async (browser: Browser, { url }: Counter) => {
      const site = await startSite({ '/page': { html: html(tagOf(url)) } })
      const context = await browser.newContext()
      onTestFinished(async () => {
        await context.close()
        await site.stop()
      })
      const tab = await context.newPage()
      const answered = tab.waitForResponse((response) => response.url().startsWith(`${url}/hit`))
      await tab.goto(`http://${SITE}:${site.port}/page`)
      const answer = await answered
      const says = [...new URL(answer.url()).searchParams].sort().map(([name, value]) => `${name}=${value}`)
      return { says, hit: await answer.headerValue('X-Hit') }
    }
    const plain = ['key=/page', 'type=page_view']
    const automated = ['automated=1', ...plain]
    expect(await hitOf(driven, counter)).toEqual({ says: automated, hit: 'ignored; reason=automated' })
    await counter.has({})
    expect(await hitOf(driven, counting)).toEqual({ says: automated, hit: 'counted' })
    await counting.has({ 'page_view /page': 1 })
    expect(await hitOf(browser, counter)).toEqual({ says: plain, hit: 'counted' })
    await counter.has({ 'page_view /page': 1 })
  })
})

describe('loaded as a module', () => {
  it('the script does nothing, and says on the console what to change', async () => {
    const { said } = await visit({ html: html(`<script type="module" src="${counter.url}/beacon.js"></script>`) })
    await expect.poll(() => said.join()).toContain('no type=module')
    await counter.has({})
  })
})

describe('on this machine', () => {
  it.each(['localhost', '127.0.0.1'])('%s is not counted unless the tag says so', async (host) => {
    const { said } = await visit({ html: html(tagOf(counter.url)) }, { host })
    await counter.has({})
    await visit({ html: html(tagOf(counter.url, 'data-local')) }, { host })
    await counter.has({ 'page_view /page': 1 })
    expect(said).toEqual([])
  })
})

describe('a type that only some sites may count', () => {
  it('is counted for them, even if the page sends no referrer', async () => {
    const strict = { html: '', headers: { 'Referrer-Policy': 'no-referrer' } }
    const site = await startSite({ '/page': strict })
    const own = await startCounter({
      COUNTERS: { page_view: { record_type: 1, key: 'string', allowed_origins: [`http://${SITE}:${site.port}`] } },
    })
    strict.html = html(tagOf(own.url))
    const context = await browser.newContext()
    onTestFinished(async () => {
      await context.close()
      await own.stop()
      await site.stop()
    })
    const said = consoleOf(context)
    const tab = await context.newPage()
    await tab.goto(`http://${SITE}:${site.port}/page`)
    await own.has({ 'page_view /page': 1 })
    expect(said).toEqual([])
    // Another site is not counted in any way, and its owner can see why.
    const other = await visit({ html: html(tagOf(own.url)) })
    await expect.poll(() => other.said.join()).toContain('CORS')
    await own.has({ 'page_view /page': 1 })
  })
})

describe('a Content-Security-Policy', () => {
  const policy = (connect: string, image = '') => ({
    'Content-Security-Policy': `default-src 'none'; script-src ${counter.url}; connect-src ${connect}; img-src data: ${image}`,
  })

  it('that allows only the script and requests to the counter is enough', async () => {
    const { said } = await visit({ html: html(tagOf(counter.url)), headers: policy(counter.url) })
    await counter.has({ 'page_view /page': 1 })
    expect(said).toEqual([])
  })

  it('that allows only images leads to one count per view, by the pixel', async () => {
    const { tab } = await visit({ html: html(tagOf(counter.url)), headers: policy("'none'", counter.url) })
    await counter.has({ 'page_view /page': 1 })
    await tab.evaluate(() => history.pushState(null, '', '/other'))
    await counter.has({ 'page_view /page': 1, 'page_view /other': 1 })
  })

  it('leads to the pixel on a processor four times as slow, once even if two policies block the request', async () => {
    const { 'Content-Security-Policy': text } = policy("'none'", counter.url)
    const site = await startSite({
      '/page': { html: html(tagOf(counter.url)), headers: { 'Content-Security-Policy': `${text}, ${text}` } },
    })
    const context = await browser.newContext()
    onTestFinished(async () => {
      await context.close()
      await site.stop()
    })
    const tab = await context.newPage()
    await (await context.newCDPSession(tab)).send('Emulation.setCPUThrottlingRate', { rate: 4 })
    await tab.goto(`http://${SITE}:${site.port}/page`)
    await counter.has({ 'page_view /page': 1 })
  })

  it('leads to the pixel even if the page is busy when the request is blocked', async () => {
    const { tab } = await visit({ html: html(tagOf(counter.url)), headers: policy("'none'", counter.url) })
    await tab.evaluate(() => {
      const { slottedCounter } = window as unknown as { slottedCounter: (...what: string[]) => Promise<void> }
      void slottedCounter('busy')
      for (const end = Date.now() + 300; Date.now() < end; );
    })
    await counter.has({ 'page_view /page': 1, 'page_view busy': 1 })
  })

  it('that only reports makes no difference', async () => {
    const reported = { 'Content-Security-Policy-Report-Only': policy("'none'")['Content-Security-Policy'] }
    const { tab } = await visit({ html: html(tagOf(counter.url)), headers: reported })
    await counter.has({ 'page_view /page': 1 })
    await tab.evaluate(() => history.pushState(null, '', '/other'))
    await counter.has({ 'page_view /page': 1, 'page_view /other': 1 })
  })
})

describe('without scripts', () => {
  it('the pixel counts', async () => {
    const pixel = `${counter.url}/hit.gif?type=page_view&amp;key=%2Fpage`
    const body = `<noscript><img src="${pixel}" alt=""></noscript>`
    await visit({ html: html(tagOf(counter.url), body) }, { javaScriptEnabled: false })
    await counter.has({ 'page_view /page': 1 })
    await counter.clear()
    // With scripts, the pixel adds nothing.
    await visit({ html: html(tagOf(counter.url), body) })
    await counter.has({ 'page_view /page': 1 })
  })
})

describe('a request that fails', () => {
  // As blockers do it: the browser refuses the request before it leaves.
  const BLOCKED = { urls: ['*/hit?*'] }

  it.each([1, 2, 4])(
    'because a blocker refuses it is followed by the pixel, on a processor %i times as slow',
    async (rate) => {
      const site = await startSite({ '/page': { html: html(tagOf(counter.url)) } })
      const context = await browser.newContext()
      onTestFinished(async () => {
        await context.close()
        await site.stop()
      })
      for (let views = 1; views <= 3; views++) {
        const tab = await context.newPage()
        const devTools = await context.newCDPSession(tab)
        await devTools.send('Emulation.setCPUThrottlingRate', { rate })
        await devTools.send('Network.enable')
        await devTools.send('Network.setBlockedURLs', BLOCKED)
        await tab.goto(`http://${SITE}:${site.port}/page`)
        await counter.has({ 'page_view /page': views })
        await tab.close()
      }
    },
  )

  it('because a blocker refuses it is followed by the pixel even if the page is busy', async () => {
    const { tab } = await visit({ html: html(tagOf(counter.url)) })
    await counter.has({ 'page_view /page': 1 })
    const devTools = await tab.context().newCDPSession(tab)
    await devTools.send('Network.enable')
    await devTools.send('Network.setBlockedURLs', BLOCKED)
    await tab.evaluate(() => {
      const { slottedCounter } = window as unknown as { slottedCounter: (...what: string[]) => Promise<void> }
      void slottedCounter('busy')
      for (const end = Date.now() + 300; Date.now() < end; );
    })
    await counter.has({ 'page_view /page': 1, 'page_view busy': 1 })
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
    onTestFinished(() => proxy.stop())
    const { tab } = await visit({ html: html(tagOf(proxy.url)), headers })
    await counter.has({ 'page_view /page': 1 })
    expect(seen).toEqual(['POST /hit?type=page_view&key=%2Fpage'])
    await tab.evaluate(() => history.pushState(null, '', '/other'))
    await counter.has({ 'page_view /page': 1, 'page_view /other': 1 })
  })
})
