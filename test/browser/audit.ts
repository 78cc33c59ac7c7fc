import axe from 'axe-core'
import type { Page } from 'playwright-core'
import type { Chromium } from './chromium.ts'
import type { Session } from './open-dashboard.ts'

/** All rules of WCAG 2.2 A and AA, best practices, and what axe-core still tries out. */
const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice', 'experimental']
/** Those of them that look at colors. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/** In CSS pixels, from a narrow phone (WCAG 1.4.10) on; 640 is a laptop at 200 %. Nothing may scroll sideways at any of them. */
const WIDTHS = [320, 390, 640, 768, 1280, 1920]
/** In the dark, a page has other colors, and is the same in everything else. */
const AUDITS = [
  [320, 'light', ALL_RULES],
  [320, 'dark', COLOR_RULES],
  [1280, 'light', ALL_RULES],
  [1280, 'dark', COLOR_RULES],
] as const

/** A context for pages to audit. */
export const auditedContext = (browser: Chromium, storageState?: Session) =>
  browser.newContext({ locale: 'en-GB', ...(storageState && { storageState }) })

/** Finds what is wrong with a page as it is now: what axe-core finds, and what is wider than the page. */
export async function audit(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    await settled(page)
    found.push(...(await page.evaluate(tooWide)).map((part) => `${width} px: too wide: ${part}`))
  }
  for (const [width, colorScheme, rules] of AUDITS) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    await settled(page)
    found.push(...(await violations(page, rules)).map((line) => `${width} px, ${colorScheme}: ${line}`))
  }
  return found
}

/** What axe-core finds, as a line for each element. */
async function violations(page: Page, rules: string[]): Promise<string[]> {
  // A script tag would need the page's policy to allow it.
  await page.evaluate(axe.source)
  return page.evaluate(async (runOnly) => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') }
    const { violations } = await axe.run(document, { runOnly, resultTypes: ['violations'] })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
    )
  }, rules)
}

/** Waits for observers of sizes and media, which run before the second frame. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))),
  )
}

/** Elements beyond the right edge of a page that scrolls sideways, or of a dialog. Runs in the page. */
function tooWide(): string[] {
  const { clientWidth, scrollWidth } = document.documentElement
  return [...document.querySelectorAll(scrollWidth > clientWidth ? 'body *' : 'dialog[open]')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth)
    .map((element) => element.outerHTML.slice(0, 80))
}
