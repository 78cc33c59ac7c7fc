import { expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { watch } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()

async function docs(hash = '') {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 } })
  await watch(context, counter)
  const page = await context.newPage()
  await page.goto(`${counter.url}/docs${hash}`)
  const operations = () => page.locator('.operation:not([hidden]) > summary h3').allTextContents()
  return { page, context, operations }
}

it('The documentation is a few screens long, and finds operations by any of their words, of which it opens the only one left', async () => {
  const { page, operations } = await docs()
  expect(await page.evaluate(() => getComputedStyle(document.querySelector('.operation')!).borderRadius)).toBe('8px')
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(6_000)
  const everything = await operations()
  expect(everything.length).toBeGreaterThan(25)
  const field = page.getByRole('searchbox', { name: 'Find an operation' })
  await field.fill('  BADGE svg ')
  const { length } = await operations()
  expect(length > 1 && length < everything.length).toBe(true)
  await expect.poll(() => page.textContent('#found')).toBe(`${length} operations`)
  await field.fill('/v1/verify')
  await expect.poll(operations).toHaveLength(1)
  expect(await page.locator('.operation[open]').count()).toBe(1)
  expect(await page.locator('.chapter:not([hidden])').count()).toBe(1)
  // A link leads to an operation that the filter hides.
  await page.evaluate(() => location.assign('#increment'))
  await page.locator('#increment').waitFor()
  expect(await operations()).toEqual(everything)
  await field.fill('idempotency')
  await field.press('Enter')
  await expect.poll(() => page.evaluate(() => document.activeElement!.tagName)).toBe('SUMMARY')
})

it('The documentation opens the operation that a link names, with its heading in sight, copies its commands, and prints all', async () => {
  const { page, context } = await docs('#increment')
  await page.locator('#increment').waitFor()
  expect(await page.locator('.operation[open]').count()).toBe(1)
  const { height } = (await page.locator('#filter').boundingBox())!
  // The browser scrolls with a later frame.
  const top = async () => (await page.locator('.operation[open] > summary').boundingBox())!.y
  await expect.poll(top).toBeLessThan(height + 40)
  expect(await top()).toBeGreaterThanOrEqual(height - 1)

  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: counter.url })
  // It is said for 2 s only, so the page itself looks for it.
  const said = page.waitForFunction(() => document.querySelector('#copied')?.textContent === 'Copied')
  await page.locator('#increment').getByRole('button', { name: 'Copy: curl' }).first().click()
  await said
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toBe(await page.locator('#increment .curl').first().textContent())

  const commands = page.locator('.operation .curl')
  const hidden = () =>
    commands.evaluateAll((all) => all.filter((each) => !each.checkVisibility({ contentVisibilityAuto: true })).length)
  expect(await hidden()).toBeGreaterThan(25)
  await page.emulateMedia({ media: 'print' })
  // Browsers show hidden contents with the next frame.
  await expect.poll(hidden).toBe(0)
})
