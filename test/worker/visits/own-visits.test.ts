import { beforeEach, describe, expect, it } from 'vitest'
import { SAME_SITE, sessionCookie } from '../../harness/sign-in.ts'
import { TestWorker, TOKEN } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'
import { bePatient } from '../patience.ts'

const SETTINGS = {
  COUNTERS: {
    page: { record_type: 1, public: true, allowed_origins: ['*'] },
    file: { record_type: 2, public: true, redirect_to: '/files/' },
  },
}
const BROWSER = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }
const OWN = 'ignored; reason=own'

const db = emptiedDatabase()
let worker: TestWorker
const isolate = (networks: string[] = []) => new TestWorker(db.url, { ...SETTINGS, EXCLUDE: { networks } })
beforeEach(() => {
  bePatient()
  worker = isolate()
})

/** Sends a visit in each way, and returns the X-Hit of each. */
async function visit(headers: Record<string, string>, { on = worker, origin = 'https://counter.test' } = {}) {
  const init = { headers: { ...BROWSER, ...headers } }
  const answers = [
    await on.fetchAt(origin, '/hit?type=page&key=/a', { method: 'POST', ...init }),
    await on.fetchAt(origin, '/hit.gif?type=page&key=/a', init),
    await on.fetchAt(origin, '/d/file/a.zip', init),
  ]
  expect(answers.map(({ status }) => status)).toEqual([204, 200, 302])
  return answers.map(({ headers }) => headers.get('X-Hit'))
}
const three = (said: string) => [said, said, said]
const sum = () => db.number('SELECT COALESCE(SUM(count), 0) FROM slotted_counters')

describe('Visits from configured networks', () => {
  const excluding = () => isolate(['203.0.113.7', '198.51.100.0/24', '2001:db8::/48'])
  const OWN_ADDRESSES = ['203.0.113.7', '::ffff:203.0.113.7', '198.51.100.200', '2001:db8::1', '2001:db8:0:ffff::1']
  const OTHERS = ['203.0.113.8', '198.51.101.1', '2001:db8:1::1', 'unknown', '203.0.113.7:443', '']

  it.each(OWN_ADDRESSES)('do not count: %s', async (address) => {
    expect(await visit({ 'CF-Connecting-IP': address }, { on: excluding() })).toEqual(three(OWN))
    expect(await sum()).toBe(0n)
  })

  it.each(OTHERS)('are all that is left out: %s counts', async (address) => {
    expect(await visit({ 'CF-Connecting-IP': address }, { on: excluding() })).toEqual(three('counted'))
  })

  it('are recognized only by the header that Cloudflare sets', async () => {
    const on = isolate(['203.0.113.7'])
    const claimed = { 'X-Forwarded-For': '203.0.113.7', 'X-Real-IP': '203.0.113.7', Forwarded: 'for=203.0.113.7' }
    expect(await visit({ 'CF-Connecting-IP': '198.51.100.1', ...claimed }, { on })).toEqual(three('counted'))
    expect(await visit(claimed, { on })).toEqual(three('counted'))
  })

  it('count through the API', async () => {
    const on = isolate(['203.0.113.7'])
    const headers = { 'CF-Connecting-IP': '203.0.113.7', Cookie: '__Host-own-visits=1' }
    expect((await on.api('POST', '/v1/counters/page/%2Fa', { by: 2 }, headers)).status).toBe(200)
    expect(await sum()).toBe(2n)
  })
})

/** Sends the form of the switch. */
function sendSwitch(count: string, headers: Record<string, string>, next = '/') {
  return worker.fetch('/own-visits', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ count, next }).toString(),
  })
}

describe('The switch of the dashboard', () => {
  it('marks the browser, whose visits do not count then, and removes the mark', async () => {
    const signedIn = { Cookie: await sessionCookie(worker), ...SAME_SITE }
    const on = await sendSwitch('no', signedIn, '/counter?type=page&key=%2Fa')
    expect([on.status, on.headers.get('Location')]).toEqual([303, '/counter?type=page&key=%2Fa'])
    expect(on.headers.get('Set-Cookie')).toBe(
      '__Host-own-visits=1; Max-Age=34560000; Path=/; HttpOnly; Secure; SameSite=Lax',
    )
    // The mark outlives the session.
    expect(await visit({ Cookie: 'other=1; __Host-own-visits=1' })).toEqual(three(OWN))
    expect(await sum()).toBe(0n)
    const off = await sendSwitch('yes', signedIn)
    const removed = expect.stringMatching(/^__Host-own-visits=; Max-Age=0; /)
    expect([off.status, off.headers.get('Set-Cookie')]).toEqual([303, removed])
    expect(await visit({})).toEqual(three('counted'))
  })

  it('is on every page, and shows whether this browser counts', async () => {
    const session = await sessionCookie(worker)
    for (const path of ['/', '/?type=file', '/counter?type=page&key=%22%3E%3Cb%3E']) {
      const page = async (cookies: string) => (await worker.fetch(path, { headers: { Cookie: cookies } })).text()
      expect(await page(session)).toContain('Do not count this browser')
      const marked = await page(`${session}; __Host-own-visits=1`)
      expect(marked).toContain('Count this browser again')
      expect(marked).not.toContain('Do not count this browser')
      expect(marked).not.toContain('"><b>')
    }
  })

  it('over plain http, as on this machine, sets a cookie of its own', async () => {
    const origin = 'http://localhost:8787'
    const headers = { Cookie: await sessionCookie(worker, TOKEN, { origin }), 'Sec-Fetch-Site': 'same-origin' }
    const response = await worker.fetchAt(origin, '/own-visits', { method: 'POST', headers, body: 'count=no' })
    expect(response.headers.get('Set-Cookie')).toBe('own-visits=1; Max-Age=34560000; Path=/; HttpOnly; SameSite=Lax')
    expect(await visit({ Cookie: 'own-visits=1' }, { origin })).toEqual(three(OWN))
    expect(await visit({ Cookie: '__Host-own-visits=1' }, { origin })).toEqual(three('counted'))
    // No other host of the domain can set the cookie of https.
    expect(await visit({ Cookie: 'own-visits=1' })).toEqual(three('counted'))
  })

  it('is for signed-in users', async () => {
    const response = await sendSwitch('no', SAME_SITE)
    expect([response.status, response.headers.get('Set-Cookie')]).toEqual([401, null])
    expect(await response.text()).toContain('Sign in first')
  })

  it('is not for other sites', async () => {
    const session = { Cookie: await sessionCookie(worker) }
    for (const from of [{ 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.test' }, {}]) {
      const response = await sendSwitch('no', { ...session, ...from })
      expect([response.status, response.headers.get('Set-Cookie')]).toEqual([403, null])
    }
  })

  it('leads to no other site, and refuses a body that is too long', async () => {
    const signedIn = { Cookie: await sessionCookie(worker), ...SAME_SITE }
    for (const next of ['https://evil.test/', '//evil.test', '/logout', '/\\evil.test', '']) {
      expect((await sendSwitch('no', signedIn, next)).headers.get('Location')).toBe('/')
    }
    expect((await sendSwitch('x'.repeat(20_000), signedIn)).status).toBe(413)
  })

  it.each([
    'own-visits',
    'own-visits=',
    'own-visits=0',
    'own-visits=11',
    'xown-visits=1',
    'own-visitsx=1',
    'a=own-visits=1',
  ])('has one mark: a browser with %j counts', async (cookie) => {
    expect(await visit({ Cookie: cookie })).toEqual(three('counted'))
  })
})
