import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { withinAnHour } from './local-days.ts'
import { rankingOf, sampleCounter, sumOf } from './sample-counter.ts'
import { startSite } from './test-site.ts'

const DAY_MS = 86_400_000

const browser = chromiumOfFile()
const counter = sampleCounter()

/** The views of some days in UTC, or of 12 months, that keys with a beginning have. */
async function viewsOf(start: string, days: number | null): Promise<number> {
  const now = Date.now()
  const today = new Date(now)
  const month = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 11, 1)).toISOString().slice(0, 10)
  const rows = days === null ? { firstMonth: month } : { from: new Date(now - (now % DAY_MS) - (days - 1) * DAY_MS) }
  return sumOf((await rankingOf(counter, 'page_view', rows)).filter(({ key }) => key.startsWith(start)))
}

it.each([
  ['page_view/%2Fpricing.svg', '/pricing', 30, 30],
  ['page_view/%2Fpricing.svg?period=90d', '/pricing', 90, 90],
  ['page_view/%2Fpricing.svg?period=12m', '/pricing', null, 12],
  ['page_view.svg?prefix=/blog/', '/blog/', 30, 30],
  ['page_view.svg?prefix=/docs/&period=12m', '/docs/', null, 12],
  ['page_view.svg', '/', 30, 30],
])(
  'The chart %s is an image that other sites show, light and dark, with the sum of its bars',
  async (path, start, days, bars) => {
    const address = `${counter.url}/chart/${path}`
    const site = await startSite({ '/': { html: `<!doctype html><img src="${address}">` } })
    const context = await browser.newContext()
    const page = await context.newPage()
    const looks: Buffer[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.goto(site.url)
      const image = page.locator('img')
      await expect.poll(() => image.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(640)
      looks.push(await image.screenshot())
    }
    expect(looks[0]!.equals(looks[1]!)).toBe(false)
    await withinAnHour(async () => {
      const response = await page.goto(address)
      expect(response!.headers()['cache-control']).toMatch(/^public, max-age=60\b/)
      expect(await page.locator('text.s').textContent()).toBe(
        `${(await viewsOf(start, days)).toLocaleString('en')} views`,
      )
      expect(await barsOf(page)).toBe(bars)
    })
  },
)

/** How many bars a chart has, the one of today too. */
async function barsOf(page: Page): Promise<number> {
  const paths = await page
    .locator('g > path.b, g > path.n')
    .evaluateAll((all) => all.map((path) => path.getAttribute('d')!))
  return paths.join('').split('M').length - 1
}
