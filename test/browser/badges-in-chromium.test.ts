import { makeBadge } from 'badge-maker'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { BADGE_STYLES, drawBadge } from '../../src/views/badge.ts'
import { chromiumOfFile } from './chromium.ts'

const LOOKS = [
  { label: 'downloads', message: '12.3k/month', color: 'blue', labelColor: 'grey' },
  { label: 'Zähler', message: '1,234', color: 'yellow', labelColor: 'fff' },
  { label: '', message: '7', color: 'brightgreen', labelColor: 'grey' },
]
const SCRIPTS = ['مشاهدات', 'צפיות', 'просмотры', 'λήψεις', '👩‍👩‍👧‍👦 👍🏽', 'हिन्दी', 'ที่นี่']

const browser = chromiumOfFile()
let page: Page
beforeAll(async () => {
  page = await (await browser.newContext({ deviceScaleFactor: 2 })).newPage()
})

describe.each(BADGE_STYLES)('In Chromium, a badge in the style %s', (style) => {
  it('has the pixels of that of shields.io', async () => {
    const drawn = async (svg: string) => {
      await page.setContent(`<img src="data:image/svg+xml,${encodeURIComponent(svg)}">`)
      return page.locator('img').screenshot()
    }
    for (const { labelColor, ...look } of LOOKS) {
      const shields = makeBadge({ ...look, ...(look.label !== '' && { labelColor }), style })
      const own = await drawn(drawBadge({ ...look, labelColor, style }))
      expect(own.equals(await drawn(shields))).toBe(true)
    }
  })

  it('draws letters that belong together as closely as text alone', async () => {
    for (const label of SCRIPTS) {
      await page.setContent(drawBadge({ label, message: '1', color: 'blue', labelColor: 'grey', style }))
      const [inBadge, alone] = await page.locator('svg').evaluate((svg) => {
        const text = svg.querySelector('text')!
        const plain = document.createElementNS('http://www.w3.org/2000/svg', 'text')
        plain.textContent = text.textContent
        text.parentElement!.append(plain)
        return [text.getComputedTextLength(), plain.getComputedTextLength()]
      })
      expect(inBadge, label).toBeCloseTo(alone!, 1)
    }
  })
})
