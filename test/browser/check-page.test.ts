import { expect, it, onTestFinished } from 'vitest'
import { chromiumOfFile, launchChromium } from './chromium.ts'
import { watch } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'

const SITE = 'https://example.com'
const COUNTERS = { page_view: { record_type: 1, public: true, allowed_origins: [SITE] } }
const browser = chromiumOfFile()
const counter = counterOfFile({ COUNTERS })

/** Opens the owner's link in a new browser. */
async function open(of: Pick<typeof browser, 'newContext'>) {
  const context = await of.newContext()
  const violations = await watch(context, counter)
  const page = await context.newPage()
  await page.goto(`${counter.url}/check?${new URLSearchParams({ type: 'page_view', page: `${SITE}/about` })}`)
  await page.waitForLoadState()
  /** Presses the button. Returns the answer in lines. */
  const answer = async () => {
    await page.getByRole('button', { name: 'Check' }).click()
    const lines = page.locator('#check-answer p')
    await lines.first().waitFor()
    return lines.allTextContents()
  }
  return { page, violations, answer }
}

it('The page /check says that hits of this browser count, without counting any, and what it says of other addresses', async () => {
  const { page, violations, answer } = await open(browser)
  expect(await answer()).toEqual(['Yes, it counts.'])
  await page.getByLabel('Address of a page').fill('https://example.org/')
  await page.keyboard.press('Enter')
  await page.getByText('does not list https://example.org.').waitFor()
  await counter.has({}, page)
  expect(violations).toEqual({ foreign: [], messages: [] })
  // Something in between stops its hits.
  await page.reload()
  await page.route('**/check?*', (route) => route.abort('blockedbyclient'))
  expect(await answer()).toEqual(['The hit did not reach the Worker.', expect.stringContaining('blocker')])
})

it('The page /check says that a program drives the browser', async () => {
  const automated = await launchChromium({ automated: true })
  onTestFinished(() => automated.close())
  const { answer } = await open(automated)
  expect((await answer())[1]).toBe('A program drives the browser.')
})
