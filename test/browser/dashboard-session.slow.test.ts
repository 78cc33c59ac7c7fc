import type { BrowserContext } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tokenLines, tokenOf } from '../harness/tokens.ts'
import { chromiumOfFile } from './chromium.ts'
import { charted, counterUrl, openMenu, signedIn, typeToken, watch } from './open-dashboard.ts'
import { counterOfFile, startCounter, TOKEN } from './shipped-worker.ts'
import { type Page as SitePage, startSite } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()
let context: BrowserContext
beforeEach(async () => {
  context = await browser.newContext()
})
afterEach(async () => {
  await context.close()
  await counter.clear()
})

const status = async () => (await context.request.get(`${counter.url}/v1/status`)).status()

describe('signing in', () => {
  it('with a wrong token shows an error, and can be tried again', async () => {
    const page = await context.newPage()
    await page.goto(counter.url)
    await typeToken(page, 'wrong')
    await page.keyboard.press('Enter')
    expect(await page.getByRole('alert').textContent()).toContain('not a token of this Worker')
    expect(await status()).toBe(401)
    await typeToken(page, TOKEN)
    await page.keyboard.press('Enter')
    await page.waitForSelector('main[data-page=start]')
    expect(await status()).toBe(200)
  })

  it('opens the requested page', async () => {
    const page = await context.newPage()
    const wanted = counterUrl(counter, 'download', '/a b?c=d&e#f')
    await page.goto(wanted)
    await typeToken(page, TOKEN)
    await page.keyboard.press('Enter')
    await page.waitForSelector('main[data-page=counter]')
    expect(page.url()).toBe(wanted)
    expect(await page.textContent('h1')).toBe('/a b?c=d&e#f')
  })

  it('sets a cookie that scripts cannot read, and signing out deletes it', async () => {
    const page = await signedIn(context, counter)
    expect(await page.evaluate(() => document.cookie)).toBe('')
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' })
    await openMenu(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API token').waitFor()
    expect(await context.cookies()).toEqual([])
    expect(await status()).toBe(401)
  })
})

describe('a cookie', () => {
  it('that disappears while a page is open is noticed, and the page offers to sign in again', async () => {
    await counter.add('page_view', '/', 1)
    await counter.rollUp(new Date())
    const page = await signedIn(context, counter)
    await charted(page)
    await context.clearCookies()
    await page.getByRole('link', { name: '7 days' }).click()
    const link = page.getByRole('link', { name: 'Sign in again.' })
    await link.waitFor()
    expect(await page.textContent('#tile-all b')).toBe('1')
    await link.click()
    await page.getByLabel('API token').waitFor()
  })

  it('that has ended is told when the page is loaded again, and signing in shows the same view', async () => {
    await counter.add('page_view', '/', 1)
    await counter.rollUp(new Date())
    const page = await signedIn(context, counter)
    await charted(page)
    await page.getByRole('link', { name: '7 days' }).click()
    await context.clearCookies({ name: /^session/ })
    await page.reload()
    expect(await page.textContent('main .notice')).toBe('Your session has ended. Sign in again.')
    await typeToken(page, TOKEN)
    await page.keyboard.press('Enter')
    await page.waitForSelector('main[data-page=overview]')
    expect(page.url()).toMatch(/period=7d$/)
  })
})

describe('another site', () => {
  const page = (html: string): SitePage => ({ html: `<!doctype html><title>attack</title>${html}` })
  const form = (action: string, fields = '') =>
    `<form method="post" action="${action}">${fields}</form><script>document.forms[0].submit()</script>`

  /** To a browser, another port of the same host is the same site, so it sends cookies. localhost is another site. */
  async function attacker() {
    const count = `${counter.url}/v1/counters/page_view/victim`
    const site = await startSite({
      '/count': page(form(count)),
      '/rollup': page(form(`${counter.url}/v1/rollup`)),
      '/logout': page(form(`${counter.url}/logout`)),
      '/login': page(form(`${counter.url}/login`, '<input name="token" value="wrong">')),
      '/own-visits': page(form(`${counter.url}/own-visits`, '<input name="count" value="no">')),
      '/fetch': page(`<script>
        const send = (url, init) => fetch(url, { credentials: 'include', ...init }).then((r) => r.type + ' ' + r.status, () => 'refused')
        Promise.all([
          send('${count}', { method: 'POST', mode: 'no-cors' }),
          send('${count}', { method: 'POST', mode: 'no-cors', headers: { 'Content-Type': 'text/plain' }, body: '{"by":7}' }),
          send('${count}', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"by":7}' }),
          send('${count}', { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: '{"count":7}' }),
          send('${count}', { method: 'DELETE' }),
          send('${counter.url}/v1/status', {}),
        ]).then((answers) => { document.title = answers.join(', ') })
      </script>`),
      '/frame': page(`<iframe src="${counter.url}/" onload="document.title = 'loaded'"></iframe>`),
    })
    return { same: site.url, cross: site.url.replace('127.0.0.1', 'localhost') }
  }

  it('cannot count, change, roll up, sign out, leave out visits or read in the name of a signed-in user', async () => {
    const mine = await signedIn(context, counter)
    await counter.add('page_view', 'victim', 3)
    const { same, cross } = await attacker()
    const theirs = await context.newPage()
    for (const site of [same, cross]) {
      for (const path of ['/count', '/rollup', '/logout', '/login', '/own-visits']) {
        await theirs.goto(site + path)
        await theirs.waitForURL(`${counter.url}/**`)
        const said = await theirs.textContent('body')
        // Where the browser sends the cookie, the Worker refuses the request.
        expect(said, path).toMatch(
          site === cross && ['/count', '/rollup'].includes(path) ? 'unauthorized' : /cross_site_request|Cross-site/,
        )
      }
      await theirs.goto(`${site}/fetch`)
      await expect.poll(() => theirs.title()).toBe('opaque 0, opaque 0, refused, refused, refused, refused')
    }
    await counter.has({ 'page_view victim': 3 }, theirs)
    expect(await status()).toBe(200)
    expect((await context.cookies()).map(({ name }) => name)).not.toContain('own-visits')
    await mine.reload()
    expect(await mine.locator('main').getAttribute('data-page')).toBe('overview')
  })

  it('cannot show the dashboard in a frame', async () => {
    await signedIn(context, counter)
    const { same } = await attacker()
    const theirs = await context.newPage()
    await theirs.goto(`${same}/frame`)
    await expect.poll(() => theirs.title()).toBe('loaded')
    // The frame loads its error page after the event, so its address can still be empty here.
    await expect
      .poll(() => theirs.frames().map((frame) => frame.url()))
      .toEqual([`${same}/frame`, 'chrome-error://chromewebdata/'])
  })
})

describe('a token that is not the owner’s', () => {
  it.each([
    ['read', { changes: 0, problems: 1, types: ['Today', 'Page views', 'Downloads'] }],
    ['read:download', { changes: 0, problems: 0, types: ['Today', 'Downloads'] }],
    ['manage:download', { changes: 1, problems: 0, types: ['Today', 'Downloads'] }],
  ])('with the scope %s shows what it may see and the buttons that it may use', async (scope, expected) => {
    const API_TOKENS = await tokenLines({ someone: scope })
    const limited = await startCounter({ API_TOKENS })
    await limited.add('download', 'app.tgz', 7)
    const violations = await watch(context, limited)
    const page = await context.newPage()
    await page.goto(counterUrl(limited, 'download', 'app.tgz'))
    await typeToken(page, tokenOf('someone'))
    await page.keyboard.press('Enter')
    await expect.poll(() => page.textContent('#tile-all b')).toBe('7')
    expect({
      changes: await page.locator('#set').count(),
      problems: await page.locator('#problems').count(),
      types: await page.getByRole('navigation', { name: 'Types' }).getByRole('link').allTextContents(),
    }).toEqual(expected)
    await page.getByRole('link', { name: 'Slotted Counter' }).click()
    await page.waitForSelector('main[data-page=start]')
    expect(['Today', ...(await page.locator('.type a').allTextContents())]).toEqual(expected.types)
    expect(violations).toEqual({ foreign: [], messages: [] })
  })
})
