import { env } from 'cloudflare:workers'
import { serializeSigned } from 'hono/utils/cookie'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { sessionSecret } from '../../src/session.ts'
import { freshDatabase } from '../harness/database.ts'
import { TestWorker, TOKEN } from '../harness/worker.ts'

const ORIGIN = 'http://counter.test'
const NAME = 'session-80'
/** What a browser says of a form or a script on the dashboard's own pages. */
const OWN = { 'Sec-Fetch-Site': 'same-origin', Origin: ORIGIN }
const PRIVATE = { COUNTERS: { invoice: { record_type: 9 }, page_view: { record_type: 1, public: true } } }

let url: string
let worker: TestWorker
beforeAll(async () => {
  url = (await freshDatabase()).url
  worker = new TestWorker(url, PRIVATE)
})

function signIn(token: string, { headers = OWN, to = worker, next = '/' }: SignIn = {}): Promise<Response> {
  return to.fetch('/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ token, next }).toString(),
  })
}

interface SignIn {
  headers?: Record<string, string>
  to?: TestWorker
  next?: string
}

/** Signs in; what the browser then sends along. */
async function cookie(to = worker): Promise<string> {
  const response = await signIn(TOKEN, { to })
  expect(response.status).toBe(303)
  return response.headers.get('Set-Cookie')!.split(';')[0]!
}

/** A cookie as the Worker makes them, signed for some deployment, ending at some time. */
function forge(value: string, secret: string): Promise<string> {
  return serializeSigned(NAME, value, secret)
}

const inSeconds = (seconds: number) => String(Math.floor(Date.now() / 1_000) + seconds)
const secretOf = (overrides = {}) =>
  sessionSecret(readConfig({ ...env, DATABASE_URL: url, API_TOKEN: TOKEN, ...overrides }), 'counter.test')

/** What is private, asked for with a cookie. */
const ask = async (cookie: string, to = worker) =>
  (await to.fetch('/v1/counters/invoice/a', { headers: { Cookie: cookie } })).status

