import type { BrowserContext, Page, Request } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { MIGRATIONS } from '../../src/generated.ts'
import { behave } from '../harness/behave.ts'
import { chromiumOfFile, settled } from './chromium.ts'
import { pollHurried, signedIn, signedInWithoutTables, watch } from './open-dashboard.ts'
import { type Counter, startCounter } from './shipped-worker.ts'
import { startSite } from './test-site.ts'

/** The number of the last migration. */
const VERSION = Number.parseInt(MIGRATIONS.at(-1)!.name, 10)
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
/** Waits until the page, which asks every 20 s, shows a text. */
const says = (page: Page, text: string) => pollHurried(page, () => page.getByText(text).isVisible()).toBe(true)

async function recorded({ databaseUrl }: Counter): Promise<number> {
  const db = openDatabase({ url: databaseUrl, deadlineMs: 60_000 })
  const { rows } = await db.execute('SELECT version AS n FROM schema_version')
  return Number(rows[0]!.n)
}

describe('A Worker on an empty database', () => {
  it('says so before anybody signs in, and is made ready from the browser alone', async () => {
    const { counter, page } = await deployed(1)
    // Once more after ten seconds, if the database did not tell the Worker within one.
    await expect
      .poll(async () => (await fetch(counter.url)).text(), { timeout: 90_000, interval: 1_000 })
      .toContain('does not have the tables')
    expect(await page.textContent('main')).toContain('Tables are missing, or from an older version.')
    await makeTables(page)
    await overview(page)
    expect(await recorded(counter)).toBe(VERSION)
    expect(await (await fetch(`${counter.url}/healthz`)).json()).toEqual({ status: 'ok', database: 'ok' })
    await counter.add('page_view', '/first', 3)
    await counter.has({ 'page_view /first': 3 })
    expect(await (await fetch(counter.url)).text()).not.toContain('does not have the tables')
  })

  it('is made ready by two browsers at once', async () => {
    const { counter, pages } = await deployed(2)
    await Promise.all(pages.map(makeTables))
    await Promise.all(pages.map(overview))
    expect(await recorded(counter)).toBe(VERSION)
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
    expect(await recorded(counter)).toBe(VERSION)
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
    expect(await recorded(counter)).toBe(VERSION)
  })
})

