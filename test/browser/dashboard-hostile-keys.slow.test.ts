import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { visibleKey } from '../../src/visible-key.ts'
import { chromiumOfFile } from './chromium.ts'
import { counterUrl, sessionOfFile, type Violations, watch } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()
const session = sessionOfFile(browser, counter)

/** Opens a page in a signed-in browser, and records violations until the test is over. */
async function open(url: string): Promise<{ page: Page; violations: Violations }> {
  const context = await browser.newContext({ locale: 'en-GB', storageState: session })
  const violations = await watch(context, counter)
  const page = await context.newPage()
  await page.goto(url)
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
  ['blanks at its ends and in a row', ' a  b '],
  ['zero width', 'a\u200B\u2060b\u00AD'],
  ['isolates of direction', '\u2067a\u2069'],
  ['a letter that Persian separates', 'می‌خواهم'],
  ['characters of a query string', 'a&key=b=c+d#e?f%2Fg'],
  ['control characters', 'with\r\nb\tc\u0007\u007f'],
  ['512 bytes without a break', 'x'.repeat(512)],
  ['512 bytes of two-byte letters', 'é'.repeat(256)],
  ['a byte order mark', '\uFEFFa'],
  ['a path to another page', '../../v1/status'],
]

const sumOfAll = async () => Object.values(await counter.counts()).reduce((sum, count) => sum + count, 0)

describe('keys that are hostile', () => {
  beforeAll(async () => {
    const increments = HOSTILE.map(([, key], i) => ({ type: 'page_view', key, by: 100 - i }))
    await counter.api('POST', '/v1/increments', { increments })
    await counter.rollUp(new Date())
  })

  it('are only text in the list, and are found', async () => {
    const { page, violations } = await open(counter.url)
    const listed = () => page.locator('#top a').allTextContents()
    const more = page.getByRole('button', { name: 'Show more' })
    await more.click()
    await expect.poll(listed).toEqual(HOSTILE.map(([, key]) => visibleKey(key)))
    const links = await page.locator('#top a').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
    expect(links.map((link) => new URL(link).searchParams.get('key'))).toEqual(HOSTILE.map(([, key]) => key))
    for (const [, key] of HOSTILE) {
      // Input fields cannot hold line breaks.
      const beginning = key.replace(/[\r\n].*/s, '')
      await page.getByLabel('Filter').fill(beginning)
      await page.getByLabel('Filter').press('Enter')
      const text = beginning.toLowerCase()
      const found = HOSTILE.map(([, other]) => other).filter((other) => other.toLowerCase().includes(text))
      await expect.poll(listed).toEqual(found.map(visibleKey))
    }
    expect(await page.title()).not.toBe('owned')
    expect(violations).toEqual({ foreign: [], messages: [] })
  })

  it('show their override of direction instead of obeying it, and lead to the page of the key itself', async () => {
    const { page } = await open(counterUrl(counter, 'page_view', RIGHT_TO_LEFT))
    await expect.poll(() => page.textContent('h1')).toBe('\\u{202E}gnp.efas')
    await page.goto(counter.url)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('link', { name: '\\u{202E}gnp.efas' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('key')).toBe(RIGHT_TO_LEFT)
  })

  it.each(HOSTILE)('such as %s are only text on the page of the counter', async (_, key) => {
    const { page, violations } = await open(counterUrl(counter, 'page_view', key))
    const count = 100 - HOSTILE.findIndex(([, other]) => other === key)
    await expect.poll(() => page.textContent('#figure-all')).toBe(`${count}`)
    expect(await page.textContent('h1')).toBe(visibleKey(key))
    expect(await page.title()).toBe(`${visibleKey(key)} · Slotted Counter`)
    expect(await page.locator('h1').count()).toBe(1)
    await page.locator('#change > summary').click()
    await page.getByLabel('Set to').fill('0')
    await page.getByRole('button', { name: 'Set …' }).click()
    expect(await page.getByRole('dialog').textContent()).toContain(visibleKey(key))
    const before = await sumOfAll()
    await page.getByRole('dialog').getByRole('button', { name: 'Set to 0' }).click()
    await expect.poll(() => page.textContent('#figure-all')).toBe('0')
    // The right counter was set: each has another count.
    expect(await sumOfAll()).toBe(before - count)

    expect(await page.title()).not.toBe('owned')
    expect(violations).toEqual({ foreign: [], messages: [] })
  })

  it('and invalid are reported as invalid', async () => {
    const { page, violations } = await open(counter.url)
    for (const key of ['', 'x'.repeat(513)]) {
      await page.goto(counterUrl(counter, 'page_view', key))
      await expect
        .poll(() => page.textContent('#history-message'))
        .toMatch(/^key must (not be empty|have at most 512 bytes)/)
    }
    expect(violations.foreign).toEqual([])
  })
})
