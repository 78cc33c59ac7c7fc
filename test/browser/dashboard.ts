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

/** The page of a counter. */
export function counterUrl(counter: Counter, type: string, key: string): string {
  return `${counter.url}/counter?${new URLSearchParams({ type, key })}`
}

/** What the pages of a context did that they must not do: gathered while they are looked at. */
export interface Misdeeds {
  /** Requests that left the Worker's origin. */
  foreign: string[]
  /** What the policy stopped, errors, and whatever was said on the console. */
  said: string[]
}

export async function watch(context: BrowserContext, counter: Counter): Promise<Misdeeds> {
  const misdeeds: Misdeeds = { foreign: [], said: [] }
  context.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${counter.url}/`) && !url.startsWith('data:')) misdeeds.foreign.push(url)
  })
  context.on('console', (message) => misdeeds.said.push(message.text()))
  context.on('weberror', (error) => misdeeds.said.push(String(error.error())))
  context.on('dialog', (dialog) => misdeeds.said.push(`dialog: ${dialog.message()}`))
  // The console is told of most violations, but not of all.
  await context.exposeFunction('tellViolation', (violation: string) => misdeeds.said.push(violation))
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      ;(self as unknown as { tellViolation(text: string): void }).tellViolation(`${violatedDirective} ${blockedURI}`)
    })
  })
  return misdeeds
}
