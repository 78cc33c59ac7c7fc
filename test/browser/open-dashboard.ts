import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import type { Chromium } from './chromium.ts'
import { type Counter, TOKEN } from './shipped-worker.ts'

/** Milliseconds of a page's time between two looks at it. */
const HURRY_MS = 2_000

/** The URL of a type's page. */
export const typeUrl = (counter: Counter, type = 'page_view') => `${counter.url}/?type=${type}`

/** Signs in with the form. Returns the page, which then shows the page views. */
export async function signedIn(context: BrowserContext, counter: Counter): Promise<Page> {
  const page = await context.newPage()
  await page.goto(typeUrl(counter))
  await typeToken(page, TOKEN)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForSelector('main[data-page]')
  // The page is shown before its script listens.
  await page.waitForLoadState()
  return page
}

/** Opens the menu in the header. */
export async function openMenu(page: Page): Promise<void> {
  // A page that is gone back to may have it open.
  if ((await page.locator('#menu:popover-open').count()) === 0) await page.getByRole('button', { name: 'Menu' }).click()
}

/** The cookies of a signed-in browser. */
export type Session = Awaited<ReturnType<BrowserContext['storageState']>>

/** Signs in to Workers, for contexts that then need not do it each: `newContext({ storageState })`. */
export function sessionOfFile(browser: Chromium, ...counters: Counter[]): Session {
  const session = {} as Session
  beforeAll(async () => {
    const context = await browser.newContext()
    for (const counter of counters) await signedIn(context, counter)
    Object.assign(session, await context.storageState())
    await context.close()
  })
  return session
}

/** Types a token into the form as soon as the page has focused the field. If it is earlier, Chromium complains on the console. */
export async function typeToken(page: Page, token: string): Promise<void> {
  await page.locator('#token:focus').waitFor()
  await page.getByLabel('API token').fill(token)
}

/**
 * Polls something of a page whose context has a clock of its own (`context.clock.install()`). The page's time runs ahead between
 * two looks, so that the page asks for its numbers soon, however long its pauses are.
 */
export function pollHurried<Seen>(page: Page, look: () => Promise<Seen>) {
  return expect.poll(async () => {
    await page.clock.fastForward(HURRY_MS)
    return look()
  })
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

/** Expects that a context's pages did nothing wrong. @param provoked what Chromium says of answers that the test provokes */
export function expectNoViolations({ foreign, messages }: Violations, provoked = /^$/): void {
  const others = messages.filter((line) => !provoked.test(line))
  expect({ foreign, messages: others }).toEqual({ foreign: [], messages: [] })
}

/** A page whose clock the test controls, and the violations of its context. */
export async function watchedPage(browser: Chromium, counter: Counter, options: BrowserContextOptions) {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  await context.clock.install()
  const violations = await watch(context, counter)
  return { context, violations, page: await context.newPage() }
}

/** Waits until a page whose clock the test controls shows a text. */
export const shows = (page: Page, selector: string, text: string | RegExp) =>
  pollHurried(page, () => page.textContent(selector)).toMatch(text)

/** Waits until a page shows what it was asked for. */
export const settledNumbers = (page: Page) => expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)

/** Waits until the script has taken over the chart of a page. */
export async function charted(page: Page): Promise<void> {
  await page.waitForSelector('#chart[role=slider]')
}

/** The link to a period. */
export const period = (page: Page, name: string) => page.locator('.tiles').getByRole('link', { name })

/** Chooses another period, whose numbers do not come: those of the one before stay. */
export async function goOffline(page: Page): Promise<void> {
  await charted(page)
  await page.context().setOffline(true)
  await period(page, 'Today').click()
  await page.getByText('You are offline.').waitFor()
}

/** Opens every section of a page, the table of the chart, and the menu. */
export async function openAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true
    document.querySelector<HTMLElement>('#menu')?.showPopover()
  })
}
