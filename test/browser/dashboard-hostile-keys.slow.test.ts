import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { launchChromium } from './chromium.ts'
import { counterUrl, type Session, sessionOf, type Violations, watch } from './open-dashboard.ts'
import { type Counter, startCounter } from './shipped-worker.ts'

let browser: Browser
let counter: Counter
let session: Session
beforeAll(async () => {
  counter = await startCounter()
  browser = await launchChromium()
  session = await sessionOf(browser, counter)
})
afterAll(async () => {
  await browser?.close()
  await counter?.stop()
})

/** Opens the dashboard in a signed-in browser, and records violations until the test is over. */
async function open(): Promise<{ page: Page; violations: Violations }> {
  const context = await browser.newContext({ locale: 'en-GB', storageState: session })
  const violations = await watch(context, counter)
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(counter.url)
  return { page, violations }
}

const RIGHT_TO_LEFT = '\u202Egnp.efas'
const HOSTILE: [name: string, key: string][] = [
  ['a script', '<script>document.title="owned"</script>'],
  ['an image', '"><img src=x onerror="document.title=\'owned\'">'],
  ['quotes', `'";--\`\${1}{{2}}`],
  ['closing tags of its surroundings', '</bdi></h1></textarea></dialog></main><h1>owned</h1>'],
  ['a style', '<style>*{display:none}</style>'],
  ['entities', '&lt;b&gt;&amp;&#x41;&nbsp'],
  ['a script’s address', 'javascript:document.title="owned"'],
  ['right to left', 'שלום/مرحبا'],
  ['an override of direction', RIGHT_TO_LEFT],
  ['emoji', '👩‍👩‍👧‍👦🏳️‍🌈 e\u0301 👍🏽'],
  ['a space', ' '],
  ['characters of a query string', 'a&key=b=c+d#e?f%2Fg'],
  ['control characters', 'with\r\nb\tc\u0007\u007f'],
  ['512 bytes without a break', 'x'.repeat(512)],
  ['512 bytes of two-byte letters', 'é'.repeat(256)],
  ['a byte order mark', '\uFEFFa'],
  ['a path to another page', '../../v1/status'],
]

describe('a key that is', () => {
  it.each(HOSTILE)('%s is only text, everywhere', async (_, key) => {
    await counter.add('page_view', key, 7)
    await counter.rollUp(new Date())
    onTestFinished(() => counter.clear())
    const { page, violations } = await open()
    await expect.poll(() => page.locator('#top a').allTextContents()).toEqual([key])
    // Input fields cannot hold line breaks.
    await page.getByLabel('Keys that begin with').fill(key.replace(/[\r\n].*/s, ''))
    await page.getByRole('button', { name: 'Find' }).click()
    await expect.poll(() => page.url()).toContain('find=')
    await expect.poll(() => page.locator('#top a').allTextContents()).toEqual([key])

    await page.locator('#top a').click()
    await page.waitForSelector('main[data-page=counter]')
    await expect.poll(() => page.textContent('#figure-all')).toBe('7')
    expect(new URL(page.url()).searchParams.get('key')).toBe(key)
    // HTML has one kind of line break.
    const shown = key.replaceAll('\r\n', '\n')
    expect(await page.textContent('h1')).toBe(shown)
    expect(await page.locator('h1').count()).toBe(1)
    await page.locator('#change > summary').click()
    await page.getByRole('button', { name: 'Reset to zero …' }).click()
    expect((await page.getByRole('dialog').textContent())?.replaceAll('\r\n', '\n')).toContain(shown)
    await page.getByRole('dialog').getByRole('button', { name: 'Reset to zero' }).click()
    // The right counter was reset.
    await expect.poll(() => page.textContent('#figure-all')).toBe('0')
    expect(Object.values(await counter.counts())).toEqual([0])

    expect(await page.title()).not.toBe('owned')
    expect(violations).toEqual({ foreign: [], messages: [] })
  })

  it('invalid is reported as invalid', async () => {
    const { page, violations } = await open()
    for (const key of ['', 'x'.repeat(513)]) {
      await page.goto(counterUrl(counter, 'page_view', key))
      await expect.poll(() => page.textContent('#history-message')).toMatch(/^key must/)
    }
    expect(violations.foreign).toEqual([])
  })
})
