import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chromiumOfFile, consoleOf } from './chromium.ts'
import { counterOfFile } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()

/** Opens the page at /docs, and records its requests and its messages on the console. */
async function docs({ hash = '', ...options }: { hash?: string; javaScriptEnabled?: boolean } = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options })
  const said = consoleOf(context)
  const asked: string[] = []
  context.on('request', (request) => asked.push(request.url()))
  const page = await context.newPage()
  await page.goto(`${counter.url}/docs${hash}`)
  return { page, context, said, asked }
}

const operations = (page: Page) => page.locator('.operation:not([hidden]) > summary h3').allTextContents()

describe('the page at /docs', () => {
  it('loads its script and nothing else, and its strict policy refuses nothing that it has', async () => {
    const { page, said, asked } = await docs()
    await page.waitForLoadState('networkidle')
    const script = await page.locator('script').evaluate((element: HTMLScriptElement) => element.src)
    expect(asked.filter((url) => !url.startsWith('data:'))).toEqual([`${counter.url}/docs`, script])
    expect(new URL(script).origin).toBe(counter.url)
    expect(said).toEqual([])
    const policy = (await fetch(`${counter.url}/docs`)).headers.get('Content-Security-Policy')
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'sha256-[^']+';/)
    expect(policy).not.toContain('unsafe')
    expect(await page.evaluate(() => getComputedStyle(document.querySelector('.operation')!).borderRadius)).toBe('8px')
  })

  it('is a list of what there is, a few screens long, and leads back to the dashboard', async () => {
    const { page } = await docs()
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(6_000)
    expect((await operations(page)).length).toBeGreaterThan(25)
    await page.getByRole('link', { name: 'Dashboard' }).click()
    await page.waitForURL(`${counter.url}/`)
  })

  it('finds operations by any of their words, and opens the only one left', async () => {
    const { page } = await docs()
    const everything = await operations(page)
    const field = page.getByRole('searchbox', { name: 'Find an operation' })
    await field.fill('  BADGE svg ')
    const some = await operations(page)
    expect(some.length).toBeGreaterThan(0)
    expect(some.length).toBeLessThan(everything.length)
    await expect.poll(() => page.textContent('#found')).toBe(`${some.length} operation${some.length > 1 ? 's' : ''}`)
    await field.fill('/v1/verify')
    await expect.poll(() => operations(page)).toHaveLength(1)
    expect(await page.locator('.operation[open]').count()).toBe(1)
    expect(await page.locator('.chapter:not([hidden])').count()).toBe(1)
    await field.fill('nothing like this')
    await expect.poll(() => page.textContent('#found')).toBe('No operations')
    // A link leads to an operation that the filter hides.
    await page.evaluate(() => {
      location.hash = '#increment'
    })
    await page.locator('#increment').waitFor()
    expect(await operations(page)).toEqual(everything)
    await field.fill('idempotency')
    await field.press('Enter')
    await expect.poll(() => page.evaluate(() => document.activeElement!.tagName)).toBe('SUMMARY')
  })

  it('opens the operation that a link names, with its heading in sight', async () => {
    const { page } = await docs({ hash: '#increment' })
    await page.locator('#increment').waitFor()
    expect(await page.locator('.operation[open]').count()).toBe(1)
    const { height } = (await page.locator('#filter').boundingBox())!
    // The browser scrolls with a later frame.
    const top = async () => (await page.locator('.operation[open] > summary').boundingBox())!.y
    await expect.poll(top).toBeLessThan(height + 40)
    expect(await top()).toBeGreaterThanOrEqual(height - 1)
  })

  it('copies commands', async () => {
    const { page, context } = await docs({ hash: '#increment' })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: counter.url })
    // It is said for 2 s only, so the page itself looks for it.
    const said = page.waitForFunction(() => document.querySelector('#copied')?.textContent === 'Copied')
    await page.locator('#increment').getByRole('button', { name: 'Copy: curl' }).first().click()
    await said
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toBe(await page.locator('#increment .curl').first().textContent())
    expect(copied).toContain(`curl -i '${counter.url}/v1/counters/`)
  })

  it('prints every operation', async () => {
    const { page } = await docs()
    const hidden = () =>
      page
        .locator('.operation .curl')
        .evaluateAll((all) => all.filter((each) => !each.checkVisibility({ contentVisibilityAuto: true })).length)
    expect(await hidden()).toBeGreaterThan(25)
    await page.emulateMedia({ media: 'print' })
    // Browsers show hidden contents with the next frame.
    await expect.poll(hidden).toBe(0)
  })

  it('works with the keyboard and without scripts', async () => {
    const { page } = await docs({ javaScriptEnabled: false })
    const focused = page.locator(':focus')
    await page.keyboard.press('Tab')
    await expect.poll(() => focused.textContent()).toBe('Skip to content')
    expect(await focused.isVisible()).toBe(true)
    await page.keyboard.press('Enter')
    await expect.poll(() => page.url()).toBe(`${counter.url}/docs#main`)
    expect(await page.locator('#filter').isVisible()).toBe(false)

    // A link opens an operation without scripts too.
    await page.goto(`${counter.url}/docs#increment`)
    const operation = page.locator('#increment')
    await operation.waitFor()
    const example = operation.locator('details', { hasText: 'with an idempotency key' })
    expect(await example.locator('.curl').isVisible()).toBe(false)
    await example.locator('summary').focus()
    await page.keyboard.press('Enter')
    await example.locator('.curl').waitFor()
    expect(await example.locator('.curl').textContent()).toContain(
      `${counter.url}/v1/counters/page_view/%2Fblog%2Fhello`,
    )
  })
})