describe('signing in', () => {
  it('with the token gives a cookie that no script sees, for twelve hours, and leads on', async () => {
    const response = await signIn(TOKEN)
    expect([response.status, response.headers.get('Location')]).toEqual([303, '/'])
    const set = response.headers.get('Set-Cookie')!
    expect(set).toMatch(/^session-80=\d+\.[\w%]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(set).not.toContain(TOKEN)
    expect(await ask(set.split(';')[0]!)).toBe(200)
  })

  it('over https is bound to the host as well', async () => {
    const { status, headers } = await worker.fetchAt('https://counter.test', '/login', {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin' },
      body: `token=${TOKEN}`,
    })
    expect(status).toBe(303)
    expect(headers.get('Set-Cookie')).toMatch(
      /^__Host-session=\d+\.[\w%]+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
  })

  it.each(['', 'wrong', TOKEN.slice(0, -1), `${TOKEN}x`, TOKEN.toUpperCase(), '\0', 'é'.repeat(300)])(
    'with %j is refused, on a page that says so, and gives none',
    async (token) => {
      const response = await signIn(token)
      expect(response.status).toBe(401)
      expect(response.headers.get('Set-Cookie')).toBeNull()
      expect(response.headers.get('Content-Type')).toContain('text/html')
      const page = await response.text()
      expect(page).toContain('That is not this Worker’s API token.')
      if (token.length > 1) expect(page).not.toContain(token)
    },
  )

  it.each([
    ['no body', '', 401],
    ['another kind of body', '{"token":"a"}', 401],
    ['a broken one', '%%%&&==&token', 401],
    ['a huge one', `token=${'x'.repeat(20_000)}`, 413],
  ])('with %s is an error of the client', async (_, body, status) => {
    const response = await worker.fetch('/login', { method: 'POST', headers: OWN, body })
    expect(response.status).toBe(status)
    expect(response.headers.get('Set-Cookie')).toBeNull()
  })

  it('leads to the page that was wanted, and nowhere else', async () => {
    for (const counter of [
      '/counter?type=page_view&key=%2Fa%20b',
      '/counter?type=page_view&key=/blog/a,b:c',
      '/?type=invoice',
    ]) {
      expect((await signIn(TOKEN, { next: counter })).headers.get('Location')).toBe(counter)
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
      expect((await signIn(TOKEN, { next })).headers.get('Location'), next).toBe('/')
    }
  })

  it('from another site is refused', async () => {
    const foreign: Record<string, string>[] = [
      { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' },
      { 'Sec-Fetch-Site': 'same-site', Origin: ORIGIN },
      { Origin: 'https://evil.test' },
      { Origin: 'null' },
      {},
    ]
    for (const headers of foreign) {
      const response = await signIn(TOKEN, { headers })
      expect([response.status, response.headers.get('Set-Cookie')]).toEqual([403, null])
    }
  })

  it('is limited for each address, if a limit is bound', async () => {
    const limited = new TestWorker(url, { VISITOR_LIMIT: (env as Record<string, unknown>).LIMIT_OF_FIVE })
    const attempt = (address: string, token = 'wrong') =>
      signIn(token, { to: limited, headers: { ...OWN, 'CF-Connecting-IP': address } })
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push((await attempt('192.0.2.1')).status)
    expect(statuses.slice(0, 3)).toEqual([401, 401, 401])
    expect(statuses.at(-1)).toBe(429)
    // Nor does the right one help, or guessing would.
    expect((await attempt('192.0.2.1', TOKEN)).status).toBe(429)
    expect((await attempt('192.0.2.2')).status).toBe(401)
  })
})

describe('the cookie', () => {
  it('does what the token does, for reading and, from the own pages, for changing', async () => {
    const headers = { Cookie: await cookie() }
    expect((await worker.fetch('/v1/status', { headers })).status).toBe(200)
    const counted = await worker.fetch('/v1/counters/invoice/cookie', {
      method: 'POST',
      headers: { ...headers, ...OWN },
    })
    expect(counted.status).toBe(200)
    expect((await worker.fetch('/v1/rollup', { method: 'POST', headers: { ...headers, ...OWN } })).status).toBe(200)
  })

  it('opens the pages, which nobody keeps', async () => {
    for (const path of ['/', '/?type=invoice', '/counter?type=invoice&key=%3Cb%3E']) {
      const response = await worker.fetch(path, { headers: { Cookie: await cookie() } })
      expect(response.status).toBe(200)
      expect(response.headers.get('Cache-Control')).toBe('no-store')
      expect(await response.text()).toContain('action="/logout"')
    }
    expect(await (await worker.fetch('/')).text()).not.toContain('invoice')
  })

  it('has ended after twelve hours, whatever the browser says', async () => {
    const mine = await cookie()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 12 * 3_600_000 - 5_000 })
    try {
      expect(await ask(mine)).toBe(200)
      vi.setSystemTime(Date.now() + 10_000)
      expect(await ask(mine)).toBe(401)
    } finally {
      vi.useRealTimers()
    }
    expect(await ask(await forge(inSeconds(60), secretOf()))).toBe(200)
    expect(await ask(await forge(inSeconds(-1), secretOf()))).toBe(401)
  })

  it('has ended when the token changes', async () => {
    const mine = await cookie()
    expect(await ask(mine, new TestWorker(url, { ...PRIVATE, API_TOKEN: 'another' }))).toBe(401)
  })

  it('is worth nothing on another deployment, also with the same token', async () => {
    const mine = await cookie()
    const otherDatabase = new TestWorker(url.replace(/\/\/[^:]+:/, '//other:'), PRIVATE)
    expect(await ask(mine, otherDatabase)).toBe(401)
    const there = await worker.fetchAt('http://other.test', '/v1/counters/invoice/a', { headers: { Cookie: mine } })
    expect(there.status).toBe(401)
  })

  it('cannot be forged', async () => {
    const mine = await cookie()
    const [value = '', signature = ''] = mine.slice(NAME.length + 1).split('.')
    const attempts = [
      `${NAME}=${Number(value) + 1}.${signature}`,
      `${NAME}=${value}`,
      `${NAME}=${value}.`,
      `${NAME}=.${signature}`,
      `${NAME}=`,
      `${NAME}=${value}.${signature.slice(0, -4)}AAA%3D`,
      `session=${value}.${signature}`,
      `__Host-session=${value}.${signature}`,
      await forge(inSeconds(60), TOKEN),
      await forge(inSeconds(60), secretOf({ API_TOKEN: 'guess' })),
      // Signed, but no time.
      await forge('NaN', secretOf()),
      await forge('1e99', secretOf()),
      await forge('', secretOf()),
      `${NAME}=%E0%A4%A`,
      `${NAME}=${'9'.repeat(10_000)}.${signature}`,
    ]
    for (const attempt of attempts) expect(await ask(attempt), attempt).toBe(401)
    expect(await ask(mine)).toBe(200)
  })

  it('does not stand in for a token that is wrong', async () => {
    const headers = { Cookie: await cookie(), Authorization: 'Bearer wrong' }
    expect((await worker.fetch('/v1/status', { headers })).status).toBe(401)
  })

  it('is taken back on signing out, which no other site can do', async () => {
    const mine = await cookie()
    const out = (headers: Record<string, string>) =>
      worker.fetch('/logout', { method: 'POST', headers: { Cookie: mine, ...headers } })
    const refused = await out({ 'Sec-Fetch-Site': 'cross-site' })
    expect([refused.status, refused.headers.get('Set-Cookie')]).toEqual([403, null])
    const response = await out(OWN)
    expect([response.status, response.headers.get('Location')]).toEqual([303, '/'])
    expect(response.headers.get('Set-Cookie')).toMatch(/^session-80=; Max-Age=0; Path=\//)
  })
})

describe('another site, in the name of who is signed in,', () => {
  const FOREIGN: [string, Record<string, string>][] = [
    ['a browser that says where it comes from', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' }],
    ['a neighbour of the same domain', { 'Sec-Fetch-Site': 'same-site', Origin: 'http://shop.counter.test' }],
    ['an old browser', { Origin: 'https://evil.test' }],
    ['an origin that is hidden', { Origin: 'null' }],
    ['nothing said at all', {}],
    ['an address typed by hand', { 'Sec-Fetch-Site': 'none' }],
    ['the own name in other letters', { Origin: 'http://counter.test.evil.test' }],
  ]

  it.each(FOREIGN)('can change nothing: %s', async (_, headers) => {
    const signedIn = { Cookie: await cookie(), ...headers }
    for (const [method, path, body] of [
      ['POST', '/v1/counters/invoice/victim', undefined],
      ['POST', '/v1/counters/invoice/victim', '{"by":5}'],
      ['POST', '/v1/increments', '{"increments":[{"type":"invoice","key":"victim"}]}'],
      ['PUT', '/v1/counters/invoice/victim', '{"count":5}'],
      ['DELETE', '/v1/counters/invoice/victim', undefined],
      ['POST', '/v1/imports', '{"counters":[{"type":"invoice","key":"victim","count":5}]}'],
      ['POST', '/v1/rollup', undefined],
    ] as const) {
      const response = await worker.fetch(path, {
        method,
        headers: { ...signedIn, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
        ...(body !== undefined && { body }),
      })
      expect(response.status, path).toBe(403)
      expect(await response.json()).toMatchObject({ code: 'cross_site_request' })
    }
    expect(await (await worker.api('GET', '/v1/counters/invoice/victim')).json()).toMatchObject({ count: 0 })
  })

  it('needs no permission where it brings the token, which browsers do not add', async () => {
    for (const [, headers] of FOREIGN) {
      const response = await worker.api('POST', '/v1/counters/invoice/token', { by: 1 }, headers)
      expect(response.status).toBe(200)
    }
  })

  it('may not read either, by CORS', async () => {
    const headers = { Cookie: await cookie(), Origin: 'https://evil.test' }
    const response = await worker.fetch('/v1/counters/invoice/a', { headers })
    expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull()
    expect(response.headers.get('Access-Control-Allow-Credentials')).toBeNull()
  })
})

describe('the pages', () => {
  const POLICY =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

  it('allow nothing but the own files, and no frames', async () => {
    const mine = await cookie()
    for (const [path, init] of [
      ['/', {}],
      ['/', { headers: { Cookie: mine } }],
      ['/counter?type=page_view&key=a', { headers: { Cookie: mine } }],
      ['/login', { method: 'POST', headers: OWN, body: 'token=wrong' }],
    ] as const) {
      const { headers } = await worker.fetch(path, init)
      expect(headers.get('Content-Security-Policy')).toBe(POLICY)
      expect(headers.get('X-Frame-Options')).toBe('DENY')
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    }
  })

  it('have no script and no style of their own in them, whatever the key', async () => {
    const key = `"><script>alert(1)</script><img src=x onerror=alert(1)>'&amp;\u202e\0`
    const response = await worker.fetch(`/counter?type=page_view&key=${encodeURIComponent(key)}`, {
      headers: { Cookie: await cookie() },
    })
    const page = await response.text()
    expect(page).not.toMatch(/<script>|<img src=x|style=|<style/)
    expect(page).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page.match(/<script/g)).toHaveLength(1)
  })

  it('go back to the first one for what there is no page of', async () => {
    const headers = { Cookie: await cookie() }
    for (const path of ['/?type=nope', '/counter', '/counter?type=page_view', '/counter?type=nope&key=a']) {
      const response = await worker.fetch(path, { headers })
      expect([response.status, response.headers.get('Location')], path).toEqual([302, '/'])
    }
    for (const path of [
      '/?type=%',
      '/counter?type=page_view&key=%ff%',
      `/counter?type=page_view&key=${'x'.repeat(8_000)}`,
    ]) {
      expect((await worker.fetch(path, { headers })).status, path).toBeLessThan(400)
    }
  })

  it('need no database', async () => {
    const dead = new TestWorker('http://user:password@127.0.0.1:9', PRIVATE)
    const mine = await cookie(dead)
    expect((await dead.fetch('/', { headers: { Cookie: mine } })).status).toBe(200)
  })

  it('load files that may be kept for good', async () => {
    const page = await (await worker.fetch('/')).text()
    const paths = [...page.matchAll(/(?:href|src)="(\/dashboard\/[^"]+)"/g)].map(([, path]) => path!)
    expect(paths.map((path) => path.replace(/.*\./, '')).sort()).toEqual(['css', 'js'])
    for (const path of paths) {
      const { status, headers } = await worker.fetch(path)
      expect(status).toBe(200)
      expect(headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
      expect(headers.get('Content-Type')).toMatch(/^text\/(css|javascript); charset=utf-8$/)
    }
    expect((await worker.fetch('/dashboard/000000000000.js')).status).toBe(404)
  })
})
