import { type ClientRequest, request } from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import { AUTHORIZED, incrementOf, send } from './client.ts'
import { type FaultyDatabase, freshDatabase } from './faulty-database.ts'
import { Isolate } from './isolate.ts'
import { type Gate, LateNetwork } from './late-network.ts'
import { seededRandom } from './seeded-random.ts'

const READ = /FROM counters/
/** In the same range as `/a`, with up to 16 ranges, because only reads of one range share queries. */
const B = '/b18'
/** Most queries of one isolate that are in flight at a time. */
const MOST_QUERIES = 6
/** Reads that wait to share the next query, from clients that leave and from clients that stay. */
const LEAVING = 60
const STAYING = 4
/** Milliseconds in which an arrangement must be complete: a query is given up after 3 s. */
const ARRANGED_MS = 2_500
const MOST_ARRANGEMENTS = 20
/** Milliseconds within which every read must be answered. A read that waits for others gives up long before. */
const PATIENCE_MS = 30_000

/** In one isolate of the built Worker, where a request must not use I/O objects of another. */
describe('Reads that share queries', () => {
  let db: FaultyDatabase
  let isolate: Isolate
  let network: LateNetwork

  beforeEach(async () => {
    db = await freshDatabase()
    network = await LateNetwork.start(db.url, seededRandom())
    const [first] = await Isolate.start(1, network.url)
    isolate = first!
    for (const [key, by] of [
      ['/a', 3],
      [B, 5],
    ] as const) {
      expect(await send(isolate.url, incrementOf({ type: 'page_view', key, by }))).toBe('counted')
    }
  })

  const ask = (path: string) =>
    fetch(`${isolate.url}${path}`, { headers: AUTHORIZED, signal: AbortSignal.timeout(PATIENCE_MS) })
  const countOf = async (key: string) => {
    const response = await ask(`/v1/counters/page_view/${encodeURIComponent(key)}`)
    const { count } = (await response.json()) as { count: number }
    return { status: response.status, count }
  }
  const nothingLeft = () => isolate.until(({ reads: { waiting, queries } }) => waiting === 0 && queries === 0)

  /** Reads, and the clients that leave when told to. */
  interface Arrangement {
    gate: Gate
    clients: LeavingClients
    /** What the clients that stay are told. */
    staying: Promise<Awaited<ReturnType<typeof countOf>>[]>
  }

  /**
   * Arranges reads behind a gate, with as many queries in flight as may be. If the machine stalls for so long that a query is given
   * up meanwhile, all of them are let go, and it begins again.
   *
   * @param leaving clients that wait for the next query, and leave
   * @param stay clients that wait for it, and stay
   */
  const arrange = async (leaving: number, stay: number): Promise<Arrangement> => {
    const headersOfMortals = { ...AUTHORIZED, 'Test-Mortal': '1' }
    for (let made = 1; ; made++) {
      const gate = network.close({ match: READ })
      const clients = new LeavingClients(isolate.port)
      const giveUpAt = Date.now() + ARRANGED_MS
      const until = (queries: number, waiting: number) =>
        isolate.until(({ reads }) => reads.queries === queries && reads.waiting === waiting, giveUpAt)
      let staying: Arrangement['staying'] = Promise.resolve([])
      try {
        for (let queries = 1; queries <= MOST_QUERIES; queries++) {
          clients.ask('/v1/counters/page_view/%2Fa', headersOfMortals)
          await until(queries, queries)
        }
        for (let i = 0; i < leaving; i++) {
          clients.ask(`/v1/counters/page_view/${encodeURIComponent(B)}`, headersOfMortals)
        }
        await until(MOST_QUERIES, MOST_QUERIES + leaving)
        staying = Promise.all(Array.from({ length: stay }, (_, i) => countOf(i % 2 ? '/a' : B)))
        staying.catch(() => {})
        await until(MOST_QUERIES, MOST_QUERIES + leaving + stay)
        await gate.reached(MOST_QUERIES)
        return { gate, clients, staying }
      } catch (error) {
        if (made === MOST_ARRANGEMENTS) throw error
        gate.open()
        await clients.hangUp()
        await staying
        await nothingLeft()
      }
    }
  }

  /** Hangs up, and waits until the isolate has noticed: until it has answered a later request. */
  const leave = async (clients: LeavingClients) => {
    await clients.hangUp()
    return isolate.load()
  }

  const expectCounts = async (staying: Arrangement['staying']) => {
    for (const [i, fate] of (await staying).entries()) expect(fate).toEqual({ status: 200, count: i % 2 ? 3 : 5 })
  }

  it('are answered if the client whose request sent the query hangs up', async () => {
    const gate = network.close({ match: READ })
    const client = new LeavingClients(isolate.port)
    client.ask('/v1/counters/page_view/%2Fa', AUTHORIZED)
    await isolate.until(({ reads }) => reads.queries === 1)
    // The request goes on without its client, because others might wait for its query.
    expect((await leave(client)).reads).toEqual({ waiting: 1, queries: 1 })
    gate.open()
    await nothingLeft()
    expect(await countOf('/a')).toEqual({ status: 200, count: 3 })
  })

  it('are answered if the request that sent the query ends with all of its work', async () => {
    const { gate, clients, staying } = await arrange(LEAVING, STAYING)
    // One query hangs, and the others are answered. So one of those who wait sends the next one: most likely one that leaves.
    for (let place = 1; place < MOST_QUERIES; place++) gate.letGo(place)
    await gate.reached(MOST_QUERIES + 1)
    await leave(clients)
    gate.open()
    await expectCounts(staying)
  })

  it('are answered if all queries in flight are cut off, and so is the request that was to send the next one', async () => {
    const { gate, clients, staying } = await arrange(1, 30)
    await leave(clients)
    gate.open()
    await expectCounts(staying)
  })
})

/** Clients that hang up with RST when told to, whether or not they have been answered. */
class LeavingClients {
  readonly #port: number
  readonly #sent: ClientRequest[] = []
  readonly #gone: Promise<void>[] = []

  constructor(port: number) {
    this.#port = port
  }

  ask(path: string, headers: Record<string, string>): void {
    const sent = request({ port: this.#port, path, headers, agent: false })
    this.#sent.push(sent)
    const gone = new Promise<void>((resolve) => {
      sent.once('response', (response) => response.resume().once('end', resolve))
      // Node emits no 'close' for a connection that is reset while it shuts down.
      sent.once('error', () => resolve())
      sent.once('close', () => resolve())
    })
    this.#gone.push(gone)
    sent.end()
  }

  /** Settles when each request has been answered or its connection has ended. */
  async hangUp(): Promise<void> {
    for (const sent of this.#sent) sent.socket?.resetAndDestroy()
    await Promise.all(this.#gone)
  }
}
