import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { call, goTo, pagesOfFile, RESOLVED, SITE, shows } from './beacon-pages.ts'
import { launchChromium, settled } from './chromium.ts'
import { startCounter } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

const { browser, counter, open } = pagesOfFile()
/** Fills in what is known only when the Worker runs. */
const filled = (text: string) => text.replaceAll('COUNTER', counter.url)
const SCRIPT = '<script defer src="COUNTER/slotted.js"></script>'
const MODULE = SCRIPT.replace('defer', 'type="module"')
const NO_CONSOLE = '<script>delete window.console</script>'
const BLOCKED = `<script>
  navigator.sendBeacon = () => { throw 1 }
  for (const [of, name] of [[window, 'localStorage'], [window, 'sessionStorage'], [window, 'indexedDB'], [document, 'cookie']])
    Object.defineProperty(of, name, { get() { throw 1 } })
  </script>`
const loaded = (how: string) =>
  `<script>const element = document.createElement('script'); fetch('COUNTER/slotted.js').then((it) => it.text()).then((text) => ${how})</script>`
const [ASYNC, LINK] = [SCRIPT.replace('defer', 'async'), '<link rel="canonical" href="/c?x">']
const EXTENDED = '<script>Object.prototype.a = Array.prototype.a = () => { throw 1 }</script>'
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script href="COUNTER/slotted.js"/></svg>'
const NEEDS = ['log: needs src']

it.each([
  ['has the tag twice', SCRIPT + SCRIPT, '/page'],
  ['has the tag before its canonical link', ASYNC + LINK, '/c?x'],
  ['has a wrong canonical link', `${SCRIPT}<link rel="canonical" href="http://[">`, '/page'],
  ['extends prototypes', EXTENDED + SCRIPT, '/page'],
  ['has no sendBeacon, storage and cookies', BLOCKED + SCRIPT, '/page'],
  ['has no console', NO_CONSOLE + SCRIPT, '/page'],
])('A page that %s is counted, and told nothing on the console', async (_, script, key) => {
  const { tab, said } = await open('<b data-counter>…</b>', { script: filled(script) })
  await shows(tab, 'b', '1')
  await goTo(tab, '/next')
  await counter.has({ [`page_view ${key}`]: 1, 'page_view /next': 1 }, tab)
  expect(said).toEqual([])
})

it.each([
  ['has a module', MODULE, NEEDS],
  ['has a module and no console', NO_CONSOLE + MODULE, []],
  ['is an SVG document', SVG, NEEDS],
  ['evaluates the script', loaded('(0, eval)(text)'), NEEDS],
  ['adds its text', loaded('document.body.append(Object.assign(element, { text }))'), NEEDS],
  ['has a fetch that throws', `<script>fetch = () => { throw 1 }</script>${SCRIPT}`, []],
  ['has a fetch that returns nothing', `<script>fetch = () => {}</script>${SCRIPT}`, []],
])('A page that %s is not counted, and told what the script needs', async (_, script, lines) => {
  const { tab, said } = await open('<b>text</b>', { script: filled(script) })
  await goTo(tab, '/next')
  await counter.has({}, tab)
  expect(said).toEqual(lines)
})

it('A browser that a program controls says so with each hit, which counts only if the type says so', async () => {
  const driven = await launchChromium(RESOLVED, true)
  onTestFinished(() => driven.close())
  const sent: string[] = []
  for (const [type, by] of [
    ['page_view', driven],
    ['with_programs', driven],
    ['page_view', browser],
  ] as const) {
    const before = async (tab: Page) =>
      void tab.on('request', (request) => request.url().includes('/hit?') && sent.push(new URL(request.url()).search))
    const { tab } = await open('', { tag: `data-type="${type}"`, by, before })
    await settled(tab)
  }
  const [automated, not] = ['?automated=1&key=%2Fpage&type=', '?automated=0&key=%2Fpage&type=']
  // The type comes last: lists of blockers name `?type=pageview&`.
  expect(sent).toEqual([`${automated}page_view`, `${automated}with_programs`, `${not}page_view`])
  await counter.has({ 'with_programs /page': 1, 'page_view /page': 1 })
})

