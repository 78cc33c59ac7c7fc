import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, inject, onTestFinished, TestRunner } from 'vitest'

/** The User-Agent with a window. Without one, Chromium's contains HeadlessChrome, which counts as a bot. */
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

/** Arguments for Chromium. Its sandbox does not work for root. */
export const CHROMIUM_ARGUMENTS = ['--no-sandbox', `--user-agent=${AGENT}`]

/** Launches Chromium with the behaviour of an ordinary browser. @param automated the browser says that a program drives it */
export function launchChromium(args: string[] = [], automated = false): Promise<Browser> {
  // Hits with `navigator.webdriver` do not count.
  const hidden = automated ? [] : ['--disable-blink-features=AutomationControlled']
  return chromium.launch({
    executablePath: inject('chromium'),
    args: [...CHROMIUM_ARGUMENTS, ...hidden, ...args],
    // Keeps the back/forward cache.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
}

export type Chromium = Pick<Browser, 'newContext' | 'newBrowserCDPSession'>

/** Launches Chromium for the tests of a file. A context that a test opens is closed when the test ends. */
export function chromiumOfFile(args?: string[]): Chromium {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchChromium(args)
  })
  afterAll(() => browser?.close())
  return {
    async newContext(options) {
      const context = await browser.newContext(options)
      if (TestRunner.getCurrentTest()) onTestFinished(() => context.close())
      return context
    },
    newBrowserCDPSession: () => browser.newBrowserCDPSession(),
  }
}

/** Milliseconds: twice as long as the beacon waits before it does anything that follows from an event. */
export const SETTLE_MS = 200

/** Waits until all is sent and answered that follows from what has happened. The page itself waits: its timers run in order. */
export async function settled(page: Page): Promise<void> {
  for (let sent = -1; ; ) {
    const requests = await page.requests()
    if (requests.length === sent) return
    sent = requests.length
    // What an earlier document has sent goes on without the page, which does not learn of the answer.
    const own = requests.slice(requests.findLastIndex((request) => request.isNavigationRequest()))
    await Promise.all(own.map((request) => request.response()))
    await page.evaluate((ms) => new Promise((done) => setTimeout(done, ms)), SETTLE_MS)
  }
}

export function consoleOf(context: BrowserContext): string[] {
  const lines: string[] = []
  context.on('console', (message) => lines.push(`${message.type()}: ${message.text()}`))
  context.on('weberror', (error) => lines.push(String(error.error())))
  return lines
}
