import type { BrowserContext } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { counterUrl, openMenu, signedIn } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

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

const OFF = 'Do not count this browser'
const ON = 'Count this browser again'

/** Visits in every way that a browser can. Returns the X-Hit of each. */
async function visit(): Promise<Record<string, string | null>> {
  const site = await startSite({
    '/image': { html: `<!doctype html><img src="${counter.url}/hit.gif?key=/by-image&type=page_view">` },
    '/link': { html: `<!doctype html><a href="${counter.url}/d/download/app.zip">Download</a>` },
    '/script': {
      html: `<!doctype html><script defer src="${counter.url}/slotted.js" data-local data-key="/by-script"></script>`,
    },
  })
  const page = await context.newPage()
  const answer = async (path: string, way: () => Promise<unknown>) => {
    const [response] = await Promise.all([
      page.waitForResponse((response) => response.url().startsWith(counter.url + path)),
      way(),
    ])
    return response.headerValue('X-Hit')
  }
  const said: Record<string, string | null> = {}
  said.script = await answer('/hit?', () => page.goto(`${site.url}/script`))
  said.image = await answer('/hit.gif?', () => page.goto(`${site.url}/image`))
  await page.goto(counter.url)
  said.ownHost = await answer('/hit?', () =>
    page.evaluate(() => fetch('/hit?type=page_view&key=/own-host', { method: 'POST' }).then(() => {})),
  )
  await page.goto(`${site.url}/link`)
  // The demo site, where the file is, does not run.
  said.download = await answer('/d/', () => page.click('a', { noWaitAfter: true }))
  await page.close()
  return said
}

describe(`the button “${OFF}”`, () => {
  it('leaves out this browser until it is pressed again, whether somebody is signed in or not', async () => {
    const page = await signedIn(context, counter)
    const url = counterUrl(counter, 'download', '/a b?c=d&e#f')
    await page.goto(url)
    await openMenu(page)
    await page.getByRole('button', { name: OFF }).click()
    await openMenu(page)
    await page.getByRole('button', { name: ON }).waitFor()
    expect(page.url()).toBe(url)
    expect(await page.getByText('Visits from this browser do not count.').isVisible()).toBe(true)
    const mark = (await context.cookies()).find(({ name }) => name === 'own-visits')
    expect(mark).toMatchObject({ value: '1', httpOnly: true, sameSite: 'Lax', path: '/' })
    expect(mark!.expires - Date.now() / 1_000).toBeGreaterThan(399 * 86_400)

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API token').waitFor()
    // The script of another origin sends no cookie. Its network can be left out instead.
    const own = 'ignored; reason=own'
    expect(await visit()).toEqual({ script: 'counted', image: own, download: own, ownHost: own })
    await counter.has({ 'page_view /by-script': 1 })

    const again = await signedIn(context, counter)
    await openMenu(again)
    await again.getByRole('button', { name: ON }).click()
    await openMenu(again)
    await again.getByRole('button', { name: OFF }).waitFor()
    expect((await context.cookies()).map(({ name }) => name).filter((name) => name === 'own-visits')).toEqual([])
    const { download, ...others } = await visit()
    expect(others).toEqual({ script: 'counted', image: 'counted', ownHost: 'counted' })
    // A download waits half a second to be counted, which goes on without it.
    expect(download).toMatch(/^(counted|unknown)$/)
    await counter.has({
      'page_view /by-script': 2,
      'page_view /by-image': 1,
      'page_view /own-host': 1,
      'download app.zip': 1,
    })
  })

  it('works by keyboard, without scripts, and for this browser alone', async () => {
    const page = await signedIn(context, counter)
    await page.getByRole('button', { name: 'Menu' }).focus()
    await page.keyboard.press('Enter')
    // The link to the API comes first.
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe(OFF)
    // The menu of the page that is left could still be opened.
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
    await openMenu(page)
    await page.getByRole('button', { name: ON }).waitFor()

    const other = await browser.newContext({ javaScriptEnabled: false })
    const plain = await signedIn(other, counter)
    await openMenu(plain)
    await plain.getByRole('button', { name: OFF }).click()
    await openMenu(plain)
    await plain.getByRole('button', { name: ON }).click()
    await openMenu(plain)
    await plain.getByRole('button', { name: OFF }).waitFor()
    await page.reload()
    await openMenu(page)
    expect(await page.getByRole('button', { name: ON }).isVisible()).toBe(true)
  })
})
