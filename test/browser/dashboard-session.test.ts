import { expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { counterUrl, typeToken } from './open-dashboard.ts'
import { counterOfFile, TOKEN } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()

it('Signing in opens the requested page; the mark of a browser that is not counted comes with all requests but the script’s', async () => {
  const site = await startSite({
    '/image': `<!doctype html><img src="${counter.url}/hit.gif?key=/by-image&type=page_view">`,
    '/link': `<!doctype html><a href="${counter.url}/d/download/app.zip">Download</a>`,
    '/script': `<!doctype html><script defer src="${counter.url}/slotted.js" data-key="/by-script"></script>`,
  })
  const context = await browser.newContext()
  const status = async () => (await context.request.get(`${counter.url}/v1/status`)).status()
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
