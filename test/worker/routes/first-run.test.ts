import { expect, it } from 'vitest'
import { HIT_REASONS } from '../../../src/hit-reasons.ts'
import { expectProblem } from '../../harness/expect-problem.ts'
import { SAME_SITE, sessionCookie } from '../../harness/sign-in.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { tokenLines, tokenOf } from '../../harness/tokens.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'

const COUNTERS = {
  page: { record_type: 1, allowed_origins: ['*'], dedupe_seconds: 1_800, also: 'visitor' },
  visitor: { record_type: 2, dedupe_seconds: 86_400 },
  file: { record_type: 3 },
}
const db = emptiedDatabase()
const isolate = (overrides = {}) => new TestWorker(db.url, { COUNTERS, ...overrides })

async function look(on: TestWorker, type = 'page') {
  const response = await on.api('POST', `/first-run?type=${type}`)
  expect(response.status).toBe(200)
  return response.json()
}
const statements = (work: () => Promise<unknown>) => db.recording(work).then((sent) => sent.length)

it('The first hit is rolled up as soon as a page that waits asks, without a cron trigger', async () => {
  stopClock()
  const on = isolate()
  expect(await look(on)).toEqual({ first: null, refused: '' })
  await on.hit('page', '/about', { 'CF-Connecting-IP': '203.0.113.7' })
  expect(await on.read('page', '/about')).toMatchObject({ total: 0, pending: 1 })
  expect(await look(on)).toEqual({ first: { key: '/about', count: 1 }, refused: '' })
  expect(await on.read('page', '/about')).toMatchObject({ total: 1, pending: 0, rolledUpAt: new Date().toISOString() })
  const numbers = await (await on.api('GET', '/numbers?type=page&period=today')).json()
  expect(numbers).toMatchObject({ total: 1, chart: { count: 1 }, list: { counters: [{ key: '/about', count: 1 }] } })
})

it('Later hits wait for the cron trigger: only what has no total yet is rolled up', async () => {
  const on = isolate()
  await on.hit('page', '/about')
  await look(on)
  await on.hit('page', '/about')
  const few = await statements(async () => expect(await look(on)).toMatchObject({ first: { key: '/about', count: 2 } }))
  expect(few).toBe(2)
  expect(await on.read('page', '/about')).toMatchObject({ total: 1, pending: 1 })
})

it('A name without a count is not a first hit, and two pages that wait count it once', async () => {
  const on = isolate()
  // As it is between storing the name and counting.
  await db.behave({ faults: [{ action: 'error', errno: 1146, match: 'INSERT INTO slotted_counters', times: 9 }] })
  await on.hit('page', '/about')
  expect(await look(on)).toMatchObject({ first: null })
  await db.behave()
  await on.hit('page', '/about', { 'CF-Connecting-IP': '203.0.113.7' })
  for (const { first } of (await Promise.all([look(on), look(isolate()), look(on)])) as { first: unknown }[]) {
    expect(first).toEqual({ key: '/about', count: 1 })
  }
  expect(await on.count('page', '/about')).toBe(1)
})

it('A hit that did not count is explained, in its type alone', async () => {
  const on = isolate()
  await on.hit('page', '/about', { 'User-Agent': 'Googlebot/2.1', Origin: 'https://example.com' })
  const { cause, advice } = HIT_REASONS.bot
  const refused = `A hit from https://example.com was not counted. ${cause} ${advice}`
  expect(await look(on)).toEqual({ first: null, refused })
  expect(await look(on, 'file')).toEqual({ first: null, refused: '' })
})

it('Only those who may read the type learn of it, and no other site makes a browser ask', async () => {
  const on = isolate({ API_TOKENS: await tokenLines({ reader: 'read', limited: 'read:file', counting: 'count' }) })
  const ask = (headers: Record<string, string>, type = 'page') =>
    on.fetch(`/first-run?type=${type}`, { method: 'POST', headers })
  const bearer = (name: string) => ({ Authorization: `Bearer ${tokenOf(name)}` })
  await expectProblem(await ask({}), 401, 'unauthorized')
  await expectProblem(await ask(bearer('counting')), 403, 'insufficient_scope')
  await expectProblem(await ask(bearer('limited')), 403, 'insufficient_scope')
  expect((await ask(bearer('limited'), 'file')).status).toBe(200)
  expect((await ask(bearer('reader'))).status).toBe(200)
  await expectProblem(await ask(bearer('reader'), 'pages'), 404, 'unknown_type')
  const Cookie = await sessionCookie(on)
  expect((await ask({ Cookie, ...SAME_SITE })).status).toBe(200)
  await expectProblem(await ask({ Cookie, 'Sec-Fetch-Site': 'cross-site' }), 403, 'cross_site_request')
})

it('A warm hit sends one statement, before and after the first roll-up', async () => {
  const types = { plain: { record_type: 9, allowed_origins: ['*'] } }
  const plain = isolate({ COUNTERS: types })
  await plain.hit('plain', '/about')
  expect(await statements(() => plain.hit('plain', '/about'))).toBe(1)
  await look(plain, 'plain')
  expect(await statements(() => plain.hit('plain', '/about'))).toBe(1)
})