describe('A dashboard without numbers', () => {
  /** What is on the page besides its heading and the steps. */
  const rest = (page: Page) => page.locator('main > :not(h1, .title, #first-run)')
  const state = (page: Page) => page.textContent('#first-run-state')
  /** Lets the page's time stand still from here on, and records its requests. */
  const stopTime = async (page: Page) => {
    const sent: Request[] = []
    const unanswered = new Set<Request>()
    page.on('request', (request) => {
      sent.push(request)
      unanswered.add(request)
    })
    page.on('requestfinished', (request) => unanswered.delete(request))
    page.on('requestfailed', (request) => unanswered.delete(request))
    await page.clock.pauseAt(Date.now() + HOUR_MS)
    return {
      /** The number of requests since the last call. */
      count: () => sent.splice(0).filter((request) => !request.url().endsWith('/healthz')).length,
      /** Lets time pass, and waits until all is answered. */
      async pass(milliseconds: number) {
        await page.clock.runFor(milliseconds)
        // What the page had sent before is known when this is answered.
        await page.evaluate(() => fetch('/healthz').then((answer) => answer.text()))
        await expect.poll(() => unanswered.size).toBe(0)
      },
    }
  }

  it('shows three steps and no problem, and the chart with the first hit, without a cron trigger', async () => {
    const counter = await startCounter()
    const site = await startSite({
      '/about': { html: `<!doctype html><script defer src="${counter.url}/slotted.js" data-local></script>` },
    })
    const page = await open(counter)
    await page.getByRole('heading', { name: 'Count the first one' }).waitFor()
    expect(await page.inputValue('#first-run-script')).toBe(
      `<script defer src="${counter.url}/slotted.js"></script>\n` +
        `<noscript><img src="${counter.url}/hit.gif?key=%2Fabout&amp;type=page_view" alt=""></noscript>`,
    )
    expect(await page.locator('#first-run li').count()).toBe(3)
    expect(await state(page)).toBe('Waiting for the first hit …')
    expect(await rest(page).filter({ visible: true }).count()).toBe(0)
    await expect.poll(() => page.textContent('#state-text')).toBe('Live')

    const time = await stopTime(page)
    await time.pass(0)
    const visit = await (await browser.newContext()).newPage()
    await visit.goto(`${site.url}/about`)
    await counter.reaches({ 'page_view /about': 1 })
    await time.pass(20_000)
    await expect.poll(() => state(page)).toBe('/about, 1 view, just now')
    await page.waitForSelector('.chart svg')
    expect(await page.textContent('#top')).toContain('/about')
    expect(await page.textContent('#figure-all')).toBe('1')
    expect(await page.getByRole('heading', { name: 'Count the first one' }).isVisible()).toBe(false)

    await visit.reload()
    await counter.reaches({ 'page_view /about': 2 })
    await counter.rollUp(new Date())
    await page.clock.resume()
    await pollHurried(page, () => page.textContent('#figure-all')).toBe('2')
    expect(await page.locator('#first-run').isVisible()).toBe(false)
    await page.reload()
    await page.waitForSelector('.chart svg')
    expect(await page.locator('#first-run').isVisible()).toBe(false)
  })

  it('that is opened after the first hit shows its numbers at once', async () => {
    const counter = await startCounter()
    await counter.add('page_view', '/first', 3)
    const page = await open(counter)
    await page.waitForSelector('.chart svg')
    await expect.poll(() => page.textContent('#figure-all')).toBe('3')
    expect(await page.textContent('#top')).toContain('/first')
  })

  it('asks at most six times a minute', async () => {
    const counter = await startCounter()
    const page = await open(counter)
    await page.getByRole('heading', { name: 'Count the first one' }).waitFor()
    const time = await stopTime(page)
    await time.pass(0)
    time.count()
    const counts: number[] = []
    for (let minute = 0; minute < 4; minute++) {
      for (let second = 0; second < 60; second += 5) await time.pass(5_000)
      counts.push(time.count())
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(6)
    // An answer comes up to 5 s of the page's time later.
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(2)
  })

  it('shows links to downloads for a type that redirects', async () => {
    const counter = await startCounter()
    const page = await open(counter)
    await page.goto(`${counter.url}/?type=download`)
    await page.getByRole('heading', { name: 'Count the first one' }).waitFor()
    const code = await page.inputValue('#first-run-download')
    expect(code).toBe(`<a href="${counter.url}/d/download/app-1.2.0.tgz">Download</a>`)
    expect(await page.locator('#first-run-script, #check').count()).toBe(0)
    const [, link = ''] = /"(.*)"/.exec(code)!
    const follow = (agent: string) => fetch(link, { redirect: 'manual', headers: { 'User-Agent': agent } })
    await follow('Googlebot/2.1 (+http://www.google.com/bot.html)')
    await says(page, 'The user agent is a bot’s.')
    await follow('Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0')
    await pollHurried(page, () => state(page)).toBe('app-1.2.0.tgz, 1 download, just now')
    await counter.has({ 'download app-1.2.0.tgz': 1 })
  })

  it('says why a hit was not counted, and whether pages at an address will count', async () => {
    const COUNTERS = { page_view: { record_type: 1, public: true, allowed_origins: ['https://example.com'] } }
    const counter = await startCounter({ COUNTERS })
    const page = await open(counter)
    await fetch(`${counter.url}/hit?type=page_view&key=a`, {
      method: 'POST',
      headers: { Origin: 'https://example.org' },
    })
    await says(page, 'A hit from https://example.org was not counted.')
    const check = async (address: string) => {
      await page.getByLabel('Address of a page').fill(address)
      await page.keyboard.press('Enter')
    }
    await check('https://example.org/about')
    await page.getByText('No, it does not count.').waitFor()
    expect(await page.textContent('#check-answer')).toMatch(
      /SITES, or the type’s own allowed_origins, does not list https:\/\/example\.org\.Add the origin to SITES/,
    )
    await check('example.com/about')
    await page.getByText('Yes, it counts.').waitFor()
    expect(await counter.counts()).toEqual({})
    const link = page.getByRole('link', { name: `${counter.url}/check?type=page_view` })
    await link.click()
    await page.getByRole('heading', { name: 'Does this browser count?' }).waitFor()
    expect(await page.inputValue('[name=type]')).toBe('page_view')
  })

  it('says of pages on this machine what the script does there', async () => {
    const counter = await startCounter()
    const script = (more: string) => `<!doctype html><script defer src="${counter.url}/slotted.js"${more}></script>`
    const site = await startSite({ '/plain': { html: script('') }, '/local': { html: script(' data-local') } })
    const page = await open(counter)
    await page.getByLabel('Address of a page').fill(`${site.url}/plain`)
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('Add the attribute data-local to its tag.').waitFor()
    const visit = await (await browser.newContext()).newPage()
    await visit.goto(`${site.url}/plain`)
    await settled(visit)
    await visit.goto(`${site.url}/local`)
    await counter.has({ 'page_view /local': 1 }, visit)
  })
})
