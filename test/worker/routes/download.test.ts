import { beforeEach, describe, expect, it, vi } from 'vitest'
import { expectProblem } from '../../harness/expect-problem.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'
import { bePatient } from '../patience.ts'

const BASE = 'https://files.example.com/dist/'
const SETTINGS = {
  COUNTERS: {
    download: { record_type: 1, public: true, redirect_to: BASE },
    every: { record_type: 2, public: true, redirect_to: '/files/', dedupe_seconds: 0, count_bots: true },
    page_view: { record_type: 4, public: true, allowed_origins: ['*'] },
  },
}
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

const db = emptiedDatabase()
let worker: TestWorker
let visitors = 0
beforeEach(() => {
  // No window ends during a test.
  stopClock()
  worker = new TestWorker(db.url, SETTINGS)
})

/** Downloads as a new visitor, unless the headers name an address. */
async function download(path: string, headers: Record<string, string> = {}, method = 'GET', on = worker) {
  const response = await on.fetch(`/d/${path}`, {
    method,
    headers: { 'User-Agent': BROWSER, 'CF-Connecting-IP': `203.0.113.${visitors++ % 250}`, ...headers },
  })
  await response.arrayBuffer()
  return {
    status: response.status,
    location: response.headers.get('Location'),
    said: response.headers.get('X-Hit'),
    caching: response.headers.get('Cache-Control'),
  }
}
/** All counts, by name. */
async function counted(): Promise<Record<string, string>> {
  const { rows } = await db.execute(
    `SELECT CAST(name AS CHAR) AS name, CAST(SUM(slotted_counters.count) AS CHAR) AS count FROM slotted_counters
     JOIN counters USING (record_type, record_id) GROUP BY record_type, record_id, name`,
  )
  return Object.fromEntries(rows.map(({ name, count }) => [name, count])) as Record<string, string>
}

