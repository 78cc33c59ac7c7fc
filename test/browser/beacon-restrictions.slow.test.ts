import { describe, expect, it, onTestFinished } from 'vitest'
import { readReleases } from '../../scripts/assets/beacon-releases.ts'
import { call, goTo, pagesOfFile, RESOLVED, SITE, shows } from './beacon-pages.ts'
import { launchChromium } from './chromium.ts'
import { startCounter } from './shipped-worker.ts'
import { type Page, startProxy, startSite } from './test-site.ts'

const { browser, counter, open } = pagesOfFile()
/** Fills in what is known only when the Worker runs. */
const filled = (text: string) => text.replaceAll('COUNTER', counter.url)
const SCRIPT = '<script defer src="COUNTER/slotted.js"></script>'

describe('A page is counted, and told nothing on the console,', () => {
  it.each([
    ['if it has the tag twice', SCRIPT + SCRIPT, '/page'],
    [
      'with the tag before its canonical link',
      `${SCRIPT.replace('defer', 'async')}<link rel="canonical" href="/c?x">`,
      '/c?x',
    ],
    ['whose canonical link is wrong', `${SCRIPT}<link rel="canonical" href="http://[">`, '/page'],
    [
      'whose Object.prototype and Array.prototype are extended',
      `<script>Object.prototype.each = Array.prototype.each = () => { throw 1 }</script>${SCRIPT}`,
      '/page',
    ],
    [
      'without sendBeacon, storage and cookies',
      `<script>
      navigator.sendBeacon = () => { throw 1 }
      for (const [of, name] of [[window, 'localStorage'], [window, 'sessionStorage'], [window, 'indexedDB'], [document, 'cookie']])
        Object.defineProperty(of, name, { get() { throw 1 } })
      </script>${SCRIPT}`,
      '/page',
    ],
    ['without a console', `<script>delete window.console</script>${SCRIPT}`, '/page'],
  ])('%s', async (_, script, key) => {
    const { tab, said } = await open('<b data-counter>…</b>', { script: filled(script) })
    await shows(tab, 'b', '1')
    await goTo(tab, '/next')
    await counter.has({ [`page_view ${key}`]: 1, 'page_view /next': 1 }, tab)
    expect(said).toEqual([])
  })

  it('that includes a release with integrity, under the key and the type of the tag, and for each call', async () => {
    const { version, integrity } = (await readReleases()).at(-1)!
    const src = `${counter.url}/slotted-${version}.js`
    const { tab, said } = await open('', {
      script: `<script async src="${src}" integrity="${integrity}" crossorigin data-key="a page & more" data-type="download"></script>`,
    })
    await counter.reaches({ 'download a page & more': 1 })
    await call(tab)
    await call(tab, ['by hand', 'page_view'])
    await counter.has({ 'download a page & more': 2, 'page_view by hand': 1 }, tab)
    expect(said).toEqual([])
  })
})

describe('The script throws nothing into a page', () => {
  const evaluate = (how: string) =>
    `<script>const element = document.createElement('script'); fetch('COUNTER/slotted.js').then((it) => it.text()).then((text) => ${how})</script>`
  const module = SCRIPT.replace('defer', 'type="module"')
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script href="COUNTER/slotted.js"/></svg>`
  const needs = ['log: needs script']
  it.each<[string, string, string[], object?]>([
    ['in a module', module, needs],
    ['in a module without a console', `<script>delete window.console</script>${module}`, []],
    ['in an SVG document', svg, needs, { 'Content-Type': 'image/svg+xml' }],
    ['of a loader that evaluates it', evaluate('(0, eval)(text)'), needs],
    ['of a loader that adds its text', evaluate('document.body.append(Object.assign(element, { text }))'), needs],
    ['whose fetch throws', `<script>fetch = () => { throw 1 }</script>${SCRIPT}`, []],
    ['whose fetch returns nothing', `<script>fetch = () => {}</script>${SCRIPT}`, []],
  ])('%s, counts nothing, and says on the console what it needs', async (_, script, lines, headers = {}) => {
    const { tab, said } = await open('<b>text</b>', { script: filled(script), headers: { ...headers } })
    await goTo(tab, '/next')
    await counter.has({}, tab)
    expect(said).toEqual(lines)
  })
})

it('A browser that a program drives says so with each hit, which counts only if the type says so', async () => {
  const driven = await launchChromium(RESOLVED, true)
  onTestFinished(() => driven.close())
  for (const [type, automated, outcome] of [
    ['page_view', 1, 'ignored; reason=automated'],
    ['with_programs', 1, 'counted'],
    ['page_view', 0, 'counted'],
  ] as const) {
    const answers: (string | null)[][] = []
    const { tab } = await open('', {
      tag: `data-type="${type}"`,
      ...(automated && { by: driven }),
      before: async (tab) =>
        tab.on('response', async (response) => {
          if (response.url().includes('/hit'))
            answers.push([new URL(response.url()).search, await response.headerValue('X-Hit')])
        }),
    })
    await expect.poll(() => answers).toEqual([[`?key=%2Fpage&automated=${automated}&type=${type}`, outcome]])
    await tab.close()
  }
  await counter.has({ 'with_programs /page': 1, 'page_view /page': 1 })
})

it('A type that only some sites may count is counted for them if the page sends no referrer, also by the image', async () => {
  const pages: Record<string, Page> = {}
  const site = await startSite(pages)
  // Without a type that the other site may count: it could read the answers then, and its console would stay silent.
  const own = await startCounter({
    COUNTERS: { page_view: { record_type: 1, allowed_origins: [`http://${SITE}:${site.port}`] } },
  })
  const pixel = `<noscript><img src="${own.url}/hit.gif?key=%2Fpage&amp;type=page_view" referrerpolicy="origin" alt=""></noscript>`
  const html = SCRIPT.replace('COUNTER', own.url) + pixel
  for (const policy of ['no-referrer', 'same-origin', 'origin-when-cross-origin']) {
    pages['/page'] = { html, headers: { 'Referrer-Policy': policy } }
    for (const javaScriptEnabled of [true, false]) {
      const context = await browser.newContext({ javaScriptEnabled })
      const tab = await context.newPage()
      await tab.goto(`http://${SITE}:${site.port}/page`)
    }
  }
  await own.has({ 'page_view /page': 6 })
  // Another site is not counted in any way, and its owner can see why.
  const other = await open('', { from: own.url })
  await expect.poll(() => other.said.join()).toContain('CORS')
  await own.has({ 'page_view /page': 6 }, other.tab)
})

