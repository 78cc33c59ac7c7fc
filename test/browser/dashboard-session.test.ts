import type { BrowserContext } from 'playwright-core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { charted, counterUrl, openMenu, period, signedIn, typeToken } from './open-dashboard.ts'
import { counterOfFile, TOKEN } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()
let context: BrowserContext
beforeEach(async () => {
  context = await browser.newContext()
})
afterEach(() => counter.clear())

const status = async () => (await context.request.get(`${counter.url}/v1/status`)).status()

it('Signing in after a wrong token opens the requested page; scripts cannot read the cookie, which signing out deletes', async () => {
  const page = await context.newPage()
  const wanted = counterUrl(counter, 'download', '/a b?c=d&e#f')
  await page.goto(wanted)
  await typeToken(page, 'wrong')
  await page.keyboard.press('Enter')
  expect(await page.getByRole('alert').textContent()).toContain('not a token of this Worker')
  expect(await status()).toBe(401)
  await typeToken(page, TOKEN)
  await page.keyboard.press('Enter')
  await page.waitForSelector('main[data-page=counter]')
  expect([page.url(), await page.textContent('h1'), await status()]).toEqual([wanted, '/a b?c=d&e#f', 200])
  expect(await page.evaluate(() => document.cookie)).toBe('')
  expect((await context.cookies())[0]).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' })
  await openMenu(page)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API token').waitFor()
  expect([await context.cookies(), await status()]).toEqual([[], 401])
})

it('A session that ends while a page is open is told, the numbers stay, and signing in shows the same view', async () => {
  await counter.add('page_view', '/', 1)
  const page = await signedIn(context, counter)
  await page.goto(`${counter.url}/?type=page_view`)
  await charted(page)
  await context.clearCookies({ name: /^session/ })
  await period(page, '7 days').click()
  const link = page.getByRole('link', { name: 'Sign in again.' })
  await link.waitFor()
  expect(await page.textContent('#tile-all b')).toBe('1')
  await link.click()
  await page.getByText('Your session has ended. Sign in again.').waitFor()
  await typeToken(page, TOKEN)
  await page.keyboard.press('Enter')
  await page.waitForSelector('main[data-page=overview]')
  expect(page.url()).toMatch(/period=7d$/)
})

it('Another site can neither count, change, roll up, sign out nor read in the name of a signed-in user, nor show a frame', async () => {
  const count = `${counter.url}/v1/counters/page_view/victim`
  const page = (html: string) => ({ html: `<!doctype html><title>attack</title>${html}` })
  const form = (action: string) =>
    page(`<form method="post" action="${action}"></form><script>document.forms[0].submit()</script>`)
  const site = await startSite({
    '/count': form(count),
    '/rollup': form(`${counter.url}/v1/rollup`),
    '/logout': form(`${counter.url}/logout`),
    '/own-visits': form(`${counter.url}/own-visits`),
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
    for (const path of ['/count', '/rollup', '/logout', '/own-visits']) {
      await theirs.goto(from + path)
      await theirs.waitForURL(`${counter.url}/**`)
      // Where the browser sends the cookie, the Worker refuses the request.
      const isWithoutCookie = from === cross && ['/count', '/rollup'].includes(path)
      const said = isWithoutCookie ? 'unauthorized' : /cross_site_request|Cross-site/
      expect(await theirs.textContent('body'), path).toMatch(said)
    }
    await theirs.goto(`${from}/fetch`)
    await expect.poll(() => theirs.title()).toBe('opaque 0, refused, refused, refused')
  }
  await counter.has({ 'page_view victim': 3 }, theirs)
  expect(await status()).toBe(200)
  expect((await context.cookies()).map(({ name }) => name)).not.toContain('own-visits')

  await theirs.goto(`${site.url}/frame`)
  await expect.poll(() => theirs.title()).toBe('loaded')
  // The frame loads its error page after the event, so its address can still be empty here.
  const shown = [`${site.url}/frame`, 'chrome-error://chromewebdata/']
  await expect.poll(() => theirs.frames().map((frame) => frame.url())).toEqual(shown)
})
