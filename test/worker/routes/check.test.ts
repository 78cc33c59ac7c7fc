import { beforeEach, describe, expect, it } from 'vitest'
import { HIT_REASONS } from '../../../src/hit-reasons.ts'
import { isolateOf } from '../../../src/isolate.ts'
import { emptyDatabase } from '../../harness/database.ts'
import { LIMIT_OF_FIVE } from '../../harness/limit-of-five.ts'
import { logged } from '../../harness/logged.ts'
import { unusedIpv4Network } from '../../harness/unused-network.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'
import { inOnePeriod } from '../one-period.ts'

const SITE = 'https://example.com'
const site = { public: true, allowed_origins: [SITE] }
const SETTINGS = {
  COUNTERS: {
    page: { ...site, record_type: 1 },
    shy: { ...site, record_type: 2, respect_do_not_track: true },
    blog: { ...site, record_type: 3, new_keys: ['/blog/*', '/café'] },
    old: { ...site, record_type: 4, new_keys: 'known' },
    none: { ...site, record_type: 5, new_keys_per_minute: 0 },
    split: { ...site, record_type: 6, bots: 'robot' },
    robot: { record_type: 7, count_bots: true },
    local: {
      ...site,
      record_type: 9,
      allowed_origins: ['http://localhost:3000', 'http://127.0.0.1:4000', 'http://[::1]'],
    },
    file: { record_type: 10, redirect_to: 'https://files.example/' },
    once: { ...site, record_type: 11, dedupe_seconds: 1_800 },
  },
  EXCLUDE: { networks: ['203.0.113.0/24'] },
}
const BROWSER = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' }
const GOOGLE = { 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }
const MARK = { Cookie: '__Host-own-visits=1' }

const db = emptiedDatabase()
let worker: TestWorker
const isolate = (overrides = {}) => new TestWorker(db.url, { ...SETTINGS, ...overrides })
beforeEach(() => {
  worker = isolate()
})

/** Asks as the page's script does. */
async function check(type: string, page = '', headers: Record<string, string> = {}, on = worker) {
  const query = new URLSearchParams({ type, page })
  const response = await on.fetch(`/check?${query}`, { method: 'POST', headers: { ...BROWSER, ...headers } })
  expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'no-store'])
  expect(response.headers.get('Access-Control-Allow-Origin')).toBeNull()
  return response.json<{ counts: boolean; says: string[] }>()
}

/** The X-Hit of a hit from a page. */
async function hit(type: string, page: string, headers: Record<string, string> = {}, on = worker) {
  const { origin, pathname } = new URL(page)
  const query = new URLSearchParams({ type, key: pathname })
  const all = { ...BROWSER, ...headers, Origin: origin }
  return (await on.fetch(`/hit?${query}`, { method: 'POST', headers: all })).headers.get('X-Hit')
}

/** The rows of all tables in which hits write. */
const rows = () =>
  db.number(
    `SELECT (SELECT COUNT(*) FROM slotted_counters) + (SELECT COUNT(*) FROM counters)
       + (SELECT COUNT(*) FROM new_key_budgets) + (SELECT COUNT(*) FROM visitor_salts)`,
  )