it('A type that only some sites may count is counted for them if the page sends no referrer, also by the image', async () => {
  const pages: Record<string, string> = {}
  const site = await startSite(pages)
  // Without a type that the other site may count: it could read the answers then, and its console would stay silent.
  const page_view = { record_type: 1, allowed_origins: [`http://${SITE}:${site.port}`] }
  const own = await startCounter({ COUNTERS: { page_view } })
  const pixel = `<noscript><img src="${own.url}/hit.gif?key=%2Fpage&amp;type=page_view" referrerpolicy="origin" alt=""></noscript>`
  for (const policy of ['no-referrer', 'same-origin', 'origin-when-cross-origin']) {
    pages['/page'] = `<meta name="referrer" content="${policy}">${SCRIPT.replace('COUNTER', own.url)}${pixel}`
    for (const javaScriptEnabled of [true, false]) {
      const tab = await (await browser.newContext({ javaScriptEnabled })).newPage()
      await tab.goto(`http://${SITE}:${site.port}/page`)
    }
  }
  await own.has({ 'page_view /page': 6 })
  // Another site is not counted in any way, and its owner can see why.
  const other = await open('', { from: own.url })
  await expect.poll(() => other.said.join()).toContain('CORS')
  await own.has({ 'page_view /page': 6 }, other.tab)
})

const name = 'Content-Security-Policy'
const policy = (more: string) => `default-src 'none'; script-src COUNTER; ${more}`
const images = policy("connect-src 'none'; img-src data: COUNTER")
const requests = "connect-src COUNTER; img-src data:; require-trusted-types-for 'script'; trusted-types 'none'"
it.each([
  ['allows only the script and requests, with Trusted Types', 1, name, policy(requests)],
  ['allows only the script and images', 1, name, images],
  ['allows only that twice, on a processor four times as slow', 4, name, `${images}, ${images}`],
  ['only reports', 1, `${name}-Report-Only`, policy("connect-src 'none'")],
])('A policy that %s leads to one count per view, even of a busy page', async (_, rate, header, value) => {
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

// The beacon tells a blocker by how soon the browser refused the request, and rather misses a view than invents one. A machine
// that stalls makes the browser too late, so that the view must not count. What counts is what the browser told the beacon.
it.each([
  [1, 0],
  [4, 0],
  [1, 300],
])('A blocked request is followed by the pixel, %i times as slow and busy for %i ms', async (rate, busyMs) => {
  const { tab } = await open()
  const expected: Record<string, number> = { 'page_view /page': 1 }
  await counter.reaches(expected)
  // As blockers do: the browser refuses the request before it leaves.
  const devTools = await tab.context().newCDPSession(tab)
  await devTools.send('Network.enable')
  await devTools.send('Network.setBlockedURLs', { urls: ['*/hit?*'] })
  await devTools.send('Emulation.setCPUThrottlingRate', { rate })
  // Keeps what the beacon is told about how long its request took.
  await tab.evaluate(`{
    const real = performance.getEntriesByName.bind(performance)
    performance.getEntriesByName = (url) => {
      const entries = real(url)
      window.told = { url, ms: entries.at(-1)?.duration ?? null }
      return entries
    }
  }`)
  for (let requests = 0; Object.keys(expected).length < 4; requests++) {
    expect(requests).toBeLessThan(50)
    const key = `key-${requests}`
    await call(tab, [key], busyMs)
    const told = await tab.waitForFunction(`window.told?.url.includes('&key=${key}&') && told`)
    const { ms } = (await told.jsonValue()) as { ms: number | null }
    if (ms !== null && ms < 20) expected[`page_view ${key}`] = 1
    await counter.has(expected, tab)
  }
})

it.each([
  ['', {}],
  [', even if a policy reports it', { 'Content-Security-Policy-Report-Only': "connect-src 'none'; img-src http:" }],
])('A request after it was counted is not sent again%s', async (_, headers: Record<string, string>) => {
  const seen: string[] = []
  const before = (tab: Page) =>
    tab.route('**/hit*?*', async (route) => {
      seen.push(`${route.request().method()} ${new URL(route.request().url()).pathname}`)
      await route.fetch()
      await new Promise((done) => setTimeout(done, 100))
      await route.abort()
    })
  const { tab } = await open('', { before, headers })
  await counter.reaches({ 'page_view /page': 1 })
  await goTo(tab, '/other')
  await counter.has({ 'page_view /page': 1, 'page_view /other': 1 }, tab)
  expect(seen).toEqual(['POST /hit', 'POST /hit'])
})
