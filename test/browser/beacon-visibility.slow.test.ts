import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished } from 'vitest'
import { PROJECT } from '../../local/project-root.ts'
import { CHROMIUM_ARGUMENTS, chromiumOfFile, SETTLE_MS } from './chromium.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startProxy, startSite } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()
const tagOf = ({ url }: { url: string }) => `<!doctype html><script defer src="${url}/slotted.js" data-local></script>`

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
  // Without Playwright, under which Chromium does not prerender.
  const directory = await mkdtemp(join(inject('scratch'), 'chromium-'))
  const args = ['--headless', ...CHROMIUM_ARGUMENTS, '--no-first-run', `--user-data-dir=${directory}`]
  const chromium = fork(
    join(PROJECT, 'local/processes/stop-with-parent.ts'),
    ['5000', inject('chromium'), ...args, `${site.url}/first`],
    { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] },
  )
  onTestFinished(async () => void (chromium.kill() && (await once(chromium, 'exit'))))
  await expect.poll(() => said).toEqual(['/healthz?prerendering=true', '/healthz?settled'])
  await counter.has({ 'page_view /first': 1 })
  go(undefined)
  await expect.poll(() => said.slice(2)).toEqual(['/healthz?activated'])
  await counter.has({ 'page_view /first': 1, 'page_view /next': 1 })
  // The Worker would not count a request that is still marked as prerendering.
  expect(purposes).toEqual([undefined, undefined])
  await counter.clear()
})
