import { createExecutionContext } from 'cloudflare:test'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { bindCounter } from '../../../src/bound-counter.ts'
import { ROLL_UP_CRON } from '../../../src/config/crons.ts'
import { freshDatabase, type TestDatabase } from '../../harness/database.ts'
import { parseSvg } from '../../harness/svg.ts'
import { TestWorker } from '../../harness/worker.ts'

const COUNTERS = {
  download: { record_type: 1, public: true, totals: ['app-', 'Été/'] },
  lower: { record_type: 2, public: true, same_key: ['letter_case'], totals: ['app-'] },
  secret: { record_type: 3 },
}

let db: TestDatabase
let worker: TestWorker
beforeAll(async () => {
  // No hour or day ends between two tests.
  vi.useFakeTimers({ toFake: ['Date'] })
  db = await freshDatabase()
  worker = new TestWorker(db.url, { COUNTERS })
  const { app_, other } = { app_: 'download/app-1.0.tgz', other: 'download/other' }
  await worker.api('POST', `/v1/counters/${app_}`, { by: 10 })
  // The budget of a run does not suffice for three prefixes.
  for (let run = 0; run < 3; run++) await worker.cron(ROLL_UP_CRON)
  await worker.api('POST', `/v1/counters/${app_}`, { by: 5 })
  await worker.api('POST', `/v1/counters/${other}`, { by: 200 })
  await worker.api('POST', '/v1/counters/download/%C3%89t%C3%A9%2F1', { by: 3 })
  await worker.api('POST', '/v1/counters/lower/App-1', { by: 4 })
})
afterAll(() => {
  vi.useRealTimers()
})

const total = async (path: string, headers = {}) => {
  const response = await worker.fetch(`/v1/types/${path}`, { headers })
  return [response.status, await response.json<Record<string, unknown>>()] as const
}

describe('GET /v1/types/:type', () => {
  it('adds up all counters of a type, exactly', async () => {
    expect(await total('download')).toEqual([
      200,
      {
        type: 'download',
        prefix: null,
        count: 218,
        total: 10,
        pending: 208,
        consistency: 'exact',
        rolledUpAt: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ])
  })

  it('adds up the counters whose keys begin with a declared prefix', async () => {
    expect(await total('download?prefix=app-')).toMatchObject([
      200,
      { prefix: 'app-', count: 15, total: 10, pending: 5 },
    ])
    expect(await total('download?prefix=%C3%89t%C3%A9/')).toMatchObject([200, { count: 3, consistency: 'exact' }])
    expect(await total('lower?prefix=APP-')).toMatchObject([200, { prefix: 'app-', count: 4 }])
  })

  it('answers as of the last roll-up if asked to, and may then be cached', async () => {
    const response = await worker.fetch('/v1/types/download?prefix=app-&consistency=rolled')
    expect(await response.json()).toMatchObject({ count: 10, total: 10, pending: null, consistency: 'rolled' })
    expect(response.headers.get('Cache-Control')).toMatch(/^public, max-age=([12]?\d|30)$/)
  })

  it('takes an empty prefix for none, as the script sends it', async () => {
    expect(await total('download?prefix=')).toEqual(await total('download'))
  })

  it('refuses a prefix that is not declared, and names the setting', async () => {
    const errors = [{ field: 'prefix', message: 'is not declared: add it to totals in [vars.COUNTERS.download]' }]
    for (const path of ['download?prefix=other', 'download/history?prefix=ap']) {
      expect(await total(path)).toMatchObject([422, { code: 'invalid_request', errors }])
    }
  })

  it('needs the token for types that are not public, and lets every site read the others', async () => {
    expect(await total('secret')).toMatchObject([401, { code: 'unauthorized' }])
    expect(await (await worker.api('GET', '/v1/types/secret')).json()).toMatchObject({ count: 0 })
    const response = await worker.fetch('/v1/types/download', { headers: { Origin: 'https://example.com' } })
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect(response.headers.get('Cache-Control')).toBe('public, no-cache')
    const tag = response.headers.get('ETag')!
    expect((await worker.fetch('/v1/types/download', { headers: { 'If-None-Match': tag } })).status).toBe(304)
  })

  it('says that a prefix is not ready until the roll-up has added what was there before', async () => {
    const later = new TestWorker(db.url, { COUNTERS: { download: { ...COUNTERS.download, totals: ['o'] } } })
    const early = await later.fetch('/v1/types/download?prefix=o')
    expect([early.status, early.headers.get('Retry-After')]).toEqual([503, '60'])
    expect(await early.json()).toMatchObject({ code: 'totals_not_ready' })
    expect((await later.fetch('/v1/types/download/history?prefix=o')).status).toBe(503)
    expect((await later.fetch('/badge/download.svg?prefix=o')).status).toBe(503)
    await later.cron(ROLL_UP_CRON)
    const ready = await later.fetch('/v1/types/download?prefix=o')
    expect(await ready.json()).toMatchObject({ count: 200, total: 200, pending: 0 })
  })

  it('has the history of a prefix', async () => {
    const points = async (path: string) => {
      const [, answer] = await total(path)
      return (answer.points as { count: number }[]).reduce((sum, { count }) => sum + count, 0)
    }
    for (const by of ['hour', 'day', 'month']) {
      expect([by, await points(`download/history?by=${by}&prefix=app-`)]).toEqual([by, 15])
      expect([by, await points(`download/history?by=${by}&tz=Asia/Kathmandu`)]).toEqual([by, 218])
    }
  })

  it('can be called without HTTP', async () => {
    const counter = bindCounter(worker.env, createExecutionContext())
    expect(await counter.total('download', { prefix: 'app-' })).toMatchObject({ ok: true, count: 15n })
    expect(await counter.total('download', { consistency: 'rolled' })).toMatchObject({ ok: true, pending: null })
    expect(await counter.total('download', { prefix: 'x' })).toMatchObject({ ok: false, code: 'invalid_request' })
  })
})

describe('The badge of a total', () => {
  const said = async (path: string) => {
    const response = await worker.fetch(`/badge/${path}`)
    expect(response.headers.get('Content-Type')).toBe('image/svg+xml; charset=utf-8')
    return [response.status, parseSvg(await response.text())[0]!.attributes['aria-label']]
  }

  it('shows it for all time and for periods', async () => {
    expect(await said('download.svg')).toEqual([200, 'download: 218'])
    for (const period of ['all', 'day', 'week', 'month']) {
      expect(await said(`download.svg?prefix=app-&period=${period}&label=all`)).toEqual([200, 'all: 15'])
    }
    const json = await worker.fetch('/badge/download.json?prefix=app-')
    expect(await json.json()).toMatchObject({ label: 'download', message: '15', count: 15 })
    expect(json.headers.get('Access-Control-Allow-Origin')).toBe('*')
  })

  it('says what is wrong', async () => {
    expect(await said('download.svg?prefix=%3Cscript%3E')).toEqual([422, 'counter: prefix is not declared'])
    expect(await said('secret.svg')).toEqual([404, 'counter: not found'])
    expect(await said('nothing.svg')).toEqual([404, 'counter: not found'])
    expect(await said('download/app-1.0.tgz.svg?prefix=app-')).toEqual([422, 'counter: unknown parameter'])
    expect((await worker.fetch('/badge/download')).status).toBe(404)
    expect((await worker.fetch('/badge/download.svg/')).status).toBe(404)
  })
})
