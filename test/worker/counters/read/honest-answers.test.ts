import { createExecutionContext } from 'cloudflare:test'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { bindCounter } from '../../../../src/bound-counter.ts'
import { ROLL_UP_CRON } from '../../../../src/config/config.ts'
import { MAX_PENDING, MAX_PUBLIC_PENDING } from '../../../../src/counters/counters-sql.ts'
import { hash64 } from '../../../../src/counters/ids.ts'
import { freshDatabase } from '../../../harness/database.ts'
import { sessionCookie } from '../../../harness/sign-in.ts'
import { stopClockOfFile } from '../../../harness/stopped-clock.ts'
import { sharedWorker, TestWorker, TOKEN } from '../../../harness/worker.ts'
import { numbersOn } from '../../shown-page.ts'

const COUNTERS = {
  page: { record_type: 1, public: true, allowed_origins: ['*'] },
  download: { record_type: 2, public: true, prefixes: ['app-'] },
}

stopClockOfFile()
const { db, worker } = sharedWorker({ COUNTERS })

const publicly = async (path: string) => (await worker.fetch(path)).json<Record<string, unknown>>()
const asOwner = async (path: string) => (await worker.api('GET', path)).json<Record<string, unknown>>()

describe('Readings that fail or take too long', () => {
  it.each([
    '/v1/counters/page/a',
    '/v1/counters/page/a/history',
    '/v1/search/page',
    '/v1/types/page',
    '/v1/top/page',
    '/counter?type=page&key=a&csv=chart',
  ])('keep no increment, change or check of the health from being served: %s', async (path) => {
    const slow = await freshDatabase()
    const on = new TestWorker(slow.url, { COUNTERS })
    await on.hit('page', 'a')
    await slow.behave({ faults: [{ action: 'html', times: 10_000 }] })
    const headers = { Authorization: `Bearer ${TOKEN}`, Cookie: await sessionCookie(on) }
    for (let i = 0; i < 20; i++) expect((await on.fetch(path, { headers })).status).toBe(503)
    await slow.behave({ faults: [] })
    const hit = await on.hit('page', 'b')
    expect([hit.headers.get('X-Hit'), (await on.fetch('/healthz')).status]).toEqual(['counted', 200])
    expect((await on.api('PUT', '/v1/counters/page/c', { count: 5 })).status).toBe(200)
  })
})

describe('An answer that is kept for callers without a token', () => {
  /** The count, or the sum of what is listed, and what the answer says of itself. */
  const said = (answer: Record<string, unknown>) => {
    const { points, counters = points, count, consistency, asOf } = answer
    const listed = counters as { count: number }[] | undefined
    return [count ?? listed?.reduce((sum, { count }) => sum + count, 0), consistency, asOf]
  }
  const beginning = new Date().toISOString()
  beforeAll(async () => {
    await worker.add('download', { 'app-1': 10 })
    await worker.cron(ROLL_UP_CRON)
  })

  it.each([
    ['the total of a prefix', '/v1/types/download?prefix=app-', 'exact', 15],
    ['the same, rolled', '/v1/types/download?prefix=app-&consistency=rolled', 'rolled', 10],
    ['a long history', '/v1/counters/download/app-1/history?by=hour&from=DAY', 'exact', 15],
    ['the history of a prefix', '/v1/types/download/history?prefix=app-', 'rolled', 10],
    ['a top list of a prefix', '/v1/top/download?prefix=app-', 'rolled', 10],
  ])('says so, and when it was read: %s', async (_, given, read, now) => {
    vi.setSystemTime(Date.now() + 60_000)
    const asOf = new Date().toISOString()
    expect(asOf > beginning).toBe(true)
    const path = given.replace('DAY', new Date(Date.now() - 60 * 86_400_000).toISOString().slice(0, 10))
    const before = said(await publicly(path))
    expect(before).toEqual([expect.any(Number), read, undefined])
    vi.setSystemTime(Date.now() + 3_000)
    if (now === 15 && before[0] === 10) await worker.add('download', { 'app-1': 5 })
    expect(said(await publicly(path))).toEqual([before[0], 'kept', asOf])
    expect(said(await asOwner(path))).toEqual([now, read, undefined])
    vi.setSystemTime(Date.now() + (path.includes('/top/') ? 60_000 : 10_000))
    expect(said(await publicly(path))).toEqual([now, read, undefined])
  })
})

