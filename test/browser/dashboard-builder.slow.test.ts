import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tokenLines, tokenOf } from '../harness/tokens.ts'
import { chromiumOfFile } from './chromium.ts'
import { counterUrl, sessionOfFile, typeToken, type Violations, watchedPage } from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'
import { startCounter, TOKEN } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = sampleCounter()
const session = sessionOfFile(browser, counter)
let context: BrowserContext
let page: Page
let violations: Violations
beforeEach(async () => {
  ;({ context, violations, page } = await watchedPage(browser, counter, { timezoneId: 'UTC', storageState: session }))
})
afterEach(async () => {
  await context.close()
  expect(violations).toEqual({ foreign: [], messages: [] })
})

const code = () => page.getByRole('textbox', { name: 'To paste' })
async function openBuilder(key: string): Promise<void> {
  await page.goto(counterUrl(counter, 'page_view', key))
  await page.getByText('Badges, charts and snippets').click()
}

describe('the builder', () => {
  it('makes badges and snippets, with a preview', async () => {
    await counter.add('page_view', '/a b/ü', 12)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: counter.url })
    await openBuilder('/a b/ü')
    const address = `${counter.url}/badge/page_view/%2Fa%20b%2F%C3%BC.svg`
    await expect.poll(() => code().inputValue()).toBe(`![views](${address})`)
    await page.getByRole('button', { name: 'Copy: To paste' }).click()
    await page.getByText('Copied.').waitFor()
    // What was copied is marked.
    const marked = (area: HTMLTextAreaElement) => [
      document.activeElement === area,
      area.selectionStart,
      area.selectionEnd,
    ]
    expect(await code().evaluate(marked)).toEqual([true, 0, `![views](${address})`.length])
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`![views](${address})`)
    expect(await (await fetch(address)).text()).toContain('12')

    await page.getByLabel('Label').fill('seen')
    await page.getByLabel('Color').fill('0a0')
    await page.getByLabel('Style').selectOption('flat-square')
    await page.getByLabel('Write as').selectOption('HTML')
    const query = '?label=seen&color=0a0&style=flat-square'
    expect(await code().inputValue()).toBe(`<img src="${address}${query.replaceAll('&', '&amp;')}" alt="seen">`)
    const preview = page.getByAltText('Preview on a light ground')
    await expect.poll(() => preview.getAttribute('src')).toBe(address + query)
    await expect.poll(() => preview.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(20)
    // An unknown color is not tried.
    await page.getByLabel('Color').fill('blurple')
    expect(await code().inputValue()).toContain('color=0a0')

    await page.locator('[name=kind]').selectOption('Image that counts a page')
    expect(await page.getByLabel('Color').isVisible()).toBe(false)
    const pixel = /src="([^"]+)"/.exec(await code().inputValue())![1]!.replaceAll('&amp;', '&')
    await fetch(pixel, { headers: { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0' } })
    await expect.poll(async () => (await counter.counts())['page_view /a b/ü']).toBe(13)
  })

  it('makes charts, and shows them on a light and a dark ground', async () => {
    await openBuilder('/pricing')
    await page.locator('[name=kind]').selectOption('Chart')
    await page.locator('[name=days]').selectOption('12 months')
    const chart = `${counter.url}/chart/page_view/%2Fpricing.svg?period=12m`
    expect(await code().inputValue()).toBe(`![Chart of views](${chart})`)
    await page.getByLabel('Write as').selectOption('HTML')
    expect(await code().inputValue()).toBe(`<img src="${chart}" alt="Chart of views">`)
    // One image on both grounds, as people see it whose pages are light or dark.
    const looks: Buffer[] = []
    for (const ground of ['light', 'dark']) {
      const image = page.getByAltText(`Preview on a ${ground} ground`)
      await expect.poll(() => image.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(640)
      expect(await image.getAttribute('src')).toBe(chart)
      looks.push(await image.screenshot())
    }
    expect(looks[0]!.equals(looks[1]!)).toBe(false)
  })

  it('makes the snippets with which a type counts: none for pages if another type counts the same visits', async () => {
    const COUNTERS = {
      page_view: { record_type: 1, unit: 'views', public: true, also: 'visitor' },
      visitor: { record_type: 3, unit: 'visitors', public: true, dedupe_seconds: 86_400 },
    }
    const API_TOKENS = await tokenLines({ reader: 'read:visitor', program: 'count:page_view' })
    const also = await startCounter({ COUNTERS, SITES: 'https://blog.example', API_TOKENS })
    const builderOf = async (type: string, token: string) => {
      const page = await (await browser.newContext()).newPage()
      await page.goto(counterUrl(also, type, '/a'))
      await typeToken(page, token)
      await page.keyboard.press('Enter')
      await page.getByText('Badges, charts and snippets').click()
      const kinds = page.locator('[name=kind]')
      return { page, kinds, code: page.getByRole('textbox', { name: 'To paste' }) }
    }
    const { page, kinds, code } = await builderOf('page_view', TOKEN)
    await kinds.selectOption('Number and visitors in a page')
    expect(await code.inputValue()).toBe(
      '<b data-counter="/a">…</b> views by <b data-counter="/a" data-type="visitor">…</b> visitors',
    )
    const sites = page.getByText('Only pages of https://blog.example count')
    expect(await sites.isVisible()).toBe(false)
    await kinds.selectOption('Script that counts a page')
    expect(await sites.isVisible()).toBe(true)
    await kinds.selectOption('Request of a program')
    const [, url = '', body = ''] = /'(http.*?)'.* -d '(.*)'/.exec(await code.inputValue())!
    const headers = { Authorization: `Bearer ${tokenOf('program')}`, 'Content-Type': 'application/json' }
    expect((await fetch(url, { method: 'POST', headers, body })).ok).toBe(true)
    await also.has({ 'page_view /a': 1 }, page)

    // Whoever does not see the other type is not told to count visitors on their own either.
    const limited = await builderOf('visitor', tokenOf('reader'))
    const offered = await limited.kinds
      .locator('option')
      .evaluateAll((options: HTMLOptionElement[]) => options.map(({ value }) => value))
    expect(offered).toEqual(['badge', 'chart', 'count', 'program'])
    await limited.page.goto(also.url)
    await limited.page.getByText('It needs no script').waitFor()
    expect(await limited.page.locator('#first-run-script').count()).toBe(0)
  })
})
