import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { MIGRATIONS } from '../../src/generated.ts'
import { behave } from '../harness/behave.ts'
import { chromiumOfFile } from './chromium.ts'
import { pollHurried, signedIn, signedInWithoutTables, watch } from './open-dashboard.ts'
import { type Counter, startCounter } from './shipped-worker.ts'

const HOUR_MS = 3_600_000
/** Milliseconds in which all tables are made. */
const MIGRATED_MS = 90_000

const browser = chromiumOfFile()

/** A Worker on a database without tables, and browsers that are signed in to it. */
async function deployed(count: number, settings: Record<string, unknown> = {}) {
  const counter = await startCounter(settings, { empty: true })
  const pages = await Promise.all(Array.from({ length: count }, () => open(counter, signedInWithoutTables)))
  return { counter, pages, page: pages[0]! }
}

async function open(counter: Counter, enter = signedIn): Promise<Page> {
  const context: BrowserContext = await browser.newContext({ locale: 'en-GB' })
  await context.clock.install()
  const violations = await watch(context, counter)
  onTestFinished(async () => {
    await context.close()
    // Refused requests are on the console too.
    const messages = violations.messages.filter((message) => !message.startsWith('Failed to load resource'))
    expect({ ...violations, messages }).toEqual({ foreign: [], messages: [] })
  })
  return enter(context, counter)
}

const makeTables = (page: Page) => page.getByRole('button', { name: 'Make the tables' }).click()
const overview = (page: Page) => page.waitForSelector('main[data-page=overview]', { timeout: MIGRATED_MS })
/** Waits until the page, which looks every 40 s, shows a text. */
const says = (page: Page, text: string) => pollHurried(page, () => page.getByText(text).isVisible()).toBe(true)

async function recorded({ databaseUrl }: Counter): Promise<number> {
  const db = openDatabase({ url: databaseUrl, deadlineMs: 60_000 })
  const { rows } = await db.execute('SELECT COUNT(*) AS n FROM slotted_counter_migrations')
  return Number(rows[0]!.n)
}

describe('A Worker on an empty database', () => {
  it('says so before anybody signs in, and is made ready from the browser alone', async () => {
    const { counter, page } = await deployed(1)
    // Once more after ten seconds, if the database did not tell the Worker within one.
    await expect
      .poll(async () => (await fetch(counter.url)).text(), { timeout: 90_000, interval: 1_000 })
      .toContain('does not have the tables')
    expect(await page.textContent('main')).toContain('The database has no tables yet.')
    await makeTables(page)
    await overview(page)
    expect(await recorded(counter)).toBe(MIGRATIONS.length)
    expect(await (await fetch(`${counter.url}/healthz`)).json()).toEqual({ status: 'ok', database: 'ok' })
    await counter.add('page_view', '/first', 3)
    await counter.has({ 'page_view /first': 3 })
    expect(await (await fetch(counter.url)).text()).not.toContain('does not have the tables')
  })

  it('is made ready by two browsers at once', async () => {
    const { counter, pages } = await deployed(2)
    await Promise.all(pages.map(makeTables))
    await Promise.all(pages.map(overview))
    expect(await recorded(counter)).toBe(MIGRATIONS.length)
    await counter.add('page_view', '/first', 3)
    await counter.rollUp(new Date())
    await counter.has({ 'page_view /first': 3 })
  })

  it('is made ready although the database is away for a moment, and the page says so', async () => {
    const { counter, page } = await deployed(1)
    await behave(counter.databaseUrl, { faults: [{ action: 'cut-answer', skip: 15, times: 5 }] })
    // The page says it for 2 s. Its time stands still until the text was seen.
    await page.clock.pauseAt(Date.now() + HOUR_MS)
    await makeTables(page)
    await page.getByText('Trying again').waitFor({ timeout: MIGRATED_MS })
    await page.clock.resume()
    await overview(page)
    expect(await recorded(counter)).toBe(MIGRATIONS.length)
  })

  it('with safe migrations gives the statements for a deploy request, and goes on after it', async () => {
    const { counter, page } = await deployed(1)
    await behave(counter.databaseUrl, { safeMigrations: true })
    await makeTables(page)
    await page.getByRole('heading', { name: 'With a deploy request' }).waitFor()
    expect(await page.textContent('#setup-message')).toContain('Safe migrations')
    const statements = (await page.inputValue('#statements')).split(/;(?:\n\n|$)/).slice(0, -1)
    await behave(counter.databaseUrl, {})
    const db = openDatabase({ url: counter.databaseUrl, deadlineMs: 60_000 })
    for (const statement of statements) await db.execute(statement)
    await behave(counter.databaseUrl, { safeMigrations: true })
    await makeTables(page)
    await overview(page)
    expect(await recorded(counter)).toBe(MIGRATIONS.length)
  })
})

describe('A dashboard without numbers', () => {
  it('shows what to paste, with the address of this Worker, and then the numbers', async () => {
    const counter = await startCounter()
    const page = await open(counter)
    await page.getByRole('heading', { name: 'Count the first one' }).waitFor()
    expect(await page.inputValue('#first-run-script')).toBe(
      `<script defer src="${counter.url}/slotted.js"></script>\n` +
        `<noscript><img src="${counter.url}/hit.gif?key=%2Fabout&amp;type=page_view" alt=""></noscript>`,
    )
    expect(await page.inputValue('#first-run-badge')).toBe(`![page_view](${counter.url}/badge/page_view/%2Fabout.svg)`)
    await expect.poll(() => page.textContent('#first-run-message')).toBe('Nothing has been counted yet.')
    await counter.add('page_view', '/first', 3)
    await says(page, 'The first one has been counted.')
    expect(await page.locator('#first-run').isVisible()).toBe(false)
    await expect.poll(() => page.textContent('#top-message')).toContain('The next roll-up is due within a minute.')
    await counter.rollUp(new Date())
    // It does not look any more, and a page with numbers shows nothing of this.
    await page.reload()
    await expect.poll(() => page.textContent('#top')).toBe('/first3100%')
    expect(await page.locator('#first-run').isVisible()).toBe(false)
  })

  it('shows links to downloads for a type that redirects', async () => {
    const counter = await startCounter()
    const page = await open(counter)
    await page.goto(`${counter.url}/?type=download`)
    await page.getByRole('heading', { name: 'Count the first one' }).waitFor()
    const code = await page.inputValue('#first-run-download')
    expect(code).toBe(`<a href="${counter.url}/d/download/app-1.2.0.tgz">Download</a>`)
    expect(await page.locator('#first-run-script').count()).toBe(0)
    const [, link = ''] = /"(.*)"/.exec(code)!
    const follow = (agent: string) => fetch(link, { redirect: 'manual', headers: { 'User-Agent': agent } })
    await follow('Googlebot/2.1 (+http://www.google.com/bot.html)')
    await says(page, 'The user agent is a bot’s.')
    await follow('Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0')
    await says(page, 'The first one has been counted.')
    await counter.has({ 'download app-1.2.0.tgz': 1 })
  })

  it('says why a hit was not counted', async () => {
    const COUNTERS = { page_view: { record_type: 1, public: true, allowed_origins: ['https://example.com'] } }
    const counter = await startCounter({ COUNTERS })
    const page = await open(counter)
    await page.getByText('Pages of these sites may count').waitFor()
    await fetch(`${counter.url}/hit?type=page_view&key=a`, {
      method: 'POST',
      headers: { Origin: 'https://example.org' },
    })
    await says(page, 'A hit from https://example.org was not counted. allowed_origins does not list the page’s origin.')
  })
})
