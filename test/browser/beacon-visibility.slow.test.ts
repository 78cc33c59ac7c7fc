import { type ForkOptions, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished } from 'vitest'
import { PROJECT } from '../../local/project-root.ts'
import { pagesOfFile } from './beacon-pages.ts'
import { CHROMIUM_ARGUMENTS, SETTLE_MS } from './chromium.ts'
import { startServer } from './test-site.ts'

const { browser, counter } = pagesOfFile()
const tag = () => `<!doctype html><script defer src="${counter.url}/slotted.js"></script>`

/** Opens a window with real tabs. Playwright emulates the focus of pages that it attaches to, which makes all of them visible. */
async function openWindow() {
  const session = await browser.newBrowserCDPSession()
  const { browserContextId } = await session.send('Target.createBrowserContext')
  onTestFinished(async () => void (await session.send('Target.disposeBrowserContext', { browserContextId })))
  return async (url: string, background = false) => {
    const { targetId } = await session.send('Target.createTarget', { url, browserContextId, background })
    const title = async () => {
      const { targetInfos } = await session.send('Target.getTargets')
      return targetInfos.find((target) => target.targetId === targetId)?.title
    }
    return { show: () => session.send('Target.activateTarget', { targetId }), title }
  }
}

it('a background tab counts once, when it is shown, and pages that it left unseen do not count', async () => {
  // From /passing it goes to /other, and from there to /section within the page. What the script does about it, it does before the timer.
  const site = await startServer((_, response) =>
    response.setHeader('Content-Type', 'text/html').end(`${tag()}<script>
      let settled = ''
      const tell = () => { document.title = location.pathname + settled + ' ' + document.visibilityState }
      addEventListener('visibilitychange', tell)
      tell()
      onload = () => {
        if (location.pathname == '/passing') location.href = '/other'
        if (location.pathname == '/other') history.pushState(null, '', '/section')
        setTimeout(() => { settled = ' settled'; tell() }, ${SETTLE_MS})
      }</script>`),
  )
  const openTab = await openWindow()
  const front = await openTab(`${site.url}/front`)
  const background = await openTab(`${site.url}/passing`, true)
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
})

it('a prerendered page counts when the visitor opens it, and not before', async () => {
  const rules = '{"prerender":[{"source":"list","urls":["/next"],"eagerness":"immediate"}]}'
  const told: string[] = []
  const { promise: going, resolve: go } = Promise.withResolvers<void>()
  const pages: Record<string, string> = {
    // It goes to the next page as soon as the test lets it.
    '/first': `${tag()}<script type="speculationrules">${rules}</script>
      <script>fetch('/go').then(() => { location.href = '/next' })</script>`,
    '/next': `${tag()}<script>
      fetch('/tell?prerendering=' + document.prerendering)
      setTimeout(() => fetch('/tell?settled'), ${SETTLE_MS})
      document.addEventListener('prerenderingchange', () => fetch('/tell?activated'))
    </script>`,
  }
  const site = await startServer(async ({ url = '' }, response) => {
    if (url.startsWith('/tell?')) told.push(url.slice(6))
    if (url === '/go') await going
    response.setHeader('Content-Type', 'text/html').end(pages[url])
  })
  // Without Playwright, under which Chromium does not prerender.
  const directory = await mkdtemp(join(inject('scratch'), 'chromium-'))
  const args = [
    ...CHROMIUM_ARGUMENTS,
    '--headless',
    '--no-first-run',
    `--user-data-dir=${directory}`,
    `${site.url}/first`,
  ]
  const run = join(PROJECT, 'local/processes/stop-with-parent.ts')
  const options: ForkOptions = { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }
  const chromium = fork(run, ['5000', inject('chromium'), ...args], options)
  onTestFinished(async () => void (chromium.kill() && (await once(chromium, 'exit'))))
  await expect.poll(() => told).toEqual(['prerendering=true', 'settled'])
  await counter.has({ 'page_view /first': 1 })
  go()
  await expect.poll(() => told.slice(2)).toEqual(['activated'])
  // The Worker does not count a request that is still marked as prerendering.
  await counter.has({ 'page_view /first': 1, 'page_view /next': 1 })
})
