import { mkdtemp } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished } from 'vitest'
import { ServerProcess } from '../../local/processes/server-process.ts'
import { openWindow } from './background-tabs.ts'
import { CHROMIUM_ARGUMENTS, chromiumOfFile, SETTLE_MS } from './chromium.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startProxy, startServer } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()
const tagOf = ({ url }: { url: string }) => `<!doctype html><script defer src="${url}/slotted.js" data-local></script>`

/** Starts Chromium without Playwright, because it does not prerender under Playwright. */
async function chromiumAlone(url: string): Promise<void> {
  const directory = await mkdtemp(join(inject('scratch'), 'chromium-'))
  const process = await ServerProcess.start({
    name: 'chromium',
    command: inject('chromium'),
    args: ['--headless', ...CHROMIUM_ARGUMENTS, '--no-first-run', `--user-data-dir=${directory}`, url],
    records: directory,
    marker: directory,
    output: 'pipe',
    graceMs: 5_000,
  })
  process.stdout?.resume()
  process.stderr?.resume()
  onTestFinished(() => process.stop())
}

it('a background tab counts once, when it is shown, and pages that it left unseen do not count', async () => {
  const tells = `<script>
    let settled = ''
    const tell = () => { document.title = location.pathname + settled + ' ' + document.visibilityState }
    addEventListener('visibilitychange', tell)
    tell()`
  const tag = tagOf(counter)
  const site = await startServer((request, response) => {
    response.setHeader('Content-Type', 'text/html')
    // The page goes from /passing to /other, and from there to /section within the page.
    if (request.url === '/passing') response.end(`${tag}${tells}; onload = () => { location.href = '/other' }</script>`)
    else if (request.url === '/other') {
      // What the script does about it, it does before this timer.
      const settles = `setTimeout(() => { settled = ' settled'; tell() }, ${SETTLE_MS})`
      const navigates = `onload = () => { history.pushState(null, '', '/section'); ${settles} }`
      response.end(`${tag}${tells}; ${navigates}</script>`)
    } else response.end(`${tag}${tells}</script>`)
  })
  const window = await openWindow(browser)
  const front = await window.open(`${site.url}/front`)
  const background = await window.open(`${site.url}/passing`, { background: true })
  await expect.poll(() => background.title()).toBe('/section settled hidden')
  await counter.has({ 'page_view /front': 1 })
  await background.show()
  await expect.poll(() => background.title()).toBe('/section settled visible')
  await counter.reaches({ 'page_view /front': 1, 'page_view /section': 1 })
  await front.show()
  await expect.poll(() => background.title()).toBe('/section settled hidden')
  await background.show()
  await expect.poll(() => background.title()).toBe('/section settled visible')
  await counter.has({ 'page_view /front': 1, 'page_view /section': 1 })
  await counter.clear()
})

it('a prerendered page counts when the visitor opens it, and not before', async () => {
  const rules = '{"prerender":[{"source":"list","urls":["/next"],"eagerness":"immediate"}]}'
  const said: string[] = []
  const purposes: unknown[] = []
  const proxy = await startProxy(counter.url, async ({ url = '', headers }) => {
    if (url.startsWith('/hit?')) purposes.push(headers['sec-purpose'])
    return undefined
  })
  const tag = tagOf(proxy)
  let going: ServerResponse | undefined
  const site = await startServer((request, response) => {
    response.setHeader('Content-Type', 'text/html')
    if (request.url === '/first') {
      // The page goes to the next one as soon as the test responds.
      const go = `<script>fetch('/go').then(() => { location.href = '/next' })</script>`
      response.end(`${tag}<script type="speculationrules">${rules}</script>${go}`)
    } else if (request.url === '/next') {
      const tells = `<script>
        fetch('/said?prerendering=' + document.prerendering)
        setTimeout(() => fetch('/said?settled'), ${SETTLE_MS})
        document.addEventListener('prerenderingchange', () => fetch('/said?activated'))
      </script>`
      response.end(tag + tells)
    } else if (request.url === '/go') going = response
    else {
      if (request.url!.startsWith('/said')) said.push(request.url!)
      response.end()
    }
  })
  await chromiumAlone(`${site.url}/first`)
  await expect.poll(() => said).toEqual(['/said?prerendering=true', '/said?settled'])
  await counter.has({ 'page_view /first': 1 })
  going!.end()
  await expect.poll(() => said).toEqual(['/said?prerendering=true', '/said?settled', '/said?activated'])
  await counter.has({ 'page_view /first': 1, 'page_view /next': 1 })
  // The Worker would not count a request that is still marked as prerendering.
  expect(purposes).toEqual([undefined, undefined])
  await counter.clear()
})