describe('A Content-Security-Policy', () => {
  const name = 'Content-Security-Policy'
  const policy = (more: string) => `default-src 'none'; script-src COUNTER; ${more}`
  const images = policy("connect-src 'none'; img-src data: COUNTER")
  it.each([
    [
      'allows only the script and requests, with Trusted Types',
      1,
      name,
      policy("connect-src COUNTER; img-src data:; require-trusted-types-for 'script'; trusted-types 'none'"),
    ],
    ['allows only the script and images', 1, name, images],
    ['allows only that twice, on a processor four times as slow', 4, name, `${images}, ${images}`],
    ['only reports', 1, `${name}-Report-Only`, policy("connect-src 'none'")],
  ])('that %s leads to one count per view, even of a busy page', async (_, rate, header, value) => {
    const { tab, said } = await open('<b data-counter>…</b>', {
      headers: { [header]: filled(value) },
      before: async (tab) => (await tab.context().newCDPSession(tab)).send('Emulation.setCPUThrottlingRate', { rate }),
    })
    await counter.reaches({ 'page_view /page': 1 })
    await goTo(tab, '/other')
    await call(tab, ['busy'], 300)
    await counter.has({ 'page_view /page': 1, 'page_view /other': 1, 'page_view busy': 1 }, tab)
    if (value.includes('trusted-types')) expect([await tab.textContent('b'), ...said]).toEqual(['1'])
  })
})

describe('A request that fails', () => {
  // The beacon tells a blocker by how soon the browser refused the request, and rather misses a view than invents one. A machine
  // that stalls makes the browser too late, so that the view must not count. What counts is what the browser told the beacon.
  /** The bound of the beacon, in milliseconds. */
  const REFUSED_MS = 20
  /** The most requests until the browser has been quick often enough. */
  const MOST_REQUESTS = 50

  it.each([
    [1, 0],
    [4, 0],
    [1, 300],
  ])(
    'because a blocker refuses it is followed by the pixel, on a processor %i times as slow, busy for %i ms',
    async (rate, busyMs) => {
      const { tab } = await open()
      const expected: Record<string, number> = { 'page_view /page': 1 }
      await counter.reaches(expected)
      // As blockers do: the browser refuses the request before it leaves.
      const devTools = await tab.context().newCDPSession(tab)
      await devTools.send('Network.enable')
      await devTools.send('Network.setBlockedURLs', { urls: ['*/hit?*'] })
      await devTools.send('Emulation.setCPUThrottlingRate', { rate })
      // Keeps what the beacon is told about how long its request took.
      await tab.evaluate(() => {
        const real = performance.getEntriesByName.bind(performance)
        performance.getEntriesByName = (name, type) => {
          const entries = real(name, type)
          Object.assign(window, { told: { url: name, ms: entries.at(-1)?.duration ?? null } })
          return entries
        }
      })
      for (let requests = 0; Object.keys(expected).length < 4; requests++) {
        expect(requests).toBeLessThan(MOST_REQUESTS)
        const key = `key-${requests}`
        await call(tab, [key], busyMs)
        const told = await tab.waitForFunction((part) => {
          const { told } = window as unknown as { told?: { url: string; ms: number | null } }
          return told?.url.includes(part) && told
        }, `?key=${key}&`)
        const { ms } = (await told.jsonValue()) as { ms: number | null }
        if (ms !== null && ms < REFUSED_MS) expected[`page_view ${key}`] = 1
        await counter.has(expected, tab)
      }
    },
  )

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
    const { tab } = await open('', { from: proxy.url, headers })
    await counter.reaches({ 'page_view /page': 1 })
    await goTo(tab, '/other')
    await counter.has({ 'page_view /page': 1, 'page_view /other': 1 }, tab)
    // The type comes last: lists of blockers name `?type=pageview&`.
    expect(seen).toEqual(['page', 'other'].map((key) => `POST /hit?key=%2F${key}&automated=0&type=page_view`))
  })
})
