import { describe, expect, it } from 'vitest'
import { SCRIPT, STYLE } from '../../src/generated.ts'
import { SAME_SITE } from '../harness/sign-in.ts'
import { sharedWorker, TestWorker, TOKEN } from '../harness/worker.ts'

const { db, worker } = sharedWorker({ BASE_PATH: '/my/counter' })

describe('under a base path', () => {
  it('hits, pixels, increments and downloads count', async () => {
    const query = `?type=page_view&key=${encodeURIComponent('/a/b')}`
    const hit = await worker.fetch(`/my/counter/hit${query}`, { method: 'POST' })
    expect([hit.status, hit.headers.get('X-Hit')]).toEqual([204, 'counted'])
    const pixel = await worker.fetch(`/my/counter/hit.gif${query}`)
    expect([pixel.headers.get('Content-Type'), pixel.headers.get('X-Hit')]).toEqual(['image/gif', 'counted'])
    const added = await worker.api('POST', '/my/counter/v1/counters/page_view/%2Fa%2Fb?return=count', { by: 5 })
    expect(await added.json()).toMatchObject({ key: '/a/b', count: 7 })
    const headers = { Origin: 'https://a.example' }
    expect((await worker.fetch('/my/counter/hit', { method: 'OPTIONS', headers })).status).toBe(204)
    expect((await worker.fetch('/my/counter/d/download/v1%2F/app.zip')).status).toBe(404)
    const file = await worker.fetch('/my/counter/d/download/v1/app.zip')
    expect([file.status, file.headers.get('Location')]).toEqual([302, 'http://127.0.0.1:8788/files/v1/app.zip'])
    expect(await worker.count('page_view', '/a/b')).toBe(7)
  })

  it('a percent-encoded base path is the same path, with the same keys', async () => {
    const added = await worker.api('POST', '/m%79/counter/v1/counters/page_view/%2Fencoded', {})
    expect(await added.json()).toMatchObject({ key: '/encoded', added: 1 })
    expect(await worker.count('page_view', '/encoded')).toBe(1)
  })

  it('badges are served, and those that count do', async () => {
    expect(await (await worker.fetch('/my/counter/badge/page_view/%2Fbadge.svg')).text()).toContain('<svg')
    expect(await (await worker.fetch('/my/counter/chart/page_view/%2Fbadge.svg')).text()).toContain('<svg')
    const COUNTERS = { page_view: { record_type: 1, public: true, counting_badge: true } }
    const counting = new TestWorker(db.url, { BASE_PATH: '/my/counter', COUNTERS })
    const badge = await counting.fetch('/my/counter/hit/page_view/%2Fbadge.svg')
    expect([badge.headers.get('X-Hit'), await badge.text()]).toEqual(['counted', expect.stringContaining('<svg')])
    expect(await worker.count('page_view', '/badge')).toBe(1)
    expect((await counting.fetch('/hit/page_view/%2Fbadge.svg')).status).toBe(404)
  })

  it.each(['/', '/hit', '/my', '/my/counters', '/my/counter2/hit', '/v1/status', '/docs', '/-', '/my/counter/-'])(
    'nothing is served at %s',
    async (path) => {
      const response = await worker.fetch(path, { method: path.endsWith('hit') ? 'POST' : 'GET' })
      expect(response.status).toBe(404)
      const { code, detail } = (await response.json()) as { code: string; detail: string }
      expect(code).toBe('not_found')
      expect(detail.startsWith('This path is not below /my/counter, ')).toBe(!path.startsWith('/my/counter/'))
    },
  )

  it('a check is a page that asks below the path, and answers', async () => {
    const shown = await (await worker.fetch('/my/counter/check?type=page_view')).text()
    expect(shown).toContain('data-base="/my/counter"')
    const answer = await worker.fetch('/my/counter/check?type=page_view&page=https://a.example/x', {
      method: 'POST',
      headers: { Origin: 'https://counter.test', 'User-Agent': 'Mozilla/5.0 Firefox/140.0' },
    })
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { counts: expect.any(Boolean), says: expect.any(Array) },
    ])
  })

  it('a counter is set, and read again', async () => {
    expect((await worker.api('PUT', '/my/counter/v1/counters/page_view/%2Fset', { count: 5 })).status).toBe(200)
    expect(await worker.count('page_view', '/set')).toBe(5)
  })

  it('a wrong method is answered 405', async () => {
    const response = await worker.fetch('/my/counter/v1/increments')
    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'POST'])
  })
})