describe('A counter with more pending slots than are added up', () => {
  /** Adds slots with 1 each to a counter whose total is 5. */
  const fill = async (key: string, slots: number) => {
    const recordId = await hash64(key)
    await db.insert('names', `(1, ${recordId}, '${key}')`)
    await db.insert('totals', `(1, ${recordId}, 5, 1, NULL)`)
    for (let first = 0; first < slots; first += 10_000) {
      const rows = Array.from(
        { length: Math.min(10_000, slots - first) },
        (_, i) => `(1, ${recordId}, ${first + i}, 1, 1, 1)`,
      )
      await db.insert('slotted_counters', rows)
    }
  }
  beforeAll(async () => {
    await fill('full', MAX_PENDING)
    await fill('flooded', MAX_PENDING + 1)
    await fill('popular', MAX_PUBLIC_PENDING + 1)
  }, 120_000)

  const exact = { count: 5 + MAX_PENDING, consistency: 'exact' }
  const rolled = { count: 5, consistency: 'rolled' }
  const ROLLED = { ...rolled, total: 5, pending: null }

  it('is read as of the last roll-up by its owner too, who is told', async () => {
    expect(await asOwner('/v1/counters/page/full')).toMatchObject({ ...exact, pending: MAX_PENDING })
    expect(await asOwner('/v1/counters/page/flooded')).toMatchObject(ROLLED)
    const list = { counters: [ROLLED, { ...exact, pending: MAX_PENDING }, { count: 0, pending: 0 }] }
    expect(await asOwner('/v1/counters/page?key=flooded&key=full&key=never')).toMatchObject(list)
    expect((await asOwner('/v1/search/page?prefix=f')).counters).toEqual([
      { key: 'flooded', ...rolled },
      { key: 'full', ...exact },
    ])
    for (const [key, consistency, count] of [
      ['full', 'exact', MAX_PENDING],
      ['flooded', 'rolled', 0],
    ] as const) {
      const history = await asOwner(`/v1/counters/page/${key}/history`)
      expect([history.consistency, (history.points as { count: number }[]).at(-1)!.count]).toEqual([consistency, count])
    }
    const headers = { Cookie: await sessionCookie(worker) }
    const { tiles, note } = await numbersOn(
      await (await worker.fetch('/counter?type=page&key=flooded', { headers })).text(),
    )
    expect([tiles.all!.count, note]).toEqual([5, expect.stringMatching(/^As of the last roll-up/)])
    const counter = bindCounter(worker.env, createExecutionContext())
    expect(await counter.read('page', 'flooded')).toMatchObject({ count: 5n, pending: null, consistency: 'rolled' })
  })

  it('has an unknown new count after an increment', async () => {
    const counted = await worker.api('POST', '/v1/counters/page/flooded?return=count')
    expect(await counted.json()).toMatchObject({ added: 1, count: null })
  })

  it('has no pending count, rather than 0, for the public and in a rolled reading', async () => {
    expect(await publicly('/v1/counters/page/popular')).toMatchObject(ROLLED)
    expect(await publicly('/v1/counters/page/popular/history')).toMatchObject({ consistency: 'rolled' })
    expect(await publicly('/v1/types/page')).toMatchObject({ pending: null, consistency: 'rolled' })
    expect(await asOwner('/v1/counters/page/popular')).toMatchObject({ pending: MAX_PUBLIC_PENDING + 1 })
    expect(await asOwner('/v1/counters/page/popular?consistency=rolled')).toMatchObject(ROLLED)
  })
})
