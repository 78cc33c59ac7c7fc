import { createExecutionContext } from 'cloudflare:test'
import { beforeAll, describe, expect, it } from 'vitest'
import { bindCounter } from '../../../src/bound-counter.ts'
import { ROLL_UP_CRON } from '../../../src/config/config.ts'
import { expectProblem } from '../../harness/expect-problem.ts'
import { stopClockOfFile } from '../../harness/stopped-clock.ts'
import { parseSvg } from '../../harness/svg.ts'
import { sharedWorker } from '../../harness/worker.ts'

const COUNTERS = {
  download: { record_type: 1, public: true, prefixes: ['app-', 'Été/'] },
  lower: { record_type: 2, public: true, same_key: ['letter_case'], prefixes: ['app-'] },
  secret: { record_type: 3 },
}

stopClockOfFile()
const { db, worker } = sharedWorker({ COUNTERS })
beforeAll(async () => {
  await worker.add('download', { 'app-1.0.tgz': 10 })
  await worker.cron(ROLL_UP_CRON)
  await worker.add('download', { 'app-1.0.tgz': 5, other: 200, 'Été/1': 3 })
  await worker.add('lower', { 'App-1': 4 })
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

  it('adds up the counters whose keys begin with a listed prefix', async () => {
    const app = { prefix: 'app-', count: 15, total: 10, pending: 5 }
    expect(await total('download?prefix=app-')).toMatchObject([200, app])
    expect(await total('download?prefix=%C3%89t%C3%A9/')).toMatchObject([200, { count: 3, consistency: 'exact' }])
    expect(await total('lower?prefix=APP-')).toMatchObject([200, { prefix: 'app-', count: 4 }])
  })

  it('answers as of the last roll-up if asked to, and may then be cached', async () => {
    const response = await worker.fetch('/v1/types/download?prefix=app-&consistency=rolled')
    expect(await response.json()).toMatchObject({ count: 10, total: 10, pending: null, consistency: 'rolled' })
    expect(response.headers.get('Cache-Control')).toMatch(/^public, max-age=([12]?\d|30)$/)
  })

  it('treats an empty prefix, which the script sends, as none', async () => {
    expect(await total('download?prefix=')).toEqual(await total('download'))
  })

  it('adds up those of any prefix with a token, and without one names the setting', async () => {
    const message = 'is not public: send a token, or add it to prefixes in [vars.COUNTERS.download]'
    for (const path of ['download?prefix=o', 'download/history?prefix=ap']) {
      const errors = [{ field: 'prefix', message }]
      expect(await total(path)).toMatchObject([422, { code: 'invalid_request', errors }])
    }
    const other = await worker.api('GET', '/v1/types/download?prefix=o')
    expect(other.headers.get('Cache-Control')).toBe('private, no-cache')
    expect(await other.json()).toMatchObject({ prefix: 'o', count: 200, total: 0, pending: 200 })
    expect((await worker.api('GET', '/v1/types/download/history?prefix=ap')).status).toBe(200)
    const wrong = { Authorization: 'Bearer wrong' }
    expect((await total('download?prefix=o', wrong))[0]).toBe(422)
  })

  it('refuses a prefix with which more than 10,000 keys begin, and says what to do', async () => {
    const rows = Array.from({ length: 10_001 }, (_, i) => `(3, ${i}, 'many-${i}')`)
    await db.arrange(`INSERT INTO counters (record_type, record_id, name) VALUES ${rows.join()}`)
    const refused = await worker.api('GET', '/v1/types/secret?prefix=many-')
    const detail = expect.stringMatching(/longer prefix.*separate type/)
    await expectProblem(refused, 422, 'too_many_keys', { detail })
    expect(await (await worker.api('GET', '/v1/types/secret?prefix=many-1')).json()).toMatchObject({ count: 0 })
    expect((await worker.api('GET', '/v1/types/secret/history?prefix=many-&by=month')).status).toBe(422)
    const long = await worker.api('GET', '/v1/types/secret/history?prefix=many-1&from=2024-01-01&to=2026-01-01')
    expect(await long.json()).toMatchObject({ code: 'too_many_keys' })
    const months = '/v1/types/secret/history?prefix=many-1&from=2024-01-01&to=2026-01-01&by=month'
    expect((await worker.api('GET', months)).status).toBe(200)
  })

  it('has the history of a prefix', async () => {
    await worker.cron(ROLL_UP_CRON)
    const points = async (path: string) => {
      const [, answer] = await total(path)
      return (answer.points as { count: number }[]).reduce((sum, { count }) => sum + count, 0)
    }
    for (const by of ['hour', 'day', 'week', 'month']) {
      expect([by, await points(`download/history?by=${by}&prefix=app-`)]).toEqual([by, 15])
      expect([by, await points(`download/history?by=${by}&tz=Asia/Kathmandu`)]).toEqual([by, 218])
    }
  })

  it('can be called without HTTP', async () => {
    const counter = bindCounter(worker.env, createExecutionContext())
    expect(await counter.total('download', { prefix: 'app-' })).toMatchObject({ ok: true, count: 15n })
    expect(await counter.total('download', { consistency: 'rolled' })).toMatchObject({ ok: true, pending: null })
    expect(await counter.total('download', { prefix: 'o' })).toMatchObject({ ok: true, count: 200n })
  })
})

describe('The badge of a total', () => {
  const said = async (path: string) => {
    const response = await worker.fetch(`/badge/${path}`)
    expect(response.headers.get('Content-Type')).toBe('image/svg+xml; charset=utf-8')
    return [response.status, parseSvg(await response.text())[0]!.attributes['aria-label']]
  }

  it('shows it for all time and for periods', async () => {
    expect(await said('download.svg')).toEqual([200, 'counts: 218'])
    for (const period of ['all', 'day', 'week', 'month']) {
      const suffix = period === 'all' ? '' : `/${period}`
      expect(await said(`download.svg?prefix=app-&period=${period}&label=all`)).toEqual([200, `all: 15${suffix}`])
    }
    const json = await worker.fetch('/badge/download.json?prefix=app-')
    expect(await json.json()).toMatchObject({ label: 'counts', message: '15', count: 15 })
    expect(json.headers.get('Access-Control-Allow-Origin')).toBe('*')
  })

  it('says what is wrong', async () => {
    expect(await said('download.svg?prefix=%3Cscript%3E')).toEqual([422, 'counter: prefix is not public'])
    expect(await said('secret.svg')).toEqual([404, 'counter: The counter type is not configured'])
    expect(await said('nothing.svg')).toEqual([404, 'counter: The counter type is not configured'])
    expect((await worker.fetch('/badge/download')).status).toBe(404)
    expect((await worker.fetch('/badge/download.svg/')).status).toBe(404)
  })
})
