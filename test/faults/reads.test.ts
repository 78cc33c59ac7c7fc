import { type ClientRequest, request } from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import { incrementOf, send, TOKEN } from './client.ts'
import { type FaultyDatabase, freshDatabase } from './database.ts'
import { Isolate } from './isolate.ts'

const READ = 'SELECT COALESCE.MAX.count|SUM.total'
/** Queries of one isolate that are in flight at a time. */
const MOST_QUERIES = 6
/** Milliseconds after which a read counts as never answered: a read that waits for others gives up long before. */
const PATIENCE_MS = 30_000
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

  const ask = (path: string) => fetch(`${isolate.url}${path}`, { headers, signal: AbortSignal.timeout(PATIENCE_MS) })
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
    const client = new Leaving(isolate.port)
    const gone = client.ask('/v1/counters/page_view/%2Fa', headers)
    await isolate.until(({ reads }) => reads.queries === 1)
    client.hangUp()
    await gone
    // It goes on without its client, for there might be others who wait.
    expect((await isolate.load()).reads).toEqual({ waiting: 1, queries: 1 })
    await nothingLeft()
    expect(await countOf('/a')).toEqual({ status: 200, count: 3 })
  })

  it('are answered when the one that sent the query ends with all of its work', async () => {
    await db.behave({ latencyMs: 1_500, faults: [{ action: 'hang-answer', match: READ }] })
    const mortal = { ...headers, 'Test-Mortal': '1' }
    const others = new Leaving(isolate.port)
    // As many queries as may be in flight, the first of which stays there.
    const gone: Promise<void>[] = []
    for (let queries = 1; queries <= MOST_QUERIES; queries++) {
      gone.push(others.ask('/v1/counters/page_view/%2Fa', mortal))
      await isolate.until(({ reads }) => reads.queries === queries)
    }
    // Those who come next share the one after these, which one of them sends: most likely not one of the few who stay.
    const senders = new Leaving(isolate.port)
    gone.push(...Array.from({ length: 60 }, () => senders.ask('/v1/counters/page_view/%2Fb', mortal)))
    await isolate.until(({ reads }) => reads.waiting === MOST_QUERIES + 60)
    const staying = Array.from({ length: 4 }, (_, i) => countOf(i % 2 ? '/a' : '/b'))
    await isolate.until(({ reads }) => reads.waiting === MOST_QUERIES + 64 && reads.queries === MOST_QUERIES)
    await isolate.until(({ reads }) => reads.waiting === 65 && reads.queries === 2)
    senders.hangUp()
    others.hangUp()
    await Promise.all(gone)
    for (const [i, fate] of (await Promise.all(staying)).entries()) {
      expect(fate).toEqual({ status: 200, count: i % 2 ? 3 : 5 })
    }
    expect(await db.strikesLeft()).toBe(0)
  })

  it('that wait for a query are answered when all that are in flight, and who was to send theirs, are cut off', async () => {
    await db.behave({ latencyMs: 1_500 })
    const mortal = { ...headers, 'Test-Mortal': '1' }
    const clients = new Leaving(isolate.port)
    const gone: Promise<void>[] = []
    for (let queries = 1; queries <= MOST_QUERIES; queries++) {
      gone.push(clients.ask('/v1/counters/page_view/%2Fa', mortal))
      await isolate.until(({ reads }) => reads.queries === queries)
    }
    gone.push(clients.ask('/v1/counters/page_view/%2Fb', mortal))
    await isolate.until(({ reads }) => reads.waiting === MOST_QUERIES + 1)
    const staying = Array.from({ length: 30 }, (_, i) => countOf(i % 2 ? '/a' : '/b'))
    await isolate.until(({ reads }) => reads.waiting === MOST_QUERIES + 31)
    clients.hangUp()
    await Promise.all(gone)
    for (const [i, fate] of (await Promise.all(staying)).entries()) {
      expect(fate).toEqual({ status: 200, count: i % 2 ? 3 : 5 })
    }
  })
})

/** Clients that hang up with RST when told to, whatever has come back by then. */
class Leaving {
  readonly #port: number
  readonly #sent: ClientRequest[] = []

  constructor(port: number) {
    this.#port = port
  }

  /** Asks. Settles when the connection is over. */
  ask(path: string, headers: Record<string, string>): Promise<void> {
    return new Promise((resolve) => {
      const sent = request({ port: this.#port, path, headers, agent: false }, (response) => response.resume())
      sent.once('error', () => {})
      sent.once('close', () => resolve())
      sent.end()
      this.#sent.push(sent)
    })
  }

  hangUp(): void {
    for (const sent of this.#sent) sent.socket?.resetAndDestroy()
  }
}
