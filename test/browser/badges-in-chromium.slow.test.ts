import { makeBadge } from 'badge-maker'
import { describe, expect, it } from 'vitest'
import { BADGE_STYLES, type Badge, drawBadge } from '../../src/views/badge.ts'
import { chromiumOfFile } from './chromium.ts'

const browser = chromiumOfFile()

const LOOKS = [
  { label: 'downloads', message: '12.3k/month', color: 'blue', labelColor: 'grey' },
  { label: 'Zähler', message: '1,234', color: 'yellow', labelColor: 'fff' },
  { label: '', message: '7', color: 'brightgreen', labelColor: 'grey' },
]

describe.each(BADGE_STYLES)('In Chromium, a badge in the style %s', (style) => {
  it('has the pixels of that of shields.io', async () => {
    const context = await browser.newContext({ deviceScaleFactor: 2 })
    const page = await context.newPage()
    const drawn = async (svg: string) => {
      await page.setContent(`<img src="data:image/svg+xml,${encodeURIComponent(svg)}">`)
      return page.locator('img').screenshot()
    }
    for (const { labelColor, ...look } of LOOKS) {
      const shields = makeBadge({ ...look, ...(look.label !== '' && { labelColor }), style })
      const own = await drawn(drawBadge({ ...look, labelColor, style }))
      expect(own.equals(await drawn(shields))).toBe(true)
    }
    await context.close()
  })

  it.each(['مشاهدات', 'צפיות', 'просмотры', 'λήψεις', '👩‍👩‍👧‍👦 👍🏽', 'हिन्दी', 'ที่นี่'])(
    'draws letters that belong together as closely as text alone: %s',
    async (label) => {
      const context = await browser.newContext()
      const page = await context.newPage()
      const badge: Badge = { label, message: '1', color: 'blue', labelColor: 'grey', style }
      await page.setContent(drawBadge(badge))
      const [inBadge, alone] = await page.locator('svg').evaluate((svg) => {
        const text = svg.querySelector('text')!
        const plain = document.createElementNS('http://www.w3.org/2000/svg', 'text')
        plain.textContent = text.textContent
        text.parentElement!.append(plain)
        return [text.getComputedTextLength(), plain.getComputedTextLength()]
      })
      expect(inBadge).toBeCloseTo(alone!, 1)
      await context.close()
    },
  )
})
