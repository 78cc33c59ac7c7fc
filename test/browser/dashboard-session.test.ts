import type { BrowserContext } from 'playwright-core'
import { beforeEach, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { counterUrl, signedIn, typeToken } from './open-dashboard.ts'
import { counterOfFile, TOKEN } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()
let context: BrowserContext
beforeEach(async () => {
  context = await browser.newContext()
})

const status = async () => (await context.request.get(`${counter.url}/v1/status`)).status()

it('Signing in opens the requested page; the mark of a browser that is not counted comes with all requests but the script’s', async () => {
  const site = await startSite({
    '/image': `<!doctype html><img src="${counter.url}/hit.gif?key=/by-image&type=page_view">`,
    '/link': `<!doctype html><a href="${counter.url}/d/download/app.zip">Download</a>`,
    '/script': `<!doctype html><script defer src="${counter.url}/slotted.js" data-local data-key="/by-script"></script>`,
  })
  const page = await context.newPage()
  const wanted = counterUrl(counter, 'download', '/a b?c=d&e#f')
  await page.goto(wanted)
  await typeToken(page, TOKEN)
  await page.keyboard.press('Enter')
  await page.waitForSelector('main[data-page=counter]')
  expect([page.url(), await page.textContent('h1'), await status()]).toEqual([wanted, '/a b?c=d&e#f', 200])
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('button', { name: 'Do not count this browser' }).click()
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('button', { name: 'Count this browser again' }).waitFor()
  expect(page.url()).toBe(wanted)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API token').waitFor()
  expect(await status()).toBe(401)

  /** The X-Hit of the answer to a visit. */
  const said = async (path: string, visit: Promise<unknown>) => {
    const response = page.waitForResponse((response) => response.url().startsWith(counter.url + path))
    return (await Promise.all([response, visit]))[0].headerValue('X-Hit')
  }
  const own = 'ignored; reason=own'
  expect(await said('/hit.gif?', page.goto(`${site.url}/image`))).toBe(own)
  await page.goto(counter.url)
  const fromOwnHost = () => fetch('/hit?type=page_view&key=/own-host', { method: 'POST' }).then(() => {})
  expect(await said('/hit?', page.evaluate(fromOwnHost))).toBe(own)
  // The script of another origin sends no cookie. Its network can be left out instead.
  expect(await said('/hit?', page.goto(`${site.url}/script`))).toBe('counted')
  await page.goto(`${site.url}/link`)
  // Last, because the demo site, where the file is, does not run.
  expect(await said('/d/', page.click('a', { noWaitAfter: true }))).toBe(own)
  await counter.has({ 'page_view /by-script': 1 })
})

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
  await counter.has({ 'page_view /by-script': 1, 'page_view victim': 3 }, theirs)
  expect(await status()).toBe(200)
  expect((await context.cookies()).map(({ name }) => name)).not.toContain('own-visits')

  await theirs.goto(`${site.url}/frame`)
  await expect.poll(() => theirs.title()).toBe('loaded')
  // The frame loads its error page after the event, so its address can still be empty here.
  const shown = [`${site.url}/frame`, 'chrome-error://chromewebdata/']
  await expect.poll(() => theirs.frames().map((frame) => frame.url())).toEqual(shown)
})
