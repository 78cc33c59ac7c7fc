import type { BrowserContext, Page } from 'playwright-core'
import { type Counter, TOKEN } from './visitor.ts'

/** Signs in as people do; the page that is left is the first type's. */
export async function signedIn(context: BrowserContext, counter: Counter): Promise<Page> {
  const page = await context.newPage()
  await page.goto(counter.url)
  await page.getByLabel('API token').fill(TOKEN)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForSelector('main[data-page]')
  return page
}
