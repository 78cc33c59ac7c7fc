import type { Page } from 'playwright-core'
import { describe, it } from 'vitest'
import { everySectionOpen, expectNothingWrong, type State } from './audited-page.ts'
import { chromiumOfFile } from './chromium.ts'
import { charted, counterUrl, goOffline, openAll, sessionOfFile } from './open-dashboard.ts'
import { counterWithHistory, LONG_KEY } from './sample-history.ts'

const browser = chromiumOfFile()
const counter = counterWithHistory()
const session = sessionOfFile(browser, counter)

describe('nothing is wrong for those who are signed in, light and dark, from 320 to 1,920 pixels, with', () => {
  it.each<[string, string, State?]>([
    ['a counter', '/', charted],
    ['a counter with a long key', LONG_KEY, charted],
    ['a counter without counts', 'never'],
    ['a counter with a great count', '/big', charted],
    ['a counter, with every section open', '/', everySectionOpen],
    ['a counter, about to be deleted', '/', (page) => dialog(page, 'Delete …')],
    ['a counter, while the Worker does not answer', '/', goOffline],
  ])('%s', (_, key, state) => expectNothingWrong(browser, session, counterUrl(counter, 'page_view', key), state))
})

async function dialog(page: Page, button: string): Promise<void> {
  await openAll(page)
  await page.getByRole('button', { name: button }).click()
  await page.getByRole('dialog').waitFor()
}