describe('the dashboard under a base path', () => {
  const form = (path: string, fields: Record<string, string>, cookie = '') =>
    worker.fetchAt('https://counter.test', `/my/counter${path}`, {
      method: 'POST',
      headers: {
        ...SAME_SITE,
        'Content-Type': 'application/x-www-form-urlencoded',
        ...(cookie !== '' && { Cookie: cookie }),
      },
      body: new URLSearchParams(fields).toString(),
    })

  /** Addresses that lead out of the base path. */
  const strayLinks = (html: string) =>
    [...html.matchAll(/ (?:href|src|action)="(\/[^"]*)"/g)]
      .map(([, address]) => address!)
      .filter((address) => !address.startsWith('/my/counter/'))

  it('signs in with a cookie of its own, stays below the path, and signs out', async () => {
    for (const path of ['/my/counter', '/my/counter/']) {
      const signIn = await worker.fetch(path)
      expect(signIn.status).toBe(200)
      const html = await signIn.text()
      expect(html).toContain('action="/my/counter/login"')
      expect(html).toContain('<html lang="en" data-base="/my/counter">')
      expect(html).toContain('name="next" value="/"')
      expect(strayLinks(html)).toEqual([])
    }
    const signedIn = await form('/login', { token: TOKEN, next: '/counter?type=page_view&key=a' })
    expect([signedIn.status, signedIn.headers.get('Location')]).toEqual([
      303,
      '/my/counter/counter?type=page_view&key=a',
    ])
    const [cookie, ...attributes] = signedIn.headers.get('Set-Cookie')!.split('; ')
    expect(cookie).toMatch(/^__Host-session\.my\.counter=/)
    expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']))

    const open = (path: string) =>
      worker.fetchAt('https://counter.test', `/my/counter${path}`, { headers: { Cookie: cookie! } })
    for (const path of ['', '/', '/counter?type=page_view&key=a']) {
      const html = await (await open(path)).text()
      expect(html).toContain('<main id="main" data-page=')
      expect(strayLinks(html)).toEqual([])
      expect(html).toContain(`name="next" id="next" value="${path.replaceAll('&', '&amp;') || '/'}"`)
    }
    const page = await (await open('/counter?type=page_view&key=a')).text()
    expect(page).toContain('data-base="/my/counter"')
    for (const file of [SCRIPT, STYLE]) expect(page).toContain(`="/my/counter${file}"`)
    expect((await open('/v1/status')).status).toBe(200)
    expect(strayLinks(await (await open('/?type=nothing')).text())).toEqual([])
    expect((await worker.fetch('/my/counter/login')).headers.get('Location')).toBe('/my/counter/')

    const marked = await form('/own-visits', { count: 'no', next: '//evil.example' }, cookie)
    expect([marked.status, marked.headers.get('Location')]).toEqual([303, '/my/counter/'])
    expect(marked.headers.get('Set-Cookie')).toMatch(/^__Host-own-visits\.my\.counter=1;/)
    const signedOut = await form('/logout', {}, cookie)
    expect([signedOut.status, signedOut.headers.get('Location')]).toEqual([303, '/my/counter/'])
    expect(signedOut.headers.get('Set-Cookie')).toMatch(/^__Host-session\.my\.counter=;/)
  })

  it('does not take the cookies of another counter on the host', async () => {
    const signedIn = await form('/login', { token: TOKEN, next: '/' })
    const cookie = signedIn.headers.get('Set-Cookie')!.split(';')[0]!
    const other = new TestWorker(db.url, { BASE_PATH: '/other' })
    const status = (of: TestWorker, base: string) =>
      of.fetchAt('https://counter.test', `${base}/v1/status`, { headers: { Cookie: cookie } })
    expect((await status(worker, '/my/counter')).status).toBe(200)
    expect((await status(other, '/other')).status).toBe(401)
    expect((await status(new TestWorker(db.url), '')).status).toBe(401)
  })

  it('marks browsers whose visits do not count', async () => {
    const hit = (cookie: string) =>
      worker.fetchAt('https://counter.test', '/my/counter/hit?type=page_view&key=own', {
        method: 'POST',
        headers: { Cookie: cookie },
      })
    expect((await hit('__Host-own-visits.my.counter=1')).headers.get('X-Hit')).toBe('ignored; reason=own')
    expect((await hit('__Host-own-visits=1')).headers.get('X-Hit')).toBe('counted')
  })
})
