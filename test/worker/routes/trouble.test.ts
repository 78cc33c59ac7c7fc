import { describe, expect, it } from 'vitest'
import { sessionCookie } from '../../harness/sign-in.ts'
import { tokenLines, tokenOf } from '../../harness/tokens.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

const COUNTERS = {
  page_view: { record_type: 1, title: 'Page views', public: true, public_page: true },
  invoice: { record_type: 9, title: 'Invoices' },
}
const { db, worker } = sharedWorker({ SITE_NAME: 'Ben & Söhne', COUNTERS })

/** What browsers send when somebody opens an address. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/** Opens an address as a browser does. */
async function open(path: string, { Cookie = '', on = worker, method = 'GET' } = {}) {
  const response = await on.fetch(path, { method, headers: { Accept: BROWSER, Cookie } })
  const text = await response.text()
  const [, title] = /<h1>(.*?)<\/h1>/.exec(text) ?? []
  return { status: response.status, headers: response.headers, text, title }
}

describe('An unknown address', () => {
  it.each(['/nothing', '/counter/', '/stats/nope', '/hit/nope/a', '/badge', '/docs/nope', '/%'])(
    'is a page for people, with a link to the start: %s',
    async (path) => {
      const { status, headers, text, title } = await open(path)
      expect([status, title]).toEqual([404, 'Nothing is served at this path'])
      expect(text).toContain('<title>Nothing is served at this path · Ben &amp; Söhne</title>')
      expect(text).toContain('<a href="/">')
      // It was not logged.
      expect(text).not.toContain(headers.get('X-Request-Id'))
      expect(text).not.toMatch(/invoice|Invoices/)
      expect(headers.get('Content-Type')).toMatch(/^text\/html/)
      expect(headers.get('Content-Security-Policy')).toMatch(/^default-src 'none'/)
      expect(headers.get('Cache-Control')).toBe('no-store')
    },
  )

  it.each([undefined, '*/*', 'application/json', 'application/problem+json', 'image/avif,image/*;q=0.8'])(
    'is a problem document for programs, which accept %s',
    async (Accept) => {
      const response = await worker.fetch('/nothing', { headers: Accept === undefined ? {} : { Accept } })
      expect(response.headers.get('Content-Type')).toBe('application/problem+json')
      expect(await response.json()).toMatchObject({ status: 404, code: 'not_found' })
    },
  )

  it.each(['/v1/nothing', '/v1/top/nope'])('is a problem document in any case below /v1: %s', async (path) => {
    expect(JSON.parse((await open(path)).text)).toMatchObject({ status: 404 })
  })

  it('leads to the start page below the base path, from outside it too', async () => {
    const mounted = new TestWorker(db.url, { BASE_PATH: '/my/counter', COUNTERS })
    for (const path of ['/', '/my/counter/nothing', '/my']) {
      const { status, text } = await open(path, { on: mounted })
      expect([status, /<a href="([^"]*)"/.exec(text)?.[1]], path).toEqual([404, '/my/counter/'])
      expect(text).toContain('Nothing is served at this path · Slotted Counter')
    }
  })

  it('is one because of its method, which the answer allows', async () => {
    const { status, headers, text } = await open('/counter', { method: 'POST' })
    expect([status, headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
    expect(text).toContain('This path supports GET, HEAD.')
  })
})

describe('For people', () => {
  it('a download of an unknown type is a page', async () => {
    const { status, text, headers } = await open('/d/nope/app.zip')
    expect([status, headers.get('X-Hit')]).toEqual([404, 'ignored; reason=unknown_type'])
    expect(text).toContain('The type in the path is not configured.')
  })

  it('settings with errors are listed on the front page', async () => {
    const wrong = { SITE_NAME: 'ok', COUNTERS: { page_view: { record_type: 0, 'a<b>': 1 } } }
    const { status, headers, title, text } = await open('/', { on: new TestWorker(db.url, wrong) })
    expect([status, title]).toEqual([503, 'The configuration has errors'])
    expect(text).toContain('<code>COUNTERS.page_view.record_type</code> must be a whole number')
    expect(text).not.toContain('a<b>')
    expect(text).toContain(`configuration_invalid, request ${headers.get('X-Request-Id')}`)
  })

  it('a form that another site sends is a page, and does nothing', async () => {
    const headers = { Accept: BROWSER, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }
    const response = await worker.fetch('/logout', { method: 'POST', headers })
    expect([response.status, response.headers.has('Set-Cookie')]).toEqual([403, false])
    expect(await response.text()).toContain('Use the form on the dashboard')
  })
})

describe('For those who are signed in', () => {
  it('an unknown type is reported, with the existing types', async () => {
    const Cookie = await sessionCookie(worker)
    for (const path of ['/?type=a<b>', '/counter?type=a<b>&key=a']) {
      const { status, title, text } = await open(path, { Cookie })
      expect([status, title]).toEqual([404, 'There is no such type'])
      expect(text).toContain('No type is named “<bdi>a&lt;b&gt;</bdi>”.')
      expect(text).toContain('>Invoices</a>')
    }
  })

  it.each(['/counter', '/counter?type=page_view', '/counter?key=a'])(
    'the address of a counter that lacks its type or its key is told: %s',
    async (path) => {
      const { status, title } = await open(path, { Cookie: await sessionCookie(worker) })
      expect([status, title]).toEqual([404, 'There is no such counter'])
    },
  )

  it('a type that the token does not cover is reported, without its title', async () => {
    const API_TOKENS = await tokenLines({ someone: 'read:page_view' })
    const limited = new TestWorker(db.url, { COUNTERS, API_TOKENS })
    const Cookie = await sessionCookie(limited, tokenOf('someone'))
    for (const path of ['/?type=invoice', '/counter?type=invoice&key=a']) {
      const { status, title, text } = await open(path, { Cookie, on: limited })
      expect([status, title]).toEqual([403, 'Your token does not cover this type'])
      expect(text).not.toContain('Invoices')
    }
    expect(await open('/stats/invoice', { Cookie, on: limited })).toMatchObject({
      title: 'Nothing is served at this path',
    })
  })

  it('the public page of a type without one leads to the dashboard', async () => {
    const { status, title, text } = await open('/stats/invoice', { Cookie: await sessionCookie(worker) })
    expect([status, title]).toEqual([404, 'This page is not public'])
    expect(text).toContain('<code>COUNTERS.invoice.public_page = true</code>')
    expect(text).toContain('<a href="/?type=invoice">')
  })
})

describe('The sign-in form', () => {
  it('says that a session has ended, unless somebody signed out', async () => {
    expect((await open('/?type=invoice')).text).not.toContain('Your session has ended.')
    // Signing in leaves the time zone in the browser, where it outlives the session.
    const ended = await open('/?type=invoice', { Cookie: '__Host-zone=Europe/Berlin' })
    expect(ended).toMatchObject({ status: 200, title: 'Ben &amp; Söhne' })
    expect(ended.text).toContain('Your session has ended.')
    const headers = { Cookie: '__Host-zone=Europe/Berlin', 'Sec-Fetch-Site': 'same-origin' }
    const out = await worker.fetch('/logout', { method: 'POST', headers })
    expect(out.headers.get('Set-Cookie')).toMatch(/__Host-zone=;/)
  })

  it('leads strangers to the public page of the type, if it has one', async () => {
    const link = '<a href="/stats/page_view">the public page of Page views</a>'
    for (const path of ['/?type=page_view', '/counter?type=page_view&key=a']) {
      expect((await open(path)).text).toContain(link)
    }
    for (const path of ['/', '/?type=invoice', '/?type=nope']) {
      expect((await open(path)).text).not.toContain('/stats/')
    }
  })
})