describe('A check', () => {
  it.each<
    [reason: keyof typeof HIT_REASONS, type: string, page: string, headers: Record<string, string>, says: RegExp]
  >([
    [
      'origin',
      'page',
      'https://www.example.com/',
      {},
      /^https:\/\/www\.example\.com is not in SITES or the type’s allowed_origins\.$/,
    ],
    ['origin', 'page', 'http://example.com/', {}, /^http:\/\/example\.com is not in SITES/],
    ['own', 'page', `${SITE}/`, MARK, /^This browser is marked/],
    ['own', 'page', `${SITE}/`, { 'CF-Connecting-IP': '203.0.113.9' }, /^EXCLUDE\.networks lists this network/],
    ['prefetch', 'page', `${SITE}/`, { 'Sec-Purpose': 'prefetch;prerender' }, /prefetches/],
    ['dnt', 'shy', `${SITE}/`, { DNT: '1' }, /respect_do_not_track/],
    ['dnt', 'shy', `${SITE}/`, { 'Sec-GPC': '1' }, /Global Privacy Control/],
    ['bot', 'page', `${SITE}/`, GOOGLE, /belongs to a bot/],
    ['key', 'blog', `${SITE}/about`, {}, /new_keys.* The key is \/about\.$/],
    ['key', 'old', `${SITE}/caf%C3%A9`, {}, /The key is \/café\.$/],
    ['key', 'none', `${SITE}/`, {}, /The key is \/\.$/],
  ])('says %s where a hit does, and what to do: type %s, %s with %j', async (reason, type, page, headers, says) => {
    const {
      counts,
      says: [answer, cause, advice, ...more],
    } = await check(type, page, headers)
    expect({ counts, answer, more }).toEqual({ counts: false, answer: 'No, it does not count.', more: [] })
    expect(cause).toMatch(says)
    expect(advice).toMatch(/\.$/)
    expect(await rows()).toBe(0n)
    expect(isolateOf(worker.env).ignoredHits.size).toBe(0)
    expect(await hit(type, page, headers)).toBe(`ignored; reason=${reason}`)
  })

  it.each<[type: string, page: string, headers: Record<string, string>, more: RegExp]>([
    ['page', `${SITE}/about`, {}, /^$/],
    ['page', `${SITE}/about?utm=1#top`, { DNT: '1' }, /^$/],
    ['shy', `${SITE}/about`, {}, /^Browsers that ask not to be tracked do not count \(COUNTERS\.shy\./],
    ['blog', `${SITE}/blog/new`, {}, /^$/],
    ['blog', `${SITE}/caf%C3%A9`, {}, /^$/],
    ['once', `${SITE}/about`, {}, /^Each visitor counts once in 1800 seconds \(COUNTERS\.once\.dedupe_seconds\)\.$/],
  ])(
    'says yes where a hit counts, on what else it depends, and stores nothing: %s, %s with %j',
    async (type, page, headers, says) => {
      const {
        counts,
        says: [answer, ...more],
      } = await check(type, page, headers)
      expect({ counts, answer }).toEqual({ counts: true, answer: 'Yes, it counts.' })
      expect(more.join(' ')).toMatch(says)
      expect(await rows()).toBe(0n)
      expect(await hit(type, page, headers)).toBe('counted')
    },
  )

  it('finds a counter that exists, although new ones are refused', async () => {
    await worker.add('old', { '/about': 1 })
    expect(await check('old', `${SITE}/about`)).toMatchObject({ counts: true })
    expect(await check('old', `${SITE}/..`)).toMatchObject({ counts: false })
    expect(await hit('old', `${SITE}/about`)).toBe('counted')
  })

  it('names the type in which bots count', async () => {
    const says = ['Yes, as a visit by a bot: the user agent belongs to a bot.']
    expect(await check('split', `${SITE}/about`, GOOGLE)).toEqual({ counts: true, says })
    await hit('split', `${SITE}/about`, GOOGLE)
    expect(await worker.count('robot', '/about')).toBe(1)
  })

  it('without a page leaves out origin and key, as for downloads', async () => {
    expect(await check('page')).toEqual({ counts: true, says: ['Yes, it counts.'] })
    const says = ['Yes, it counts.', 'Each visitor counts once in 30 seconds (COUNTERS.file.dedupe_seconds).']
    expect(await check('file', 'https://elsewhere.example/')).toEqual({ counts: true, says })
    // It is a download: programs that fetch files count.
    expect(await check('file', '', { 'User-Agent': 'curl/8.5.0' })).toMatchObject({ counts: true })
    const note = 'Not every key counts (COUNTERS.old.new_keys).'
    expect(await check('old')).toEqual({ counts: true, says: ['Yes, it counts.', note] })
    expect(await check('page', '', MARK)).toMatchObject({ counts: false })
  })

  it.each(['http://localhost:3000/', 'http://127.0.0.1:4000/a', 'http://[::1]/'])(
    'says that the script of another machine needs data-local on this one: %s',
    async (page) => {
      const says = [
        'No, it does not count.',
        'On localhost, the script of a deployed Worker counts nothing.',
        'Add the attribute data-local to its tag.',
      ]
      expect(await check('local', page)).toEqual({ counts: false, says })
      // Before the origin is listed, that is what is missing.
      expect((await check('page', page)).says[1]).toContain('is not in SITES or the type’s allowed_origins')
    },
  )

  it('accepts an address without its scheme, and says what anything else lacks', async () => {
    expect(await check('page', 'example.com/about')).toMatchObject({ counts: true })
    expect(await check('page', 'EXAMPLE.com')).toMatchObject({ counts: true })
    for (const wrong of ['/about', 'not an address', 'ftp://example.com/', 'https://']) {
      expect((await check('page', wrong)).says[1], wrong).toContain('https://example.com/about')
    }
  })

  it('says that a type is unknown, and refuses parameters that it does not know', async () => {
    expect(await check('pages', SITE)).toEqual({
      counts: false,
      says: ['No, it does not count.', HIT_REASONS.type.cause, HIT_REASONS.type.advice],
    })
    for (const query of ['', '?type=page&automated=2', '?type=page&type=page', '?type=page&origin=a', '?type=%ff']) {
      expect((await worker.fetch(`/check${query}`, { method: 'POST' })).status, query).toBeOneOf([400, 422])
    }
  })

  it('says that a program controls the browser', async () => {
    const response = await worker.fetch('/check?type=page&automated=1', { method: 'POST', headers: BROWSER })
    expect(await response.json()).toMatchObject({
      counts: false,
      says: [expect.any(String), HIT_REASONS.automated.cause, expect.any(String)],
    })
  })

  it('uses up the rate limit of hits, and says when it is used up', () =>
    inOnePeriod(async () => {
      const on = isolate({ VISITOR_LIMIT: LIMIT_OF_FIVE })
      const from = { 'CF-Connecting-IP': `${unusedIpv4Network()}.1` }
      for (let i = 0; i < 5; i++) expect(await check('page', SITE, from, on)).toMatchObject({ counts: true })
      expect(await check('page', SITE, from, on)).toMatchObject({
        counts: false,
        says: [expect.any(String), HIT_REASONS.rate.cause, expect.any(String)],
      })
      expect(await hit('page', `${SITE}/`, from, on)).toBe('ignored; reason=rate')
    }))

  it('says that the database is unavailable, that it lacks tables, or that hits wait in the queue', async () => {
    const away = 'http://user:password@127.0.0.1:9'
    const dead = isolate({ DATABASE_URL: away })
    const lines = await logged(async () => {
      expect((await check('page', SITE, {}, dead)).says[1]).toBe('The database does not respond.')
    })
    expect(lines).toEqual([expect.objectContaining({ event: 'database_unavailable' })])
    const empty = isolate({ DATABASE_URL: (await emptyDatabase()).url })
    await logged(async () => expect((await check('page', SITE, {}, empty)).says[1]).toContain('Make the tables'))
    const queued = isolate({ DATABASE_URL: away, BATCHES: { send: async () => {}, sendBatch: async () => {} } })
    const says = ['Yes, but later: the database is unavailable, so hits wait in the queue.']
    expect(await check('page', SITE, {}, queued)).toEqual({ counts: true, says })
  })
})

describe('The page /check', () => {
  it('is public, shows the values of its query as text, and lists no types', async () => {
    const query = new URLSearchParams({ type: 'shy', page: '"><script>alert(1)</script>' })
    const response = await worker.fetch(`/check?${query}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Security-Policy')).toMatch(/^default-src 'none'; script-src 'self'/)
    const page = await response.text()
    expect(page).toContain('value="shy"')
    expect(await (await isolate({ SITE_NAME: 'example.com' }).fetch('/check')).text()).toContain(
      ' · example.com</title>',
    )
    expect(page).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"')
    expect(page.match(/<script/g)).toHaveLength(1)
    expect(await (await worker.fetch('/check')).text()).not.toMatch(/shy|blog|split/)
  })
})
