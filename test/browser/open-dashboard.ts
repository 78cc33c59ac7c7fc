import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, expect, onTestFinished } from 'vitest'
import { type Chromium, chromiumOfFile, consoleOf } from './chromium.ts'
import { type Counter, TOKEN } from './shipped-worker.ts'

export const typeUrl = (counter: Counter) => `${counter.url}/?type=page_view`
export const counterUrl = (counter: Counter, type: string, key: string) =>
  `${counter.url}/counter?${new URLSearchParams({ type, key })}`

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

export type Session = Awaited<ReturnType<BrowserContext['storageState']>>

/** A browser that is signed in, for the tests of a file: `newContext({ storageState: session })`. */
export function signedInOfFile(counter: Counter) {
  const [browser, session] = [chromiumOfFile(), {} as Session]
  beforeAll(async () => {
    const context = await browser.newContext()
    await signedIn(context, counter)
    Object.assign(session, await context.storageState())
    await context.close()
  })
  return { browser, session }
}

/** Types a token into the form as soon as the page has focused the field. If it is earlier, Chromium complains on the console. */
export async function typeToken(page: Page, token: string): Promise<void> {
  await page.locator('#token:focus').waitFor()
  await page.getByLabel('API token').fill(token)
}

/** Polls something of a page whose clock the test controls. Its time runs ahead between two looks, so that it soon asks for numbers. */
export const pollHurried = <Seen>(page: Page, look: () => Promise<Seen>) =>
  expect.poll(() => page.clock.fastForward(2_000).then(look))

/** Expects that pages send nothing to other origins, violate no policy, and log nothing. @returns a function that allows what a test provokes */
export async function watch(context: BrowserContext, counter: Counter): Promise<(provoked: RegExp) => void> {
  const violations = consoleOf(context)
  let allowed = /^$/
  context.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith('data:') && !`${url}/`.startsWith(`${counter.url}/`)) violations.push(`foreign: ${url}`)
  })
  context.on('dialog', (dialog) => violations.push(`dialog: ${dialog.message()}`))
  // The console shows most policy violations, but not all.
  await context.exposeFunction('tellViolation', (violation: string) => violations.push(violation))
  await context.addInitScript(`document.addEventListener('securitypolicyviolation',
    ({ violatedDirective, blockedURI }) => tellViolation(violatedDirective + ' ' + blockedURI))`)
  onTestFinished(() => expect(violations.filter((line) => !allowed.test(line))).toEqual([]))
  return (provoked) => {
    allowed = provoked
  }
}

/** A page whose clock the test controls, and that is watched. */
export async function watchedPage(browser: Chromium, counter: Counter, options: BrowserContextOptions) {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  await context.clock.install()
  const provokes = await watch(context, counter)
  return { context, provokes, page: await context.newPage() }
}

export const shows = (page: Page, selector: string, text: string | RegExp) =>
  pollHurried(page, () => page.textContent(selector)).toMatch(text)

/** Waits until a page shows what it was asked for. */
export const settledNumbers = (page: Page) => expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)

export const charted = (page: Page) => page.waitForSelector('#chart[role=slider]')

export const period = (page: Page, name: string) => page.locator('.tiles').getByRole('link', { name })

/** Opens every section of a page, the table of the chart, the menu, and the list of problems. */
export const openAll = (page: Page) =>
  page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true
    document.querySelector<HTMLElement>('#menu')?.showPopover()
    document.querySelector('#problems')?.removeAttribute('hidden')
    document.querySelector('#problems ul')?.replaceChildren(document.createElement('li'))
    document.querySelector('#problems li')?.append('No roll-up has finished yet.')
  })
