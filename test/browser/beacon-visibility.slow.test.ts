import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished } from 'vitest'
import { ServerProcess } from '../../local/processes/server-process.ts'
import { openWindow } from './background-tabs.ts'
import { CHROMIUM_ARGUMENTS, chromiumOfFile, SETTLE_MS } from './chromium.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startProxy, startSite } from './test-site.ts'

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
  const page = (script: string) => ({
    html: `${tagOf(counter)}<script>
      let settled = ''
      const tell = () => { document.title = location.pathname + settled + ' ' + document.visibilityState }
      addEventListener('visibilitychange', tell)
      tell()
      ${script}</script>`,
  })
  // The page goes from /passing to /other, and from there to /section within the page. What the script does about it, it does
  // before the timer.
  const site = await startSite({
    '/front': page(''),
    '/passing': page(`onload = () => { location.href = '/other' }`),
    '/other': page(`onload = () => {
      history.pushState(null, '', '/section')
      setTimeout(() => { settled = ' settled'; tell() }, ${SETTLE_MS})
    }`),
  })
  const window = await openWindow(browser)
  const front = await window.open(`${site.url}/front`)
  const background = await window.open(`${site.url}/passing`, { background: true })
  const reaches = (state: string) => expect.poll(() => background.title()).toBe(`/section settled ${state}`)
  await reaches('hidden')
  await counter.has({ 'page_view /front': 1 })
  for (let times = 0; times < 2; times++) {
    await background.show()
    await reaches('visible')
    await counter.has({ 'page_view /front': 1, 'page_view /section': 1 })
    await front.show()
    await reaches('hidden')
  }
  await counter.clear()
})

it('a prerendered page counts when the visitor opens it, and not before', async () => {
  const rules = '{"prerender":[{"source":"list","urls":["/next"],"eagerness":"immediate"}]}'
  const said: string[] = []
  const purposes: unknown[] = []
  const { promise: going, resolve: go } = Promise.withResolvers<undefined>()
  const proxy = await startProxy(counter.url, async ({ url = '', headers }) => {
    if (url.startsWith('/hit?')) purposes.push(headers['sec-purpose'])
    // The first page goes to the next one as soon as the test responds.
    if (url === '/healthz?go') return going
    if (url.startsWith('/healthz')) said.push(url)
    return undefined
  })
  const tell = (what: string) => `fetch('${proxy.url}/healthz?' + ${what}, { mode: 'no-cors' })`
  const site = await startSite({
    '/first': {
      html: `${tagOf(proxy)}<script type="speculationrules">${rules}</script>
        <script>${tell('"go"')}.then(() => { location.href = '/next' })</script>`,
    },
    '/next': {
      html: `${tagOf(proxy)}<script>
        ${tell('"prerendering=" + document.prerendering')}
        setTimeout(() => ${tell('"settled"')}, ${SETTLE_MS})
        document.addEventListener('prerenderingchange', () => ${tell('"activated"')})
      </script>`,
    },
  })
  await chromiumAlone(`${site.url}/first`)
  await expect.poll(() => said).toEqual(['/healthz?prerendering=true', '/healthz?settled'])
  await counter.has({ 'page_view /first': 1 })
  go(undefined)
  await expect.poll(() => said.slice(2)).toEqual(['/healthz?activated'])
  await counter.has({ 'page_view /first': 1, 'page_view /next': 1 })
  // The Worker would not count a request that is still marked as prerendering.
  expect(purposes).toEqual([undefined, undefined])
  await counter.clear()
})