describe('A download', () => {
  beforeEach(() => bePatient())

  it('is counted under its path, and redirected to the file', async () => {
    expect(await download('download/v1/app-1.0.tar.gz')).toEqual({
      status: 302,
      location: `${BASE}v1/app-1.0.tar.gz`,
      said: 'counted',
      caching: 'no-store',
    })
    expect(await counted()).toEqual({ 'v1/app-1.0.tar.gz': '1' })
  })

  it('counts under the same key with encoded slashes', async () => {
    for (const path of ['v1/a%20b.zip', 'v1%2Fa%20b.zip', 'v1%2fa b.zip']) {
      expect(await download(`download/${path}`)).toMatchObject({ location: `${BASE}v1/a%20b.zip`, said: 'counted' })
    }
    expect(await counted()).toEqual({ 'v1/a b.zip': '3' })
  })

  it('counts under one key with any session id and in any spelling of Unicode, and is redirected as it was written', async () => {
    for (const [path, location] of [
      ['v1/caf%C3%A9.zip;jsessionid=A1', 'v1/caf%C3%A9.zip'],
      ['v1%3BJSESSIONID%3DB2.n1/caf%C3%A9.zip', 'v1/caf%C3%A9.zip'],
      ['v1/cafe%CC%81.zip;sid=3', 'v1/cafe%CC%81.zip'],
    ]) {
      expect(await download(`download/${path}`)).toMatchObject({ location: `${BASE}${location}`, said: 'counted' })
    }
    expect(await counted()).toEqual({ 'v1/café.zip': '3' })
  })

  it('may be redirected to the same host', async () => {
    expect(await download('every/a.zip')).toMatchObject({ status: 302, location: '/files/a.zip', said: 'counted' })
  })

  it('ignores the query', async () => {
    expect(await download('download/a.zip?to=https://evil.example/')).toMatchObject({ location: `${BASE}a.zip` })
    expect(await counted()).toEqual({ 'a.zip': '1' })
  })

  it.each<[string, Record<string, string>, string]>([
    ['HEAD', {}, 'ignored; reason=head'],
    ['GET', { Range: 'bytes=1024-' }, 'ignored; reason=range'],
    ['GET', { Range: 'bytes=-5' }, 'ignored; reason=range'],
    ['GET', { Range: 'bytes=0-0' }, 'ignored; reason=range'],
    ['GET', { 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' }, 'ignored; reason=bot'],
    ['GET', { 'Sec-Purpose': 'prefetch;prerender' }, 'ignored; reason=prefetch'],
    ['GET', { 'X-Moz': 'prefetch' }, 'ignored; reason=prefetch'],
    ['GET', { Purpose: 'preview' }, 'ignored; reason=prefetch'],
    ...['image', 'script', 'style', 'font', 'iframe', 'object', 'audio', 'video', 'track', 'manifest'].map(
      (loaded): [string, Record<string, string>, string] => [
        'GET',
        { 'Sec-Fetch-Dest': loaded },
        'ignored; reason=embedded',
      ],
    ),
    ['GET', { 'Sec-Fetch-Dest': 'document' }, 'counted'],
    ['GET', { 'Sec-Fetch-Dest': 'empty' }, 'counted'],
    ['GET', { Range: 'bytes=0-1023' }, 'counted'],
    ['GET', { Range: 'nonsense' }, 'counted'],
    ['GET', { 'User-Agent': 'curl/8.5.0' }, 'counted'],
    ['GET', { 'User-Agent': 'Wget/1.21.3' }, 'counted'],
  ])('by %s with %j is redirected: %s', async (method, headers, said) => {
    expect(await download('download/a.zip', headers, method)).toMatchObject({
      status: 302,
      location: `${BASE}a.zip`,
      said,
    })
    expect(await counted()).toEqual(said === 'counted' ? { 'a.zip': '1' } : {})
  })

  it('counts a visitor once within 30 seconds, in any isolate', async () => {
    const visitor = { 'CF-Connecting-IP': '198.51.100.7' }
    const other = new TestWorker(db.url, SETTINGS)
    const said = []
    for (const on of [worker, worker, other]) said.push((await download('download/a.zip', visitor, 'GET', on)).said)
    // The other isolate does not know the visitor. The database does.
    expect(said).toEqual(['counted', 'ignored; reason=duplicate', 'counted'])
    expect(await counted()).toEqual({ 'a.zip': '1' })
    vi.setSystemTime(Date.now() + 30_000)
    expect((await download('download/a.zip', visitor)).said).toBe('counted')
    expect(await counted()).toEqual({ 'a.zip': '2' })
  })

  it('counts every time, bots included, if its type is configured so', async () => {
    const bot = { 'CF-Connecting-IP': '198.51.100.7', 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' }
    for (let i = 0; i < 3; i++) expect((await download('every/a.zip', bot)).said).toBe('counted')
    expect(await counted()).toEqual({ 'a.zip': '3' })
  })

  it.each([
    ['download//evil.example/a', 404, 'not_found'],
    ['download/%2F%2Fevil.example', 404, 'not_found'],
    ['download/a/%2e%2e%2f%2e%2e%2fb', 404, 'not_found'],
    ['download/..%5C..%5Cb', 404, 'not_found'],
    ['download/a%0d%0aSet-Cookie:%20x', 404, 'not_found'],
    ['download/a%00b', 404, 'not_found'],
    ['download/a//', 404, 'not_found'],
    ['download/', 404, 'not_found'],
    ['download/%', 400, 'malformed_key'],
    ['download/%ff', 400, 'malformed_key'],
    [`download/${'x'.repeat(513)}`, 422, 'invalid_request'],
    ['page_view/a', 404, 'not_found'],
    ['nothing/a', 404, 'unknown_type'],
    ['__proto__/a', 404, 'unknown_type'],
  ])('of /d/%s is refused without a redirect', async (path, status, code) => {
    const response = await worker.fetch(`/d/${path}`, { headers: { 'User-Agent': BROWSER } })
    const reason = expect.stringMatching(/^ignored; reason=/)
    expect([response.headers.get('Location'), response.headers.get('X-Hit')]).toEqual([null, reason])
    await expectProblem(response, status, code)
    expect(await counted()).toEqual({})
  })

  it('of this Worker itself is refused, because it would redirect endlessly', async () => {
    const origin = 'https://counter.test'
    const loop = new TestWorker(db.url, { COUNTERS: { a: { record_type: 1, redirect_to: `${origin}/d/a/` } } })
    await expectProblem(await loop.fetch('/d/a/x.zip'), 404, 'not_found')
    const other = await loop.fetchAt('https://other.test', '/d/a/x.zip')
    expect([other.status, other.headers.get('Location')]).toEqual([302, `${origin}/d/a/x.zip`])
  })

  it.each(['POST', 'PUT', 'DELETE'])('is not allowed by %s', async (method) => {
    expect((await worker.fetch('/d/download/a.zip', { method })).status).toBe(405)
  })
})

it('A download is redirected if counting fails, and does not wait for it long', async () => {
  await db.behave({ faults: [{ action: 'error', errno: 1146, times: 100 }] })
  expect(await download('download/a.zip')).toMatchObject({ status: 302, location: `${BASE}a.zip` })
  await db.behave({ faults: [{ action: 'hang-answer', match: 'INSERT INTO slotted' }] })
  expect(await download('download/b.zip')).toMatchObject({ status: 302, said: 'unknown' })
  await db.behave()
  // It was redirected before its outcome was known, and did count.
  expect(await worker.count('download', 'b.zip')).toBe(1)
})
