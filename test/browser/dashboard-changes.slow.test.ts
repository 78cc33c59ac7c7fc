import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SAMPLE_COUNTERS } from '../../scripts/sample-site.ts'
import { visibleKey } from '../../src/visible-key.ts'
import { tokenLines, tokenOf } from '../harness/tokens.ts'
import { audit } from './audit.ts'
import { chromiumOfFile } from './chromium.ts'
import {
  counterUrl,
  sessionOfFile,
  settledNumbers,
  shows,
  typeToken,
  type Violations,
  watchedPage,
} from './open-dashboard.ts'
import { sampleCounter } from './sample-counter.ts'

const COUNTERS = {
  ...SAMPLE_COUNTERS,
  // A chain, with a type in it whose keys are not those of pages.
  visitor: { ...SAMPLE_COUNTERS.visitor, title: 'Visitors', dedupe_seconds: 60, also: 'site_visitor' },
  site_visitor: { record_type: 4, dedupe_seconds: 60, visitors_of: 'site', also: 'reader' },
  reader: { record_type: 5, title: 'Readers', dedupe_seconds: 120 },
}

const browser = chromiumOfFile()
const counter = sampleCounter({ COUNTERS, API_TOKENS: await tokenLines({ some: 'manage:page_view,visitor' }) })
const session = sessionOfFile(browser, counter)
let context: BrowserContext
let page: Page
let violations: Violations
/** What Chromium says of answers that a test provokes. */
let provoked: RegExp
beforeEach(async () => {
  provoked = /^$/
  ;({ context, violations, page } = await watchedPage(browser, counter, { timezoneId: 'UTC', storageState: session }))
})
afterEach(async () => {
  await context.close()
  const messages = violations.messages.filter((line) => !provoked.test(line))
  expect({ ...violations, messages }).toEqual({ foreign: [], messages: [] })
})

const dialog = () => page.getByRole('dialog')
const button = (name: string) => page.getByRole('button', { name, exact: true })
const confirm = (name: string) => dialog().getByRole('button', { name }).click()
const done = (text: string | RegExp) => expect.poll(() => page.textContent('#message')).toMatch(text)
const message = (text: string | RegExp) => expect.poll(() => page.textContent('#move-message')).toMatch(text)
const openForms = () => page.locator('#change > summary').click()
/** Counts a page with its visitors and readers. */
async function count(key: string, counts: readonly [views: number, visitors: number, readers: number]): Promise<void> {
  const increments = ['page_view', 'visitor', 'reader'].map((type, i) => ({ type, key, by: counts[i] }))
  await counter.api('POST', '/v1/increments', { increments })
}
/** The counts of pages with their visitors and readers. */
async function countsOf(...keys: string[]): Promise<number[][]> {
  const all = await counter.counts()
  return keys.map((key) => ['page_view', 'visitor', 'reader'].map((type) => all[`${type} ${key}`] ?? 0))
}
const reaches = (type: string, key: string, count: number) =>
  expect.poll(async () => (await counter.counts())[`${type} ${key}`] ?? 0).toBe(count)
const whole = (count: number) => count.toLocaleString('en-GB')
async function open(type: string, key: string, period = ''): Promise<void> {
  await page.goto(counterUrl(counter, type, key) + period)
  await openForms()
}
async function ask(name: string, key: string): Promise<void> {
  await page.getByLabel('Another key').fill(key)
  await button(name).click()
}

