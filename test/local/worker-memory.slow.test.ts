import { join } from 'node:path'
import mysql, { type RowDataPacket } from 'mysql2/promise'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { Inspector } from '../../bench/harness/inspector.ts'
import { freePort } from '../../local/processes/free-port.ts'
import { buildWorker, startWorkerd } from '../../local/worker/workerd.ts'
import { stateDirectory } from './npm-script.ts'
import { sendPipelined } from './pipelined-client.ts'

const MILLION = 1_000_000
/**
 * How many of a million hits on one key are sent as single requests. The rest is sent a thousand at a time.
 * `MEMORY_HITS=1000000` sends all of them singly, which takes minutes.
 */
const HITS = Number(process.env.MEMORY_HITS ?? 200_000)
const TOKEN = 'a-token-for-tests'
const TIMEOUT_MS = 60_000 + MILLION / 2
const MEGABYTE = 1_000_000

/** The built Worker in one isolate, with its own database and an inspector that reads its memory. */
class WatchedIsolate {
  readonly url: string
  readonly port: number
  readonly #database: string
  readonly #inspector: Inspector

  private constructor(url: string, port: number, database: string, inspector: Inspector) {
    this.url = url
    this.port = port
    this.#database = database
    this.#inspector = inspector
  }

  static async start(worker: string): Promise<WatchedIsolate> {
    const response = await fetch(`${inject('databases')}?migrate`, { method: 'POST' })
    const { name, databaseUrl } = (await response.json()) as { name: string; databaseUrl: string }
    const inspectorPort = await freePort()
    const directory = await stateDirectory()
    const workerd = await startWorkerd({ script: worker, directory, databaseUrl, apiToken: TOKEN, inspectorPort })
    onTestFinished(() => workerd.stop())
    const inspector = await Inspector.open(inspectorPort)
    onTestFinished(() => inspector.close())
    return new WatchedIsolate(workerd.url, workerd.port, name, inspector)
  }

  /** Counts a range of keys, a thousand in each request. */
  async count(from: number, to: number, keyAt: (i: number) => string): Promise<void> {
    let next = from
    const lane = async () => {
      while (next < to) {
        const first = next
        next = Math.min(next + 1_000, to)
        const increments = Array.from({ length: next - first }, (_, i) => ({
          type: 'page_view',
          key: keyAt(first + i),
        }))
        const response = await fetch(`${this.url}/v1/increments`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ increments }),
        })
        expect([response.status, await response.text()]).toEqual([200, `{"accepted":${increments.length}}`])
      }
    }
    await Promise.all(Array.from({ length: 8 }, lane))
  }

  /** Bytes in use on the isolate's heap after a garbage collection. */
  async heap(): Promise<number> {
    let collected = false
    const collecting = this.#inspector.call('HeapProfiler.collectGarbage').finally(() => {
      collected = true
    })
    // The isolate collects garbage when it handles its next request.
    while (!collected) await (await fetch(`${this.url}/hit`, { method: 'OPTIONS' })).arrayBuffer()
    await collecting
    const usage = await this.#inspector.call('Runtime.getHeapUsage')
    return (usage as { usedSize: number }).usedSize
  }

  /** A number from its database. */
  async number(sql: string): Promise<number> {
    const connection = await mysql.createConnection({ uri: `${inject('mysqlUrl')}/${this.#database}` })
    try {
      const [[row]] = await connection.query<RowDataPacket[]>(sql)
      return Number(Object.values(row!)[0])
    } finally {
      await connection.end()
    }
  }
}

describe('The memory of an isolate stays within bounds', () => {
  let worker: string

  beforeAll(async () => {
    // Removed at the end of the run.
    worker = await buildWorker(join(inject('scratch'), 'memory-worker'))
  })

  it('over a million distinct keys', { timeout: TIMEOUT_MS }, async () => {
    const isolate = await WatchedIsolate.start(worker)
    const keyAt = (i: number) => `/blog/2026/11/a-title-of-the-usual-length-for-a-post-${i}`
    const fresh = await isolate.heap()
    await isolate.count(0, MILLION / 10, keyAt)
    const early = await isolate.heap()
    await isolate.count(MILLION / 10, MILLION, keyAt)
    const late = await isolate.heap()
    const measured = `bytes of heap: ${fresh} at first, ${early} after a tenth, ${late} at the end`
    expect(late, measured).toBeLessThan(early + 5 * MEGABYTE)
    expect(late, measured).toBeLessThan(30 * MEGABYTE)
    expect(await isolate.number('SELECT SUM(count) FROM slotted_counters')).toBe(MILLION)
    expect(await isolate.number('SELECT COUNT(*) FROM slotted_counters WHERE count = 1')).toBe(MILLION)
    expect(await isolate.number('SELECT COUNT(*) FROM counter_names')).toBe(MILLION)
  })

  it('over a million hits on one key', { timeout: TIMEOUT_MS }, async () => {
    const isolate = await WatchedIsolate.start(worker)
    const request = 'POST /hit?type=page_view&key=%2Fhot HTTP/1.1\r\nHost: counter.test\r\nContent-Length: 0\r\n\r\n'
    const part = async (share: number) => {
      const hits = Math.round(HITS * share)
      const answer = await sendPipelined({ port: isolate.port, request, times: hits, connections: 128, depth: 8 })
      expect(answer).toContain('X-Hit: counted')
      await isolate.count(0, MILLION * share - hits, () => '/hot')
    }
    const fresh = await isolate.heap()
    await part(0.1)
    const early = await isolate.heap()
    await part(0.9)
    const late = await isolate.heap()
    const measured = `bytes of heap: ${fresh} at first, ${early} after a tenth, ${late} at the end`
    // Less than ten bytes for each hit.
    expect(late, measured).toBeLessThan(early + 1.5 * MEGABYTE)
    expect(late, measured).toBeLessThan(20 * MEGABYTE)
    expect(await isolate.number('SELECT SUM(count) FROM slotted_counters')).toBe(MILLION)
  })
})
