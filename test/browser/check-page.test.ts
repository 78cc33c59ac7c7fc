import { expect, it, onTestFinished } from 'vitest'
import { chromiumOfFile, launchChromium } from './chromium.ts'
import { watch } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'

const SITE = 'https://example.com'
const browser = chromiumOfFile()
const counter = counterOfFile({ COUNTERS: { page_view: { record_type: 1, allowed_origins: [SITE] } } })

it('The page /check says what a hit of this browser would do, without sending one', async () => {
  const automated = await launchChromium([], true)
  onTestFinished(() => automated.close())
  for (const [of, says] of [
    [browser, ['Yes, it counts.']],
    [automated, [expect.any(String), 'A program controls the browser.', expect.any(String)]],
  ] as const) {
    const context = await of.newContext()
    const provokes = await watch(context, counter)
    const page = await context.newPage()
    await page.goto(`${counter.url}/check?${new URLSearchParams({ type: 'page_view', page: `${SITE}/about` })}`)
    const answer = page.locator('#check-answer p')
    await page.getByLabel('Address of a page').press('Enter')
    await expect.poll(() => answer.allTextContents()).toEqual(says)
    await counter.has({}, page)
    // Something in between stops its hits.
    provokes(/ERR_BLOCKED_BY_CLIENT/)
    await page.route('**/check?*', (route) => route.abort('blockedbyclient'))
    await page.getByRole('button', { name: 'Check' }).click()
    await expect.poll(() => answer.last().textContent()).toContain('A blocker in this browser')
  }
})