describe('Renaming', () => {
  it('takes the counters of `also` with it, and says what was done in the same period', async () => {
    await counter.add('reader', '/pricing', 7)
    const [[views, visitors]] = (await countsOf('/pricing')) as [[number, number, number]]
    await open('page_view', '/pricing', '&period=7d')
    await settledNumbers(page)
    const sum = await page.textContent('#chart-sum')
    await ask('Rename …', '/prices')
    await dialog().waitFor()
    const numbers = [`count of ${whole(views)}`, `Visitors \\(${whole(visitors)}\\) and Readers \\(7\\) too`]
    expect(await dialog().innerText()).toMatch(new RegExp(numbers.join('[^]*The same key in ')))
    expect(await dialog().getByRole('checkbox').isChecked()).toBe(true)
    await confirm('Rename')
    await page.waitForURL(/key=%2Fprices&period=7d/)
    await done(/^Renamed \/pricing to \/prices\.$/)
    expect(await countsOf('/pricing', '/prices')).toEqual([
      [0, 0, 0],
      [views, visitors, 7],
    ])
    await shows(page, '#chart-sum', sum!)
    // It has the focus, so that screen readers read it.
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('message')
  })

  it('leaves them alone if the box is not ticked, which it is again for the next question', async () => {
    await count('/r/alone', [3, 2, 1])
    await open('page_view', '/r/alone')
    await ask('Rename …', '/r/other')
    await dialog().getByRole('checkbox').uncheck()
    await confirm('Cancel')
    await button('Delete …').click()
    expect(await dialog().getByRole('checkbox').isChecked()).toBe(true)
    await confirm('Cancel')
    await button('Rename …').click()
    await dialog().getByRole('checkbox').uncheck()
    await confirm('Rename')
    await done(/^Renamed/)
    expect(await countsOf('/r/alone', '/r/other')).toEqual([
      [0, 2, 1],
      [3, 0, 0],
    ])
  })

  it('happens once, although its answer is lost after the commit', async () => {
    await count('/r/lost', [5, 4, 3])
    await open('page_view', '/r/lost')
    provoked = /ERR_FAILED/
    let lost = 0
    await page.route(
      '**/rename?*',
      async (route) => {
        await route.fetch()
        lost++
        await route.abort()
      },
      { times: 1 },
    )
    await ask('Rename …', '/r/found')
    await confirm('Rename')
    await done(/^Renamed \/r\/lost to/)
    expect([lost, ...(await countsOf('/r/lost', '/r/found'))]).toEqual([1, [0, 0, 0], [5, 4, 3]])
  })

  it('says that it may have happened, if no answer comes to the second attempt either', async () => {
    await count('/r/unknown', [3, 2, 1])
    await open('page_view', '/r/unknown')
    provoked = /ERR_FAILED/
    await page.route('**/rename?*', (route) => route.abort(), { times: 2 })
    await ask('Rename …', '/r/elsewhere')
    await confirm('Rename')
    await message(/^No answer came: this may or may not have been done\. Load the page again to see\.$/)
  })

  it.each([['/ü &key=a+b#c?d%2Fe'], ['<b>"\'\\</b>'], [' blanks  '], ['\u202Egnp']])(
    'works with the key %j',
    async (key) => {
      await counter.add('download', `from ${key}`, 6)
      await open('download', `from ${key}`)
      await ask('Rename …', key)
      await confirm('Rename')
      await done(`Renamed ${visibleKey(`from ${key}`)} to ${visibleKey(key)}.`)
      expect(new URL(page.url()).searchParams.get('key')).toBe(key)
      await reaches('download', key, 6)
      await reaches('download', `from ${key}`, 0)
    },
  )

  it('of a counter without others asks for no others', async () => {
    await counter.add('download', 'a.zip', 6)
    await open('download', 'a.zip')
    await button('Delete …').click()
    await dialog().waitFor()
    expect(await dialog().getByRole('checkbox').count()).toBe(0)
  })
})

describe('Setting', () => {
  it('happens once, although its answer is cut off', async () => {
    await counter.add('download', 'l.zip', 41)
    await open('download', 'l.zip')
    // Once, after the commit.
    await page.evaluate(() => {
      const whole = fetch
      window.fetch = async (...given) => {
        const answer = await whole(...given)
        if (given[1]?.method !== 'PUT') return answer
        window.fetch = whole
        return Object.assign(answer, { text: () => Promise.reject(new TypeError('cut off')) })
      }
    })
    await page.getByLabel('Set to').fill('50')
    await button('Set …').click()
    await confirm('Set to 50')
    await done(/^Set to 50\.$/)
    await reaches('download', 'l.zip', 50)
  })

  it('says beside the field which numbers it takes, and what was done until the page is left', async () => {
    await counter.add('download', 'n.zip', 41)
    await open('download', 'n.zip')
    const field = page.getByLabel('Set to')
    for (const wrong of ['1.5', 'abc', '9007199254740992', '-9007199254740992', '123456789012345678901']) {
      await field.fill(wrong)
      await button('Set …').click()
      expect(await page.textContent('#change-message'), wrong).toMatch(
        /^A whole number.* between −?-?9,007,199,254,740,991 and 9,007,199,254,740,991\.$/,
      )
      expect(await dialog().isVisible()).toBe(false)
    }
    await field.fill('-9,007,199,254,740,991')
    expect(await page.textContent('#change-message')).toBe('')
    await button('Set …').click()
    await dialog()
      .getByRole('button', { name: /^Set to/ })
      .click()
    await done(/^Set to −?-?9,007,199,254,740,991\.$/)
    expect(await audit(page)).toEqual([])
    await page.getByRole('navigation').getByRole('link', { name: 'Download' }).click()
    await page.waitForSelector('main[data-page=overview]')
    await page.goBack()
    await page.waitForSelector('main[data-page=counter]')
    await shows(page, '#tile-all b', /^−?-?9,007,199,254,740,991$/)
    expect(await page.textContent('#message')).toBe('')
  })
})

