import { type Browser, type BrowserContext, chromium, type LaunchOptions } from 'playwright-core'
import { inject } from 'vitest'

/** The User-Agent with a window. Without one, Chromium's contains HeadlessChrome, which counts as a bot. */
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

/** Arguments for Chromium. Its sandbox does not work for root. */
export const CHROMIUM_ARGUMENTS = ['--no-sandbox', `--user-agent=${AGENT}`]

/** Launches Chromium with the behaviour of an ordinary browser. */
export function launchChromium({ args = [], ...options }: LaunchOptions = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: inject('chromium'),
    args: [...CHROMIUM_ARGUMENTS, ...args],
    // Keeps the back/forward cache.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    ...options,
  })
}

/** Records messages on the console, for tests that expect none. */
export function consoleOf(context: BrowserContext): string[] {
  const lines: string[] = []
  context.on('console', (message) => lines.push(`${message.type()}: ${message.text()}`))
  context.on('weberror', (error) => lines.push(String(error.error())))
  return lines
}
