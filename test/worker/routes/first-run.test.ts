import { expect, it } from 'vitest'
import { HIT_REASONS } from '../../../src/hit-reasons.ts'
import { sessionCookie } from '../../harness/sign-in.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'
import { findAll, numbersOn } from '../shown-page.ts'

const COUNTERS = {
  page: { record_type: 1, allowed_origins: ['*'], dedupe_seconds: 1_800, also: 'visitor', title: 'Pages' },
  visitor: { record_type: 2, dedupe_seconds: 86_400, prefixes: ['/blog/'] },
  file: { record_type: 3, redirect_to: 'https://files.example/' },
}
const db = emptiedDatabase()
const isolate = (overrides = {}) => new TestWorker(db.url, { COUNTERS, ...overrides })

async function open(on: TestWorker, type = 'page', query = ''): Promise<string> {
  const headers = { Cookie: await sessionCookie(on) }
  return (await on.fetch(`/?type=${type}${query}`, { headers })).text()
}
const steps = async (page: string) => (await findAll(page, '#first-run li')).map(({ text }) => text)
const refusedOn = async (page: string) => (await findAll(page, '#first-run-refused'))[0]!.text

it('A type of which nothing was counted shows what to do first instead of numbers', async () => {
  const page = await open(isolate())
  expect((await steps(page)).length).toBe(3)
  expect(page).not.toMatch(/class="tile"|id="find"|id="chart"/)
  const [script] = await findAll(page, '#first-run-script')
  expect(script!.text).toBe(
    `<script defer src="https://counter.test/slotted.js" data-type="page"></script>\n<noscript><img src="https://counter.test/hit.gif?key=%2Fabout&amp;type=page" referrerpolicy="origin" alt=""></noscript>`,
  )
  expect(page).toContain('href="https://counter.test/check?type=page"')
})

it('Before anything is counted, the start page has the first steps of the first type', async () => {
  const on = isolate()
  const open = async () => (await on.fetch('/', { headers: { Cookie: await sessionCookie(on) } })).text()
  const page = await open()
  expect((await findAll(page, '#first-run-script')).length).toBe(1)
  expect(page).toMatch(/data-page="start"[^>]*data-zone/)
  expect(page).not.toMatch(/class="type"|id="best"/)
  await on.hit('file', '/about')
  expect(await steps(await open())).toHaveLength(3)
  // With the first count, whichever type has it, there are rows.
  await on.add('file', { 'app.tgz': 2 })
  const begun = await open()
  expect(await steps(begun)).toEqual([])
  expect((await findAll(begun, '.type h2 a')).map(({ text }) => text)).toEqual(['Pages', 'File'])
  expect((await findAll(begun, '#best')).map(({ text }) => text)).toEqual([
    expect.stringMatching(/: 2 counts on .*, so far$/),
  ])
  expect(await findAll(begun, '#round')).toEqual([])
})

it('A type of downloads links to a file, and one that counts the visits of another needs no script', async () => {
  const on = isolate()
  const [link] = await findAll(await open(on, 'file'), '#first-run-download')
  expect(link!.text).toBe('<a href="https://counter.test/d/file/app-1.2.0.tgz">Download</a>')
  const [first] = await steps(await open(on, 'visitor'))
  expect(first).toContain('No script needed')
})

it('The first hit is shown at once, before anything was rolled up', async () => {
  stopClock()
  const on = isolate()
  await on.hit('page', '/about', { 'CF-Connecting-IP': '203.0.113.7' })
  const page = await open(on)
  expect(await steps(page)).toEqual([])
  const { tiles, list } = await numbersOn(page)
  expect([tiles.today!.count, tiles.all!.count, list]).toMatchObject([1, 1, [{ key: '/about', count: 1 }]])
})

it('A name without a count is not a first hit', async () => {
  const on = isolate()
  // As it is between storing the name and counting.
  await db.behave({ faults: [{ action: 'error', errno: 1146, match: 'INSERT INTO slotted_counters', times: 9 }] })
  await on.hit('page', '/about')
  await db.behave()
  expect((await steps(await open(on))).length).toBe(3)
})

it('A hit that did not count is explained, in its type alone', async () => {
  const on = isolate()
  await on.hit('page', '/about', { 'User-Agent': 'Googlebot/2.1', Origin: 'https://example.com' })
  const { cause, advice } = HIT_REASONS.bot
  expect(await refusedOn(await open(on))).toBe(`A hit from https://example.com was not counted. ${cause} ${advice}`)
  expect(await refusedOn(await open(on, 'file'))).toBe('')
})

it('A search or a period without a count is no first run', async () => {
  const on = isolate()
  await on.hit('page', '/about')
  const nothing = await open(on, 'page', '&find=nope')
  expect(await steps(nothing)).toEqual([])
  expect((await findAll(nothing, '#list-message'))[0]!.text).toMatch(/^Nothing found in this period/)
  const before = await open(on, 'page', '&period=yesterday')
  expect((await findAll(before, '#list-message'))[0]!.text).toMatch(/^Nothing was counted in this period/)
})