describe('A wrong key', () => {
  it('is told beside the field before anything is asked, with a button for what is possible', async () => {
    const [one, two] = (await countsOf('/team', '/contact')) as [number[], number[]]
    const sums = one.map((count, type) => count + two[type]!)
    await open('page_view', '/team')
    for (const name of ['Rename …', 'Merge …']) {
      await ask(name, '/team')
      await message(/^This counter has this key already\.$/)
    }
    const field = page.getByLabel('Another key')
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true)
    await field.fill('/cont')
    expect([await field.getAttribute('aria-invalid'), await page.textContent('#move-message')]).toEqual([null, ''])
    // Only a beginning of a key.
    await button('Merge …').click()
    await message(/^There is no counter with this key\. Rename instead …$/)
    await ask('Rename …', '/contact')
    await message(`This key has a counter, with a count of ${whole(two[0]!)}. Merge instead …`)
    expect(await dialog().isVisible()).toBe(false)
    expect(await audit(page)).toEqual([])
    await button('Merge instead …').click()
    await dialog().waitFor()
    await confirm('Cancel')
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true)
    await button('Merge …').click()
    await dialog().waitFor()
    const [mine, theirs, both] = [one, two, sums].map(([views]) => whole(views!))
    expect(await dialog().innerText()).toMatch(new RegExp(`count of ${mine}[^]*has ${theirs} and then ${both}`))
    await confirm('Merge')
    await done(/^Merged \/team into \/contact\.$/)
    expect(await countsOf('/team', '/contact')).toEqual([[0, 0, 0], sums])
  })

  it('that somebody took, or deleted, between question and answer is told too', async () => {
    await count('/w/a', [3, 2, 1])
    await open('page_view', '/w/a')
    provoked = /409|404/
    await ask('Rename …', '/w/taken')
    await dialog().waitFor()
    await count('/w/taken', [1, 0, 0])
    await confirm('Rename')
    await message(/^This key has a counter by now\. Nothing was changed\. Merge instead …$/)
    await button('Merge instead …').click()
    await dialog().waitFor()
    await counter.api('DELETE', '/v1/counters/page_view/%2Fw%2Ftaken')
    await confirm('Merge')
    await message(/^The counter to merge into does not exist\. Nothing was changed\.$/)
    expect((await countsOf('/w/a'))[0]).toEqual([3, 2, 1])
  })
})

describe('Deleting', () => {
  it('a page that is counted meanwhile takes what was counted before, and says so in the same period', async () => {
    await counter.add('reader', '/jobs', 1)
    const [[views, visitors] = [], other] = await countsOf('/jobs', '/faq')
    await open('page_view', '/jobs', '&period=today')
    await button('Delete …').click()
    await dialog().waitFor()
    expect(await dialog().innerText()).toMatch(
      new RegExp(`count of ${whole(views!)}[^]*Visitors \\(${whole(visitors!)}\\) and Readers \\(1\\) too`),
    )
    await count('/jobs', [4, 0, 0])
    await confirm('Delete')
    await page.waitForSelector('main[data-page=overview]')
    expect(page.url()).toMatch(/type=page_view&period=today$/)
    await done(/^Deleted \/jobs\.$/)
    await count('/jobs', [1, 0, 0])
    expect(await countsOf('/jobs', '/faq')).toEqual([[1, 0, 0], other])
    await page.reload()
    await page.waitForSelector('main[data-page=overview]')
    expect(await page.textContent('#message')).toBe('')
  })

  it('with a token that may not change one of the types says so, and leaves them all', async () => {
    await count('/d/some', [3, 2, 1])
    await context.clearCookies()
    await page.goto(counterUrl(counter, 'page_view', '/d/some'))
    provoked = /401/
    await typeToken(page, tokenOf('some'))
    await button('Sign in').click()
    await page.waitForSelector('main[data-page=counter]')
    await page.waitForLoadState()
    await openForms()
    await button('Delete …').click()
    await dialog().waitFor()
    expect(await dialog().innerText()).toContain(
      'The same key in other types stays as it is: this token may not change all of them.',
    )
    await confirm('Delete')
    await done(/^Deleted/)
    expect(await countsOf('/d/some')).toEqual([[0, 2, 1]])
  })
})
