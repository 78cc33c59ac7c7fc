import { expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { counterUrl, openMenu, signedIn } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()

const [OFF, ON] = ['Do not count this browser', 'Count this browser again']

it('A browser whose owner has marked it sends the mark with each request but those of the script on another site', async () => {
  const context = await browser.newContext()
  const site = await startSite({
    '/image': { html: `<!doctype html><img src="${counter.url}/hit.gif?key=/by-image&type=page_view">` },
    '/link': { html: `<!doctype html><a href="${counter.url}/d/download/app.zip">Download</a>` },
    '/script': {
      html: `<!doctype html><script defer src="${counter.url}/slotted.js" data-local data-key="/by-script"></script>`,
    },
  })
  /** Visits in every way that a browser can. Returns the X-Hit of each. */
  async function visit() {
    const page = await context.newPage()
    const answer = async (path: string, way: Promise<unknown>) => {
      const response = page.waitForResponse((response) => response.url().startsWith(counter.url + path))
      return (await Promise.all([response, way]))[0].headerValue('X-Hit')
    }
    const script = await answer('/hit?', page.goto(`${site.url}/script`))
    const image = await answer('/hit.gif?', page.goto(`${site.url}/image`))
    await page.goto(counter.url)
    const own = () => fetch('/hit?type=page_view&key=/own-host', { method: 'POST' }).then(() => {})
    const ownHost = await answer('/hit?', page.evaluate(own))
    await page.goto(`${site.url}/link`)
    // The demo site, where the file is, does not run.
    const download = await answer('/d/', page.click('a', { noWaitAfter: true }))
    await page.close()
    return { script, image, ownHost, download }
  }

  const page = await signedIn(context, counter)
  const url = counterUrl(counter, 'download', '/a b?c=d&e#f')
  await page.goto(url)
  await openMenu(page)
  await page.getByRole('button', { name: OFF }).click()
  await openMenu(page)
  await page.getByRole('button', { name: ON }).waitFor()
  expect(page.url()).toBe(url)
  const mark = (await context.cookies()).find(({ name }) => name === 'own-visits')
  expect(mark).toMatchObject({ value: '1', httpOnly: true, sameSite: 'Lax', path: '/' })
  expect(mark!.expires - Date.now() / 1_000).toBeGreaterThan(399 * 86_400)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API token').waitFor()
  // The script of another origin sends no cookie. Its network can be left out instead.
  const own = 'ignored; reason=own'
  expect(await visit()).toEqual({ script: 'counted', image: own, download: own, ownHost: own })
  await counter.has({ 'page_view /by-script': 1 })
})
