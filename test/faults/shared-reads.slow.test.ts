import { type ClientRequest, request } from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import { incrementOf, send, TOKEN } from './client.ts'
import { type FaultyDatabase, freshDatabase } from './faulty-database.ts'
import { Isolate } from './isolate.ts'

const READ = "'total' AS part|count AS total"
/** In the same range as `/a`, with up to 16 ranges, because only reads of one range share queries. */
const B = '/b18'
/** Most queries of one isolate that are in flight at a time. */
const MOST_QUERIES = 6
/** Milliseconds within which every read must be answered. A read that waits for others gives up long before. */
const PATIENCE_MS = 30_000
const headers = { Authorization: `Bearer ${TOKEN}` }

/** In one isolate of the built Worker, where a request must not use I/O objects of another. */
describe('Reads that share queries', () => {
  let db: FaultyDatabase
  let isolate: Isolate

  beforeEach(async () => {
    db = await freshDatabase()
    const [first] = await Isolate.start(1, db.url)
    isolate = first!
    for (const [key, by] of [
      ['/a', 3],
      [B, 5],
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

  it('are all answered, 500 at a time, including lists and badges', async () => {
    await db.behave({ latencyMs: 20 })
    const list = async () => (await ask(`/v1/counters/page_view?key=/a&key=/none&key=${B}`)).json()
    const badge = async () => (await ask('/badge/page_view/%2Fa.json')).json()
    for (let round = 0; round < 4; round++) {
      const [counts, lists, badges] = await Promise.all([
        Promise.all(Array.from({ length: 420 }, (_, i) => countOf(i % 2 ? '/a' : B))),
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

  it('are answered if the client whose request sent the query hangs up', async () => {
    await db.behave({ latencyMs: 1_500 })
    const client = new LeavingClients(isolate.port)
    const gone = client.ask('/v1/counters/page_view/%2Fa', headers)
    await isolate.until(({ reads }) => reads.queries === 1)
    client.hangUp()
    await gone
    // The request goes on without its client, because others might wait for its query.
    expect((await isolate.load()).reads).toEqual({ waiting: 1, queries: 1 })
    await nothingLeft()
    expect(await countOf('/a')).toEqual({ status: 200, count: 3 })
  })

  it('are answered if the request that sent the query ends with all of its work', async () => {
    await db.behave({ latencyMs: 1_500, faults: [{ action: 'hang-answer', match: READ }] })
    const mortal = { ...headers, 'Test-Mortal': '1' }
    const others = new LeavingClients(isolate.port)
    // As many queries as may be in flight. The first one hangs.
    const gone: Promise<void>[] = []
    for (let queries = 1; queries <= MOST_QUERIES; queries++) {
      gone.push(others.ask('/v1/counters/page_view/%2Fa', mortal))
      await isolate.until(({ reads }) => reads.queries === queries)
    }
    // The next reads share the query after these. One of them sends it: most likely not one of the few that stay.
    const senders = new LeavingClients(isolate.port)
    gone.push(
      ...Array.from({ length: 60 }, () => senders.ask(`/v1/counters/page_view/${encodeURIComponent(B)}`, mortal)),
    )
    await isolate.until(({ reads }) => reads.waiting === MOST_QUERIES + 60)
    const staying = Array.from({ length: 4 }, (_, i) => countOf(i % 2 ? '/a' : B))
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

  it('are answered if all queries in flight are cut off, and so is the request that was to send the next one', async () => {
    await db.behave({ latencyMs: 1_500 })
    const mortal = { ...headers, 'Test-Mortal': '1' }
    const clients = new LeavingClients(isolate.port)
    const gone: Promise<void>[] = []
    for (let queries = 1; queries <= MOST_QUERIES; queries++) {
      gone.push(clients.ask('/v1/counters/page_view/%2Fa', mortal))
      await isolate.until(({ reads }) => reads.queries === queries)
    }
    gone.push(clients.ask(`/v1/counters/page_view/${encodeURIComponent(B)}`, mortal))
    await isolate.until(({ reads }) => reads.waiting === MOST_QUERIES + 1)
    const staying = Array.from({ length: 30 }, (_, i) => countOf(i % 2 ? '/a' : B))
    await isolate.until(({ reads }) => reads.waiting === MOST_QUERIES + 31)
    clients.hangUp()
    await Promise.all(gone)
    for (const [i, fate] of (await Promise.all(staying)).entries()) {
      expect(fate).toEqual({ status: 200, count: i % 2 ? 3 : 5 })
    }
  })
})

/** Clients that hang up with RST when told to, whether or not they have been answered. */
class LeavingClients {
  readonly #port: number
  readonly #sent: ClientRequest[] = []

  constructor(port: number) {
    this.#port = port
  }

  /** Sends a request. Settles when it has been answered or its connection has ended. */
  ask(path: string, headers: Record<string, string>): Promise<void> {
    return new Promise((resolve) => {
      const sent = request({ port: this.#port, path, headers, agent: false })
      sent.once('response', (response) => response.resume().once('end', resolve))
      // Node emits no 'close' for a connection that is reset while it shuts down.
      sent.once('error', () => resolve())
      sent.once('close', () => resolve())
      sent.end()
      this.#sent.push(sent)
    })
  }

  hangUp(): void {
    for (const sent of this.#sent) sent.socket?.resetAndDestroy()
  }
}
