import { serializeSigned } from 'hono/utils/cookie'
import { describe, expect, it, vi } from 'vitest'
import { sessionSecret } from '../../../src/http/cookies.ts'
import { OWNER, sha256, type Token } from '../../../src/tokens.ts'
import { LIMIT_OF_FIVE } from '../../harness/limit-of-five.ts'
import { SAME_SITE, sessionCookie, signIn } from '../../harness/sign-in.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { tokenLines, tokenOf } from '../../harness/tokens.ts'
import { unusedNetwork } from '../../harness/unused-network.ts'
import { sharedWorker, TestWorker, TOKEN } from '../../harness/worker.ts'
import { inOnePeriod } from '../one-period.ts'

const NAME = '__Host-session'
const PRIVATE = { COUNTERS: { invoice: { record_type: 9 }, page_view: { record_type: 1, public: true } } }

const { db, worker } = sharedWorker(PRIVATE)

/** A cookie as the Worker makes it, with a value and a secret of our choice. */
const forge = async (value: string, secret: string) =>
  (await serializeSigned(NAME, value, secret, { path: '/', secure: true })).split(';')[0]!

const inSeconds = (seconds: number) => `${Math.floor(Date.now() / 1_000) + seconds}-${OWNER}`
const owner = async (apiToken = TOKEN): Promise<Token> => {
  return { name: OWNER, scope: 'manage', types: null, hash: await sha256(apiToken) }
}
const secretOf = async (databaseUrl = db.url, token?: Token) =>
  sessionSecret(databaseUrl, 'counter.test', token ?? (await owner()))

/** The status of a request for a private counter with a cookie. */
const ask = async (cookie: string, to = worker) =>
  (await to.fetch('/v1/counters/invoice/a', { headers: { Cookie: cookie } })).status

