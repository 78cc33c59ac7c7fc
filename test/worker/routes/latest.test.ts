import { beforeEach, describe, expect, it, vi } from 'vitest'
import { addressOfKey } from '../../../src/counters/keys/key-address.ts'
import { writeLatestFile } from '../../../src/counters/latest-files.ts'
import { expectProblem } from '../../harness/expect-problem.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'
import { emptiedDatabase } from '../emptied-tables.ts'
import { bePatient } from '../patience.ts'

const BASE = 'https://files.example.com/dist/'
const COUNTERS = {
  download: { record_type: 1, redirect_to: BASE, dedupe_seconds: 0, count_bots: true },
  page_view: { record_type: 2 },
}

const db = emptiedDatabase()
let worker: TestWorker
beforeEach(() => {
  worker = new TestWorker(db.url, { COUNTERS })
})

const name = (key: string, file: string, type = 'download') =>
  worker.api('PUT', `/v1/latest/${type}/${encodeURIComponent(key)}`, { file })
const downloaded = async (path: string, on = worker) => {
  const { status, headers } = await on.fetch(`/d/download/${path}`, { headers: { 'CF-Connecting-IP': '203.0.113.7' } })
  return [status, headers.get('Location'), headers.get('X-Hit')]
}

describe('The latest file', () => {
  beforeEach(() => bePatient())

  it('is what its name leads to, and counts', async () => {
    for (const version of ['v1.2.0', 'v1.3.0']) {
      const named = await name('app-latest.tgz', `${version}/app.tgz`)
      expect(await named.json()).toEqual({ type: 'download', key: 'app-latest.tgz', file: `${version}/app.tgz` })
      // Another isolate knows it at once.
      const other = new TestWorker(db.url, { COUNTERS })
      expect(await downloaded('app-latest.tgz', other)).toEqual([302, `${BASE}${version}/app.tgz`, 'counted'])
    }
    expect(await worker.count('download', 'v1.2.0/app.tgz')).toBe(1)
    expect(await worker.count('download', 'v1.3.0/app.tgz')).toBe(1)
    expect(await worker.count('download', 'app-latest.tgz')).toBe(0)
  })

  it('is known in an isolate for 30 seconds', async () => {
    stopClock()
    await name('latest', 'one.zip')
    expect(await downloaded('latest')).toEqual([302, `${BASE}one.zip`, 'counted'])
    await name('latest', 'two.zip')
    vi.setSystemTime(Date.now() + 29_000)
    expect(await downloaded('latest')).toEqual([302, `${BASE}one.zip`, 'counted'])
    vi.setSystemTime(Date.now() + 1_000)
    expect(await downloaded('latest')).toEqual([302, `${BASE}two.zip`, 'counted'])
  })

  it('is the key itself if it names no other file, or names itself', async () => {
    expect(await downloaded('notes-latest.txt')).toEqual([302, `${BASE}notes-latest.txt`, 'counted'])
    await name('notes-latest.txt', 'v1/notes.txt')
    expect((await name('notes-latest.txt', 'notes-latest.txt')).status).toBe(200)
    const other = new TestWorker(db.url, { COUNTERS })
    expect(await downloaded('notes-latest.txt', other)).toEqual([302, `${BASE}notes-latest.txt`, 'counted'])
  })

  it('is not guessed while the database is unavailable; other files are redirected', async () => {
    await name('app-latest.tgz', 'v1/app.tgz')
    await db.behave({ faults: [{ action: 'error', errno: 2003, times: 1_000 }] })
    const response = await worker.fetch('/d/download/app-latest.tgz')
    expect([response.headers.get('Location'), response.headers.get('Retry-After')]).toEqual([null, '5'])
    await expectProblem(response, 503, 'database_unavailable')
    // "latest" is only a part of a word.
    for (const file of ['v1/app.tgz', 'platest.zip', 'latests.zip']) {
      expect((await downloaded(file)).slice(0, 2)).toEqual([302, BASE + file])
    }
    await db.behave()
  })

  it('stays the newer one if a request arrives late', async () => {
    const counter = await addressOfKey({ recordType: 1, sameKey: [] }, 'app-latest.tgz')
    await writeLatestFile(db, counter, 'new.tgz', new Date('2026-11-20T10:00:00.001Z'))
    await writeLatestFile(db, counter, 'old.tgz', new Date('2026-11-20T10:00:00.000Z'))
    expect(await downloaded('app-latest.tgz')).toEqual([302, `${BASE}new.tgz`, 'counted'])
  })

  it.each([
    ['app.tgz', 'v1/app.tgz', 'download', 'key', 'must contain the word "latest"'],
    ['latest', 'other-latest', 'download', 'file', 'must be a file, not another name'],
    ['latest', '../x', 'download', 'file', 'must be the path of a download'],
    ['latest', '', 'download', 'file', 'must be the path of a download'],
    ['latest', 'x'.repeat(513), 'download', 'file', 'must have at most 512 bytes'],
    ['latest', 'x', 'page_view', 'type', 'has no downloads'],
  ])('cannot be %s for %s of %s', async (key, file, type, field, message) => {
    const response = await name(key, file, type)
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { code: 'invalid_request', errors: [{ field, message: expect.stringContaining(message) }] },
    ])
  })

  it('counts towards the rate limit of readings without a token', async () => {
    let left = 60
    const READER_LIMIT = { limit: async () => ({ success: left-- > 0 }) }
    const limited = new TestWorker(db.url, { COUNTERS, READER_LIMIT })
    expect((await downloaded('latest-0', limited))[0]).toBe(302)
    left = 0
    expect((await downloaded('latest-1', limited))[0]).toBe(429)
    expect((await downloaded('v1/app.tgz', limited))[0]).toBe(302)
  })

  it('is not looked up for a type with a mistake in the settings, whose downloads are redirected as they are', async () => {
    const wrong = { ...COUNTERS, download: { ...COUNTERS.download, dedupe_seconds: -1 } }
    const stopped = new TestWorker(db.url, { COUNTERS: wrong })
    expect((await downloaded('latest/app.tgz', stopped)).slice(0, 2)).toEqual([302, `${BASE}latest/app.tgz`])
  })

  it('is set only by tokens with the scope manage', async () => {
    const body = JSON.stringify({ file: 'evil.tgz' })
    const headers = { 'Content-Type': 'application/json' }
    const response = await worker.fetch('/v1/latest/download/app-latest.tgz', { method: 'PUT', headers, body })
    expect(response.status).toBe(401)
    expect(await downloaded('app-latest.tgz')).toEqual([302, `${BASE}app-latest.tgz`, 'counted'])
  })
})
