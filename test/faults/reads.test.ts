import { beforeEach, describe, expect, it } from 'vitest'
import { incrementOf, send, TOKEN } from './client.ts'
import { type FaultyDatabase, freshDatabase } from './database.ts'
import { Isolate } from './isolate.ts'

const READ = 'SUM\\(total\\)'
const headers = { Authorization: `Bearer ${TOKEN}` }

/** Reads in one isolate of the built Worker, where one request may not touch what belongs to another. */
describe('reads that share queries', () => {
  let db: FaultyDatabase
  let isolate: Isolate

  beforeEach(async () => {
    db = await freshDatabase()
    const [first] = await Isolate.start(1, db.url)
    isolate = first!
    for (const [key, by] of [
      ['/a', 3],
      ['/b', 5],
    ] as const) {
      expect(await send(isolate.url, incrementOf({ type: 'page_view', key, by }))).toBe('counted')
    }
  })

  const ask = (path: string, init: RequestInit = {}) => fetch(`${isolate.url}${path}`, { headers, ...init })
  const countOf = async (key: string) => {
    const response = await ask(`/v1/counters/page_view/${encodeURIComponent(key)}`)
    const { count } = (await response.json()) as { count: number }
    return { status: response.status, count }
  }
  const nothingLeft = () => isolate.until(({ reads: { waiting, queries } }) => waiting === 0 && queries === 0)

  it('are all answered, 500 at a time, lists and badges among them', async () => {
    await db.behave({ latencyMs: 20 })
    const list = async () => (await ask('/v1/counters/page_view?key=/a&key=/none&key=/b')).json()
    const badge = async () => (await ask('/badge/page_view/%2Fa.json')).json()
    for (let round = 0; round < 4; round++) {
      const [counts, lists, badges] = await Promise.all([
        Promise.all(Array.from({ length: 420 }, (_, i) => countOf(i % 2 ? '/a' : '/b'))),
        Promise.all(Array.from({ length: 40 }, list)),
        Promise.all(Array.from({ length: 40 }, badge)),
      ])
      for (const [i, fate] of counts.entries()) expect(fate).toEqual({ status: 200, count: i % 2 ? 3 : 5 })
      for (const { counters } of lists as { counters: { count: number }[] }[]) {
        expect(counters.map(({ count }) => count)).toEqual([3, 0, 5])
      }
      for (const { count } of badges as { count: number }[]) expect(count).toBe(3)
    }
    await nothingLeft()
  })

  it('are answered when the client hangs up whose request sent the query', async () => {
    await db.behave({ latencyMs: 1_500 })
    const sender = new AbortController()
    const gone = ask('/v1/counters/page_view/%2Fa', { signal: sender.signal }).then(String, () => 'gone')
    await isolate.until(({ reads }) => reads.queries === 1)
    sender.abort()
    expect(await gone).toBe('gone')
    await nothingLeft()
    expect(await countOf('/a')).toEqual({ status: 200, count: 3 })
  })

  it.each(['hang-request', 'hang-answer'] as const)(
    'are answered when some that sent queries end with all of their work, after %s',
    async (action) => {
      // Whoever sends one of the first six either dies, or learns after its deadline that it is to send it again.
      await db.behave({ latencyMs: 1_000, faults: [{ action, match: READ, times: 6 }] })
      const leaving = new AbortController()
      const mortal = { signal: leaving.signal, headers: { ...headers, 'Test-Mortal': '1' } }
      const leave = (key: string) => ask(`/v1/counters/page_view/${key}`, mortal).then(String, () => 'gone')
      const gone = [leave('%2Fa')]
      await isolate.until(({ reads }) => reads.queries === 1)
      const staying: Promise<{ status: number; count: number }>[] = []
      for (let i = 0; i < 60; i++) {
        if (i % 3 === 0) gone.push(leave(i % 2 ? '%2Fa' : '%2Fb'))
        else staying.push(countOf(i % 2 ? '/a' : '/b'))
      }
      await isolate.until(({ reads }) => reads.waiting === 61)
      leaving.abort()
      expect(new Set(await Promise.all(gone))).toEqual(new Set(['gone']))
      const answers = await Promise.all(staying)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(40)
      expect(new Set(answers.map(({ count }) => count))).toEqual(new Set([3, 5]))
      expect(await db.strikesLeft()).toBe(0)
    },
  )

  it('that are all cut off leave nobody behind who has to wait', async () => {
    await db.behave({ latencyMs: 300 })
    for (let round = 0; round < 10; round++) {
      const clients = new AbortController()
      const mortal = { signal: clients.signal, headers: { ...headers, 'Test-Mortal': '1' } }
      const cut = Array.from({ length: 30 }, (_, i) =>
        ask(`/v1/counters/page_view/%2F${i}`, mortal).then(String, () => 'gone'),
      )
      await isolate.until(({ reads }) => reads.waiting > 0)
      clients.abort()
      await Promise.all(cut)
      expect(await countOf('/b')).toEqual({ status: 200, count: 5 })
    }
  })
})
