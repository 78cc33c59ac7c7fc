import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { tokenLines, tokenOf } from '../harness/tokens.ts'
import { chromiumOfFile } from './chromium.ts'
import { typeToken } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = counterOfFile({ API_TOKENS: await tokenLines({ some: 'read:download' }) })

const newPage = async () => (await browser.newContext({ locale: 'en-GB' })).newPage()
/** Signs in with a token for downloads alone. */
async function signedIn(path: string): Promise<Page> {
  const page = await newPage()
  await page.goto(counter.url + path)
  await typeToken(page, tokenOf('some'))
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Types' }).waitFor()
  return page
}

describe('An address that shows nothing', () => {
  it('is a page with a way on for people, and a problem document for programs', async () => {
    const page = await newPage()
    await page.goto(`${counter.url}/nothing`)
    expect(await page.textContent('h1')).toBe('Nothing is served at this path')
    const answer = await page.evaluate(async () => {
      const response = await fetch('/nothing', { headers: { Accept: 'application/json' } })
      return [response.headers.get('Content-Type'), (await response.json()).code]
    })
    expect(answer).toEqual(['application/problem+json', 'not_found'])
    await page.getByRole('link', { name: 'Go to the start page' }).click()
    await page.getByLabel('API token').waitFor()
  })

  it.each([
    ['/?type=gone', 'There is no such type', 'Nothing is counted as “gone”. Choose a type above.'],
    ['/?type=page_view', 'Your token may not see this type', 'sign in with another token.'],
    ['/counter?type=download', 'There is no such counter', 'its type and its key.'],
    ['/stats/download', 'This page is not public', 'in the dashboard'],
  ])('says so to those who are signed in, with the types that they may see: %s', async (path, title, text) => {
    const page = await signedIn('/')
    await page.goto(counter.url + path)
    expect(await page.textContent('h1')).toBe(title)
    expect(await page.textContent('main')).toContain(text)
    await page.getByRole('navigation', { name: 'Types' }).getByRole('link', { name: 'Downloads' }).click()
    await page.waitForSelector('main[data-page=overview]')
  })
})
