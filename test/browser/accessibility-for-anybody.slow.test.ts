import { describe, expect, it } from 'vitest'
import { audit, auditedContext } from './audit.ts'
import { chromiumOfFile } from './chromium.ts'
import { charted, openAll, signedInWithoutTables } from './open-dashboard.ts'
import { counterWithHistory } from './sample-history.ts'
import { startCounter } from './shipped-worker.ts'
import { startDemo } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterWithHistory()
const newPage = async () => (await auditedContext(browser)).newPage()

describe('nothing is wrong for anybody, light and dark, from 320 to 1,920 pixels, with', () => {
  it('the sign-in, a wrong token too', async () => {
    const page = await newPage()
    await page.goto(counter.url)
    expect(await audit(page)).toEqual([])
    await page.getByLabel('API token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await audit(page)).toEqual([])
  })

  it('an address at which nothing is', async () => {
    const page = await newPage()
    await page.goto(`${counter.url}/nothing`)
    await page.getByRole('link', { name: 'Go to the start page' }).waitFor()
    expect(await audit(page)).toEqual([])
  })

  it('a database without tables', async () => {
    const empty = await startCounter({}, { empty: true })
    const signIn = await newPage()
    await signIn.goto(empty.url)
    expect(await audit(signIn)).toEqual([])
    const page = await signedInWithoutTables(await auditedContext(browser), empty)
    // Shown only if the branch has safe migrations on.
    await page.locator('#deploy-request').evaluate((section) => section.removeAttribute('hidden'))
    await openAll(page)
    expect(await audit(page)).toEqual([])
  })

  it('the check of a browser, and its answer', async () => {
    const page = await newPage()
    await page.goto(`${counter.url}/check?type=unknown`)
    expect(await audit(page)).toEqual([])
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('No, it does not count.').waitFor()
    expect(await audit(page)).toEqual([])
  })

  it.each(['/stats/page_view', '/stats/download?period=today'])('the public page %s', async (path) => {
    const page = await newPage()
    await page.goto(counter.url + path)
    await charted(page)
    await page.locator('#top tr').first().waitFor()
    await openAll(page)
    expect(await audit(page)).toEqual([])
  })

  it('the documentation, all of it open', async () => {
    const page = await newPage()
    await page.goto(`${counter.url}/docs`)
    await openAll(page)
    expect(await audit(page)).toEqual([])
  })

  it.each(['/', '/article', '/downloads', '/app/', '/app/map'])('the demo’s page %s', async (path) => {
    const demo = await startDemo(counter)
    const page = await newPage()
    await page.goto(demo.url + path)
    await expect.poll(() => page.textContent('footer b')).toMatch(/^\d/)
    expect(await audit(page)).toEqual([])
  })
})
