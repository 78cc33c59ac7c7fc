import type { BrowserContext, Page } from 'playwright-core'
import { type Counter, TOKEN } from './shipped-worker.ts'

/** Signs in with the form. Returns the page, which then shows the first type. */
export async function signedIn(context: BrowserContext, counter: Counter): Promise<Page> {
  const page = await context.newPage()
  await page.goto(counter.url)
  await typeToken(page, TOKEN)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForSelector('main[data-page]')
  // The page is shown before its script listens.
  await page.waitForLoadState()
  return page
}

/** Types a token into the form as soon as the page has focused the field. If it is earlier, Chromium complains on the console. */
export async function typeToken(page: Page, token: string): Promise<void> {
  await page.locator('#token:focus').waitFor()
  await page.getByLabel('API token').fill(token)
}

/** The URL of a counter's page. */
export function counterUrl(counter: Counter, type: string, key: string): string {
  return `${counter.url}/counter?${new URLSearchParams({ type, key })}`
}

/** What the pages of a context did but must not do. */
export interface Violations {
  /** Requests that left the Worker's origin. */
  foreign: string[]
  /** Policy violations, errors, and messages on the console. */
  messages: string[]
}

/** Records the violations of a context's pages. */
export async function watch(context: BrowserContext, counter: Counter): Promise<Violations> {
  const violations: Violations = { foreign: [], messages: [] }
  context.on('request', (request) => {
    const url = request.url()
    if (url !== counter.url && !url.startsWith(`${counter.url}/`) && !url.startsWith('data:'))
      violations.foreign.push(url)
  })
  context.on('console', (message) => violations.messages.push(message.text()))
  context.on('weberror', (error) => violations.messages.push(String(error.error())))
  context.on('dialog', (dialog) => violations.messages.push(`dialog: ${dialog.message()}`))
  // The console shows most policy violations, but not all.
  await context.exposeFunction('tellViolation', (violation: string) => violations.messages.push(violation))
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      ;(self as unknown as { tellViolation(text: string): void }).tellViolation(`${violatedDirective} ${blockedURI}`)
    })
  })
  return violations
}

/** Opens the table below the chart, and reads its rows like `tableRows`. */
export async function chartRows(page: Page): Promise<string[]> {
  await page.locator('details:has(#history-rows)').evaluate((details: HTMLDetailsElement) => {
    details.open = true
  })
  await page.waitForSelector('#history-rows tr')
  return tableRows(page, '#history-rows')
}

/** The rows of a table, with their cells separated by ` | `. */
export function tableRows(page: Page, selector: string): Promise<string[]> {
  return page
    .locator(`${selector} tr`)
    .evaluateAll((rows) => rows.map((row) => [...row.children].map(({ textContent }) => textContent).join(' | ')))
}
