import type { Page } from 'playwright-core'
import { beforeEach, expect, it } from 'vitest'
import { visibleKey } from '../../src/visible-key.ts'
import { audit } from './audit.ts'
import { counterUrl, shows, signedInOfFile, watchedPage } from './open-dashboard.ts'
import { counterOfFile } from './shipped-worker.ts'

// A chain, with a type in it whose keys are not those of pages.
const COUNTERS = {
  page_view: { record_type: 1, public: true, dedupe_seconds: 60, also: 'visitor' },
  visitor: { record_type: 2, title: 'Visitors', dedupe_seconds: 60, also: 'site_visitor' },
  site_visitor: { record_type: 3, dedupe_seconds: 60, visitors_of: 'site', also: 'reader' },
  reader: { record_type: 4, title: 'Readers', dedupe_seconds: 120 },
  download: { record_type: 5 },
}

const counter = counterOfFile({ COUNTERS })
const { browser, session } = signedInOfFile(counter)
let page: Page
let provokes: (answers: RegExp) => void
beforeEach(async () => {
  ;({ page, provokes } = await watchedPage(browser, counter, { timezoneId: 'UTC', storageState: session }))
})

const dialog = () => page.getByRole('dialog')
const box = () => dialog().getByRole('checkbox')
const button = (name: string) => page.getByRole('button', { name, exact: true })
const confirm = (name: string) => dialog().getByRole('button', { name }).click()
const done = (text: string | RegExp) => expect.poll(() => page.textContent('#message')).toMatch(text)
const message = (text: string | RegExp) => expect.poll(() => page.textContent('#move-message')).toMatch(text)
const asked = (text: RegExp) => expect.poll(() => dialog().innerText()).toMatch(text)
const focused = () => page.evaluate(() => document.activeElement?.id)
async function count(key: string, ...counts: [views: number, visitors: number, readers: number]): Promise<void> {
  const increments = ['page_view', 'visitor', 'reader'].map((type, i) => ({ type, key, by: counts[i] }))
  await counter.api('POST', '/v1/increments', { increments: increments.filter(({ by }) => by !== 0) })
}
async function countsOf(...keys: string[]): Promise<string[]> {
  const all = await counter.counts()
  return keys.map((key) => ['page_view', 'visitor', 'reader'].map((type) => all[`${type} ${key}`] ?? 0).join(' '))
}
async function open(type: string, key: string, period = ''): Promise<void> {
  await page.goto(counterUrl(counter, type, key) + period)
  await page.locator('#change > summary').click()
}
async function ask(name: string, key: string): Promise<void> {
  await page.getByLabel('Another key').fill(key)
  await button(name).click()
}

it.each([
  ['takes the counters of `also` with it', true, '/ü &key=a+b#c?d%2Fe', ' blanks  '],
  ['leaves them alone if the box is not ticked', false, '<b>"\'\\</b>', '\u202Egnp'],
])('Renaming %s, says what was done in the same period, and works with any key', async (_, also, key, to) => {
  await count(key, 1_300, 800, 7)
  await open('page_view', key, '&period=7d')
  await ask('Rename …', to)
  await asked(/count of 1,300.*Include the same key in Visitors \(800\) and Readers \(7\)/s)
  await box().uncheck()
  await confirm('Cancel')
  await button('Rename …').click()
  // It is ticked again for the next question.
  expect(await box().isChecked()).toBe(true)
  await box().setChecked(also)
  await confirm('Rename')
  await done(`Renamed ${visibleKey(key)} to ${visibleKey(to)}.`)
  const { searchParams } = new URL(page.url())
  expect([searchParams.get('key'), searchParams.get('period')]).toEqual([to, '7d'])
  expect(await countsOf(key, to)).toEqual(also ? ['0 0 0', '1300 800 7'] : ['0 800 7', '1300 0 0'])
  await shows(page, '#chart-sum', /1,300/)
  // It has the focus, so that screen readers read it.
  await expect.poll(focused).toBe('message')
})

it.each<[string, number, boolean, RegExp]>([
  ['happens once, although its answer is lost after the commit', 1, true, /^Renamed \/r\/lost to/],
  [
    'says that it may have happened, if no answer comes to the second attempt either',
    2,
    false,
    /^The outcome is unknown: /,
  ],
])('Renaming %s', async (_, times, isCommitted, says) => {
  await count('/r/lost', 5, 4, 3)
  await open('page_view', '/r/lost')
  provokes(/ERR_FAILED/)
  const lose: Parameters<Page['route']>[1] = async (route) => {
    if (isCommitted) await route.fetch()
    await route.abort()
  }
  await page.route('**/rename?*', lose, { times })
  const to = `/r/found${times}`
  await ask('Rename …', to)
  await confirm('Rename')
  await (isCommitted ? done : message)(says)
  expect(await countsOf(to)).toEqual([isCommitted ? '5 4 3' : '0 0 0'])
})

it('Setting says next to the field which numbers are valid, and then what was done', async () => {
  await counter.add('download', 'n.zip', 41)
  await open('download', 'n.zip')
  const field = page.getByLabel('Set to')
  for (const wrong of ['1.5', 'abc', '9007199254740992', '-9007199254740992', '123456789012345678901']) {
    await field.fill(wrong)
    await button('Set …').click()
    expect(await page.textContent('#change-message'), wrong).toMatch(/^Enter a whole number.* 9,007,199,254,740,991\.$/)
  }
  expect(await dialog().isVisible()).toBe(false)
  await field.fill('-9,007,199,254,740,991')
  expect(await page.textContent('#change-message')).toBe('')
  await button('Set …').click()
  await confirm('Set to')
  await done(/^Set to −?-?9,007,199,254,740,991\.$/)
  expect(await audit(page)).toEqual([])
})

it('A wrong key is reported next to the field before the dialog opens, with a button for what is possible', async () => {
  await count('/team', 3, 2, 1)
  await count('/contact', 30, 20, 10)
  await open('page_view', '/team')
  await ask('Rename …', '/team')
  await message(/^This counter already has this key\.$/)
  const field = page.getByLabel('Another key')
  expect([await field.getAttribute('aria-invalid'), await focused()]).toEqual(['true', 'other-key'])
  await field.fill('/cont')
  expect([await field.getAttribute('aria-invalid'), await page.textContent('#move-message')]).toEqual([null, ''])
  // Only a beginning of a key.
  await button('Merge …').click()
  await message(/^There is no counter with this key\. Rename instead …$/)
  await ask('Rename …', '/contact')
  await message('This key already has a counter with a count of 30. Merge instead …')
  expect(await dialog().isVisible()).toBe(false)
  expect(await audit(page)).toEqual([])
  await button('Merge instead …').click()
  await asked(/count of 3.*changes from 30 to 33/s)
  await confirm('Cancel')
  expect(await focused()).toBe('other-key')
  await button('Merge …').click()
  await confirm('Merge')
  await done(/^Merged \/team into \/contact\.$/)
  expect(await countsOf('/team', '/contact')).toEqual(['0 0 0', '33 22 11'])
})

it('A key that is taken while the dialog is open is reported too', async () => {
  await count('/w/a', 3, 2, 1)
  await open('page_view', '/w/a')
  provokes(/409/)
  await ask('Rename …', '/w/taken')
  await dialog().waitFor()
  await count('/w/taken', 1, 0, 0)
  await confirm('Rename')
  await message(/^A counter with this key has just been created\. Nothing was changed\. Merge instead …$/)
  expect(await countsOf('/w/a')).toEqual(['3 2 1'])
})
