import { beforeAll, expect, it } from 'vitest'
import { chromiumOfFile } from './chromium.ts'
import { counterOfFile } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

const browser = chromiumOfFile()
const counter = counterOfFile()

beforeAll(async () => {
  // Neither today nor in this month, whose bars are others.
  const days = [10, 45].map((ago) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10))
  const counters = days.map((day) => ({ type: 'page_view', key: '/pricing', count: 7, day }))
  await counter.api('POST', '/v1/imports', { counters })
})

it.each(['page_view/%2Fpricing.svg', 'page_view.svg?period=12m'])(
  'The chart %s is an image that other sites show, light and dark, with bars in its plot',
  async (path) => {
    const address = `${counter.url}/chart/${path}`
    const site = await startSite({ '/': { html: `<!doctype html><img src="${address}">` } })
    const page = await (await browser.newContext()).newPage()
    const looks: Buffer[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.goto(site.url)
      const image = page.locator('img')
      await expect.poll(() => image.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(640)
      looks.push(await image.screenshot())
    }
    expect(looks[0]!.equals(looks[1]!)).toBe(false)
    await page.goto(address)
    const { x, y, width, height } = (await page.locator('path.bars').boundingBox())!
    expect([x >= 52, x + width <= 621, y >= 40, y + height <= 200, height > 50]).toEqual([true, true, true, true, true])
  },
)
