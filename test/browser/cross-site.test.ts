import { expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { signedIn } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()

it('Another site can neither count, change, roll up, sign out nor read in the name of a signed-in user, nor show a frame', async () => {
  const count = `${counter.url}/v1/counters/page_view/victim`
  const page = (html: string) => `<!doctype html><title>attack</title>${html}`
  const site = await startSite({
    '/form': page(`<form method="post"></form><script>
      document.forms[0].action = location.hash.slice(1)
      document.forms[0].submit()
    </script>`),
    '/fetch': page(`<script>
      const send = (url, init) => fetch(url, { credentials: 'include', ...init }).then((r) => r.type + ' ' + r.status, () => 'refused')
      Promise.all([
        send('${count}', { method: 'POST', mode: 'no-cors' }),
        send('${count}', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"by":7}' }),
        send('${count}', { method: 'DELETE' }),
        send('${counter.url}/v1/status', {}),
      ]).then((answers) => { document.title = answers.join(', ') })
    </script>`),
    '/frame': page(`<iframe src="${counter.url}/" onload="document.title = 'loaded'"></iframe>`),
  })
  const context = await browser.newContext()
  await signedIn(context, counter)
  await counter.add('page_view', 'victim', 3)
  const theirs = await context.newPage()
  // To a browser, another port of the same host is the same site, so it sends cookies. localhost is another site.
  const cross = site.url.replace('127.0.0.1', 'localhost')
  for (const from of [site.url, cross]) {
    for (const target of [count, ...['/v1/rollup', '/logout', '/own-visits'].map((path) => counter.url + path)]) {
      await theirs.goto(`${from}/form#${target}`)
      await theirs.waitForURL(`${counter.url}/**`)
      // Where the browser sends the cookie, the Worker refuses the request.
      const isWithoutCookie = from === cross && target.includes('/v1/')
      const said = isWithoutCookie ? 'unauthorized' : /cross_site_request|Cross-site/
      expect(await theirs.textContent('body'), target).toMatch(said)
    }
    await theirs.goto(`${from}/fetch`)
    await expect.poll(() => theirs.title()).toBe('opaque 0, refused, refused, refused')
  }
  await counter.has({ 'page_view victim': 3 }, theirs)
  expect((await context.request.get(`${counter.url}/v1/status`)).status()).toBe(200)
  expect((await context.cookies()).map(({ name }) => name)).not.toContain('own-visits')

  await theirs.goto(`${site.url}/frame`)
  await expect.poll(() => theirs.title()).toBe('loaded')
  // The frame loads its error page after the event, so its address can still be empty here.
  const shown = [`${site.url}/frame`, 'chrome-error://chromewebdata/']
  await expect.poll(() => theirs.frames().map((frame) => frame.url())).toEqual(shown)
})
