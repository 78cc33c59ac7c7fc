import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { SAMPLE_COUNTERS } from '../../scripts/sample-site.ts'
import { audit, auditedContext } from './audit.ts'
import { charted, openAll, period, type Session, signedIn, signedInOfFile } from './open-dashboard.ts'
import { sampleCounter, startCounter } from './shipped-worker.ts'
import { startDemo } from './test-site.ts'

const page_view = { ...SAMPLE_COUNTERS.page_view, counting_badge: true }
const download = { ...SAMPLE_COUNTERS.download, public_page: true }
const unused = { record_type: 99 }
const counter = sampleCounter({ COUNTERS: { ...SAMPLE_COUNTERS, page_view, download, unused } })
const { browser, session } = signedInOfFile(counter)
beforeAll(async () => {
  // In the first hour of a day, the sample site has no counts of today.
  await counter.add('download', 'app-1.2.0.tgz', 1)
  const counters = [{ type: 'page_view', key: LONG_KEY, count: '9000000000000000000' }]
  await counter.api('POST', '/v1/imports', { counters })
})

const LONG_KEY = 'W'.repeat(500)

type State = (page: Page) => Promise<unknown>
type Case = [what: string, path: string, state?: State]

const ofKey = (key: string) => `/counter?${new URLSearchParams({ type: 'page_view', key })}`
const type = '/?type=page_view'
const allOpen: State = (page) => charted(page).then(() => openAll(page))
const threeLines: State = (page) => allOpen(page).then(() => page.locator('.chart .line').nth(2).waitFor())
const submits = (name: string, text: string, says: string) => async (page: Page) => {
  await page.getByLabel(name).fill(text)
  await page.keyboard.press('Enter')
  await page.getByText(says).first().waitFor()
}
const deletes: State = async (page) => {
  await openAll(page)
  await page.getByRole('button', { name: 'Delete …' }).click()
  await page.getByRole('dialog').waitFor()
}
/** Chooses another period, whose numbers do not come. */
const fails = (prepare: (context: BrowserContext) => Promise<void>, says: string) => async (page: Page) => {
  await charted(page)
  await prepare(page.context())
  await period(page, 'Today').click()
  await page.getByText(says).waitFor()
}
const goesOffline = fails((context) => context.setOffline(true), 'You are offline.')
const sessionEnds = fails((context) => context.clearCookies(), 'Your session has ended.')

const FOR_ANYBODY: Case[] = [
  ['the sign-in', '/'],
  ['a wrong token', '/', submits('API token', 'wrong', 'not a token of this Worker')],
  ['an address at which nothing is', '/nothing'],
  ['an answer of the check', '/check?type=unknown', submits('Type', 'views', 'No, it does not count.')],
  ['a public page', '/stats/page_view', allOpen],
  ['a public page of today', '/stats/download?period=today', allOpen],
  ['the documentation, all of it open', '/docs', openAll],
]
const WHEN_SIGNED_IN: Case[] = [
  ['the page to begin with', '/'],
  ['a type', type, charted],
  ['another type', '/?type=download', charted],
  ['a type, with every section open and a problem', type, allOpen],
  ['a chart by key', `${type}&show=keys`, allOpen],
  ['a chart by age', `${type}&show=age`, threeLines],
  ['what to share', `${type}&share=total`, charted],
  ['what was chosen to share', `${type}&share=key&of=/a`, charted],
  ['other days to choose', `${type}&from=2026-01-01&to=2026-01-02`, (page) => page.locator('#other-days').click()],
  ['a type without counts', '/?type=unused', (page) => page.locator('#first-run').waitFor()],
  ['a search with results', `${type}&find=/blog`, charted],
  ['a search without results', `${type}&find=nothing`],
  ['a type, while the Worker does not answer', type, goesOffline],
  ['a type, after the session has ended', type, sessionEnds],
  ['a counter, with every section open', ofKey('/'), allOpen],
  ['a counter with a long key and a great count', ofKey(LONG_KEY), charted],
  ['a counter without counts', ofKey('never')],
  ['a counter, about to be deleted', ofKey('/'), deletes],
  ['a counter, while the Worker does not answer', ofKey('/'), goesOffline],
]

async function found(url: string, state?: State, storageState?: Session): Promise<string[]> {
  const page = await (await auditedContext(browser, storageState)).newPage()
  await page.goto(url)
  await state?.(page)
  return audit(page)
}

it.each(FOR_ANYBODY)('Nothing is wrong with %s', async (_, path, state) => {
  expect(await found(counter.url + path, state)).toEqual([])
})

it.each(WHEN_SIGNED_IN)('Nothing is wrong with %s either', async (_, path, state) => {
  expect(await found(counter.url + path, state, session)).toEqual([])
})

it('Nothing is wrong with a database without tables', async () => {
  const empty = await startCounter({}, { empty: true })
  const page = await signedIn(await auditedContext(browser), empty)
  // Until the database has told what it lacks, for ten seconds at most, pages are as usual.
  const isSetup = () => page.goto(empty.url).then(() => page.locator('main[data-page=setup]').count())
  await expect.poll(isSetup, { timeout: 90_000, interval: 1_000 }).toBe(1)
  // Shown only if the branch has safe migrations on.
  await page.locator('#deploy-request').evaluate((section) => section.removeAttribute('hidden'))
  await openAll(page)
  expect(await audit(page)).toEqual([])
  await page.context().clearCookies()
  await page.goto(empty.url)
  expect(await audit(page)).toEqual([])
})

it('Nothing is wrong with the pages of the demo', async () => {
  const demo = await startDemo(counter)
  const page = await (await auditedContext(browser)).newPage()
  for (const path of ['/', '/article', '/downloads', '/app/', '/app/map']) {
    await page.goto(demo.url + path)
    await expect.poll(() => page.textContent('footer b')).toMatch(/^\d/)
    expect(await audit(page), path).toEqual([])
  }
})