describe('Signing in', () => {
  it('with the token sets a cookie that scripts cannot read, for twelve hours, and redirects', async () => {
    const response = await signIn(worker, TOKEN)
    expect([response.status, response.headers.get('Location')]).toEqual([303, '/'])
    const set = response.headers.get('Set-Cookie')!
    expect(set).toMatch(/^__Host-session=\d+-owner\.[\w%]+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
    expect(set).not.toContain(TOKEN)
    expect(await ask(set.split(';')[0]!)).toBe(200)
  })

  it('over plain http, as on this machine, has a cookie for each port', async () => {
    const { status, headers } = await signIn(worker, TOKEN, { origin: 'http://localhost:8787' })
    expect(status).toBe(303)
    expect(headers.get('Set-Cookie')).toMatch(
      /^session-8787=\d+-owner\.[\w%]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/,
    )
  })

  it.each(['', 'wrong', TOKEN.slice(0, -1), `${TOKEN}x`, TOKEN.toUpperCase(), '\0', 'é'.repeat(300)])(
    'with %j is refused on a page that gives the reason, without a cookie',
    async (token) => {
      const response = await signIn(worker, token)
      expect([response.status, response.headers.get('Set-Cookie')]).toEqual([401, null])
      expect(response.headers.get('Content-Type')).toContain('text/html')
      const page = await response.text()
      expect(page).toContain('That is not a token of this Worker.')
      if (token.length > 1) expect(page).not.toContain(token)
    },
  )

  it.each([
    ['no body', '', 401],
    ['a JSON body', '{"token":"a"}', 401],
    ['a malformed body', '%%%&&==&token', 401],
    ['a huge body', `token=${'x'.repeat(20_000)}`, 413],
  ])('with %s is a client error', async (_, body, status) => {
    const response = await worker.fetch('/login', { method: 'POST', headers: SAME_SITE, body })
    expect([response.status, response.headers.get('Set-Cookie')]).toEqual([status, null])
  })

  it('redirects to the requested page, and to no other site', async () => {
    for (const counter of [
      '/counter?type=page_view&key=%2Fa%20b',
      '/counter?type=page_view&key=/blog/a,b:c',
      '/?type=invoice',
    ]) {
      expect((await signIn(worker, TOKEN, { next: counter })).headers.get('Location')).toBe(counter)
    }
    for (const next of [
      '//evil.test',
      'https://evil.test/',
      '/\\evil.test',
      '/@evil.test',
      '/counter?x\r\nA: b',
      '/logout',
      '',
    ]) {
      expect((await signIn(worker, TOKEN, { next })).headers.get('Location'), next).toBe('/')
    }
  })

  it('from another site is refused', async () => {
    const foreign: Record<string, string>[] = [
      { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' },
      { 'Sec-Fetch-Site': 'same-site', Origin: SAME_SITE.Origin },
      { Origin: 'https://evil.test' },
      { Origin: 'null' },
      {},
    ]
    for (const headers of foreign) {
      const response = await signIn(worker, TOKEN, { headers })
      expect([response.status, response.headers.get('Set-Cookie')]).toEqual([403, null])
    }
  })

  it('is limited for each address, if a rate limit is bound', () =>
    inOnePeriod(async () => {
      const limited = new TestWorker(db.url, { VISITOR_LIMIT: LIMIT_OF_FIVE })
      const attempt = (address: string, token = 'wrong') =>
        signIn(limited, token, { headers: { ...SAME_SITE, 'CF-Connecting-IP': address } })
      const [one, other] = [`${unusedNetwork()}::1`, `${unusedNetwork()}::1`]
      const statuses: number[] = []
      for (let i = 0; i < 12; i++) statuses.push((await attempt(one)).status)
      expect(statuses.slice(0, 3)).toEqual([401, 401, 401])
      expect(statuses.at(-1)).toBe(429)
      // Nor does the right token help. Otherwise guessing would.
      expect((await attempt(one, TOKEN)).status).toBe(429)
      expect((await attempt(other)).status).toBe(401)
    }))
})

describe('The cookie', () => {
  it('permits what the token permits: reading, and changing from the dashboard’s own pages', async () => {
    const headers = { Cookie: await sessionCookie(worker) }
    expect((await worker.fetch('/v1/status', { headers })).status).toBe(200)
    for (const path of ['/v1/counters/invoice/cookie', '/v1/rollup']) {
      const response = await worker.fetch(path, { method: 'POST', headers: { ...headers, ...SAME_SITE } })
      expect(response.status, path).toBe(200)
    }
  })

  it('opens the pages, which are not cached', async () => {
    for (const path of ['/', '/?type=invoice', '/counter?type=invoice&key=%3Cb%3E']) {
      const response = await worker.fetch(path, { headers: { Cookie: await sessionCookie(worker) } })
      expect(response.status).toBe(200)
      expect(response.headers.get('Cache-Control')).toBe('no-store')
      expect(await response.text()).toContain('action="/logout"')
    }
    expect(await (await worker.fetch('/')).text()).not.toContain('invoice')
  })

  it('expires after twelve hours, even if the browser still sends it', async () => {
    const mine = await sessionCookie(worker)
    stopClock()
    vi.setSystemTime(Date.now() + 12 * 3_600_000 - 5_000)
    expect(await ask(mine)).toBe(200)
    vi.setSystemTime(Date.now() + 10_000)
    expect(await ask(mine)).toBe(401)
    expect(await ask(await forge(inSeconds(60), await secretOf()))).toBe(200)
    expect(await ask(await forge(inSeconds(-1), await secretOf()))).toBe(401)
  })

  it('is not valid on another deployment, even with the same token', async () => {
    const mine = await sessionCookie(worker)
    const otherDatabase = new TestWorker(db.url.replace(/\/\/[^:]+:/, '//other:'), PRIVATE)
    expect(await ask(mine, otherDatabase)).toBe(401)
    const there = await worker.fetchAt('https://other.test', '/v1/counters/invoice/a', { headers: { Cookie: mine } })
    expect(there.status).toBe(401)
  })

  it('cannot be forged', async () => {
    const mine = await sessionCookie(worker)
    const [value = '', signature = ''] = mine.slice(NAME.length + 1).split('.')
    const ends = Number.parseInt(value, 10)
    const attempts = [
      `${NAME}=${ends + 1}-${OWNER}.${signature}`,
      `${NAME}=${ends}.${signature}`,
      `${NAME}=${ends}-nobody.${signature}`,
      `${NAME}=${value}`,
      `${NAME}=${value}.`,
      `${NAME}=.${signature}`,
      `${NAME}=`,
      `${NAME}=${value}.${signature.slice(0, -4)}AAA%3D`,
      `session=${value}.${signature}`,
      `session-443=${value}.${signature}`,
      await forge(inSeconds(60), TOKEN),
      await forge(inSeconds(60), await secretOf(db.url, await owner('guess'))),
      // The hash of a token and all that is not secret, without the database's password.
      await forge(inSeconds(60), await secretOf(db.url.replace(/:[^:@]+@/, ':guess@'))),
      // Signed, but without a valid time.
      await forge(`NaN-${OWNER}`, await secretOf()),
      await forge(`1e99-${OWNER}`, await secretOf()),
      await forge('', await secretOf()),
      await forge(inSeconds(60).replace('-owner', ''), await secretOf()),
      `${NAME}=%E0%A4%A`,
      `${NAME}=${'9'.repeat(10_000)}.${signature}`,
    ]
    for (const attempt of attempts) expect(await ask(attempt), attempt).toBe(401)
    expect(await ask(mine)).toBe(200)
  })

  it('does not make up for a wrong token', async () => {
    const headers = { Cookie: await sessionCookie(worker), Authorization: 'Bearer wrong' }
    expect((await worker.fetch('/v1/status', { headers })).status).toBe(401)
  })

  it('is deleted on signing out, which other sites cannot request', async () => {
    const mine = await sessionCookie(worker)
    const out = (headers: Record<string, string>) =>
      worker.fetch('/logout', { method: 'POST', headers: { Cookie: mine, ...headers } })
    const refused = await out({ 'Sec-Fetch-Site': 'cross-site' })
    expect([refused.status, refused.headers.get('Set-Cookie')]).toEqual([403, null])
    const response = await out(SAME_SITE)
    expect([response.status, response.headers.get('Location')]).toEqual([303, '/'])
    expect(response.headers.get('Set-Cookie')).toMatch(/^__Host-session=; Max-Age=0; Path=\//)
  })
})

describe('A session', () => {
  const withTokens = async (scopes: Record<string, string>, overrides = {}) =>
    new TestWorker(db.url, { ...PRIVATE, API_TOKENS: await tokenLines(scopes), ...overrides })

  it('belongs to the token that signed in: renewing or removing another one does not end it', async () => {
    const before = await withTokens({ a: 'read', b: 'manage' })
    const [a, b] = [await sessionCookie(before, tokenOf('a')), await sessionCookie(before, tokenOf('b'))]
    const mine = await sessionCookie(before)
    const statuses = async (to: TestWorker) => [await ask(a, to), await ask(b, to), await ask(mine, to)]
    expect(await statuses(before)).toEqual([200, 200, 200])
    const renewed = `a read ${await sha256(tokenOf('new'))}\n${await tokenLines({ b: 'manage' })}`
    expect(await statuses(await withTokens({}, { API_TOKENS: renewed }))).toEqual([401, 200, 200])
    expect(await statuses(await withTokens({ b: 'manage' }))).toEqual([401, 200, 200])
    const ownerRenewed = await withTokens({ a: 'read', b: 'manage' }, { API_TOKEN: 'another-token-for-tests' })
    expect(await statuses(ownerRenewed)).toEqual([200, 200, 401])
  })

  it('has the rights of its token, as they are now', async () => {
    const worker = await withTokens({ a: 'read' })
    const Cookie = await sessionCookie(worker, tokenOf('a'))
    const set = (to: TestWorker) =>
      to.fetch('/v1/counters/invoice/rights', {
        method: 'PUT',
        headers: { Cookie, ...SAME_SITE, 'Content-Type': 'application/json' },
        body: '{"count":1}',
      })
    expect(await ask(Cookie, worker)).toBe(200)
    expect((await set(worker)).status).toBe(403)
    expect((await set(await withTokens({ a: 'manage' }))).status).toBe(200)
    expect(await ask(Cookie, await withTokens({ a: 'count' }))).toBe(403)
  })

  it('cannot be made for another token, or under another name', async () => {
    const worker = await withTokens({ a: 'read', b: 'manage' })
    const cookie = await sessionCookie(worker, tokenOf('a'))
    for (const name of ['b', OWNER, 'c']) {
      expect(await ask(cookie.replace('-a.', `-${name}.`), worker)).toBe(401)
      const ends = inSeconds(60).replace(OWNER, name)
      expect(
        await ask(await forge(ends, await secretOf(db.url, { ...(await owner(tokenOf('a'))), name: 'a' })), worker),
      ).toBe(401)
    }
  })

  it('is not for a token that may only count', async () => {
    const worker = await withTokens({ a: 'count' })
    const response = await signIn(worker, tokenOf('a'))
    expect([response.status, response.headers.get('Set-Cookie')]).toEqual([403, null])
    expect(await response.text()).toContain('This token has no read access.')
  })
})
