import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { everySectionOpen, expectNothingWrong, type State } from './audited-page.ts'
import { chromiumOfFile } from './chromium.ts'
import { charted, goOffline, period, sessionOfFile } from './open-dashboard.ts'
import { counterWithHistory } from './sample-history.ts'
import { counterOfFile } from './shipped-worker.ts'

const browser = chromiumOfFile()
const counter = counterWithHistory()
const session = sessionOfFile(browser, counter)
/** A Worker without counts. */
const unused = counterOfFile()
const sessionWithUnused = sessionOfFile(browser, unused)

describe('nothing is wrong for those who are signed in, light and dark, from 320 to 1,920 pixels, with', () => {
  it.each<[string, string, State?]>([
    ['the page to begin with', '/'],
    ['a type', '/?type=page_view', charted],
    ['another type', '/?type=download', charted],
    ['a chart by key', '/?type=page_view&show=keys', everySectionOpen],
    ['what to share', '/?type=page_view', (page) => page.locator('#share-button').click()],
    ['what was chosen to share', '/?type=page_view&share=key&of=/a', charted],
    ['a type, with every section open', '/?type=page_view', everySectionOpen],
    [
      'a type, with other days to choose',
      '/?type=page_view&from=2026-01-01&to=2026-01-02',
      (page) => page.locator('#other-days').click(),
    ],
    ['a search with results', '/?type=page_view', (page) => search(page, '/blog')],
    ['a search without results', '/?type=page_view', (page) => search(page, 'nothing')],
    ['a type, while the Worker does not answer', '/?type=page_view', goOffline],
    ['a type, after the session has ended', '/?type=page_view', sessionEnded],
  ])('%s', (_, path, state) => expectNothingWrong(browser, session, counter.url + path, state))

  it('a type without counts', () => {
    const empty: State = async (page) => {
      await page.getByLabel('Address of a page').fill('http://localhost/about')
      await page.keyboard.press('Enter')
      await page.getByText('No, it does not count.').waitFor()
    }
    return expectNothingWrong(browser, sessionWithUnused, unused.url, empty)
  })
})

async function search(page: Page, prefix: string): Promise<void> {
  await charted(page)
  await page.getByRole('searchbox').fill(prefix)
  await page.keyboard.press('Enter')
  if (prefix === 'nothing') await page.getByText('Nothing found in this period').waitFor()
  else await expect.poll(() => page.locator('#top a').first().textContent()).toContain(prefix)
}

async function sessionEnded(page: Page): Promise<void> {
  await charted(page)
  await page.context().clearCookies()
  await period(page, 'Today').click()
  await page.getByText('Your session has ended.').waitFor()
}
