import { expect, it } from 'vitest'
import { chromiumOfFile, consoleOf } from './chromium.ts'
import { counterUrl, openMenu, signedIn, typeUrl, watch } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startDemo, startSite } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile({ BASE_PATH: '/counter' })

it('Under a base path the dashboard shows and changes counters, and never leaves the path', async () => {
  const context = await browser.newContext()
  const violations = await watch(context, counter)
  await counter.add('page_view', '/a b', 41)
  const page = await signedIn(context, counter)
  expect(page.url()).toBe(typeUrl(counter))
  await page.getByRole('link', { name: 'Slotted Counter' }).click()
  await page.locator('.type a').first().click()
  await page.locator('#top a').first().click()
  await page.waitForURL(counterUrl(counter, 'page_view', '/a b'))
  await expect.poll(() => page.textContent('#tile-all b')).toBe('41')
  await page.getByText('Change this counter').click()
  await page.fill('#other-key', '/renamed')
  await page.getByRole('button', { name: 'Rename …' }).click()
  await page.locator('#confirm-button').click()
  await page.waitForURL(counterUrl(counter, 'page_view', '/renamed'))
  await expect.poll(() => page.textContent('h1')).toBe('/renamed')
  expect(await page.textContent('#tile-all b')).toBe('41')
  await openMenu(page)
  await page.getByRole('button', { name: 'Do not count this browser' }).click()
  await openMenu(page)
  await page.getByRole('button', { name: 'Count this browser again' }).waitFor()
  expect(page.url()).toBe(counterUrl(counter, 'page_view', '/renamed'))
  await page.getByRole('link', { name: 'API' }).click()
  await page.waitForURL(`${counter.url}/docs`)
  // A page from the back/forward cache does not fire "load" again.
  await page.goBack({ waitUntil: 'commit' })
  await openMenu(page)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API token').waitFor()
  expect(page.url()).toBe(`${counter.url}/`)
  expect(violations).toEqual({ foreign: [], messages: [] })
  await counter.clear()
})

it('Under a base path the script counts, shows counts and leaves downloads to /d/', async () => {
  const demo = await startDemo(counter)
  const context = await browser.newContext()
  const said = consoleOf(context)
  const tab = await context.newPage()
  await tab.goto(demo.url)
  await expect.poll(() => tab.textContent('footer b')).toBe('1')
  await counter.has({ 'page_view /': 1 }, tab)
  expect(said).toEqual([])
})

it('The script asks below the path that it comes from', async () => {
  const script = await (await fetch(`${counter.url}/slotted.js`)).text()
  const asked: string[] = []
  const tab = await (await browser.newContext()).newPage()
  await tab.route('https://counter.example/**', (route) => {
    const { pathname } = new URL(route.request().url())
    if (pathname.endsWith('.js')) return route.fulfill({ contentType: 'text/javascript', body: script })
    asked.push(pathname)
    return route.fulfill({ status: 204, headers: { 'Access-Control-Allow-Origin': '*' } })
  })
  for (const [path, base] of [
    ['/counter/slotted.js', '/counter'],
    ['/counter/slotted-1.0.0.js', '/counter'],
    ['/counter/slotted.js?v=2/3', '/counter'],
    ['/slotted-1.0.0.js', ''],
    ['/beta/slotted/slotted.js', '/beta/slotted'],
    ['/js/page.js', '/js'],
  ]) {
    const tag = `<script defer data-local src="https://counter.example${path}"></script>`
    const site = await startSite({ '/': { html: `<!doctype html><title>page</title>${tag}` } })
    await tab.goto(site.url)
    await expect.poll(() => asked.splice(0), { message: path! }).toEqual([`${base}/hit`])
  }
})
