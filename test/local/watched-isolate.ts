import mysql, { type RowDataPacket } from 'mysql2/promise'
import { expect, onTestFinished } from 'vitest'
import { Inspector } from '../../bench/harness/inspector.ts'
import { freePort } from '../../local/processes/free-port.ts'
import type { Workerd } from '../../local/worker/workerd.ts'
import { startBuiltWorker, TOKEN } from './built-worker.ts'

/** The built Worker in one isolate, with its own database and an inspector that reads its memory. */
export class WatchedIsolate {
  readonly url: string
  readonly port: number
  readonly #mysqlUrl: string
  readonly #inspector: Inspector

  private constructor({ url, port }: Workerd, mysqlUrl: string, inspector: Inspector) {
    this.url = url
    this.port = port
    this.#mysqlUrl = mysqlUrl
    this.#inspector = inspector
  }

  /** @param settings variables that differ from wrangler.toml */
  static async start(settings: Record<string, unknown> = {}): Promise<WatchedIsolate> {
    const inspectorPort = await freePort()
    const { workerd, mysqlUrl } = await startBuiltWorker({ settings, inspectorPort })
    const inspector = await Inspector.open(inspectorPort)
    onTestFinished(() => inspector.close())
    return new WatchedIsolate(workerd, mysqlUrl, inspector)
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
    const [row] = await this.rows(sql)
    return Number(Object.values(row!)[0])
  }

  /** Rows from its database. */
  async rows(sql: string): Promise<RowDataPacket[]> {
    const connection = await mysql.createConnection({ uri: this.#mysqlUrl })
    try {
      const [rows] = await connection.query<RowDataPacket[]>(sql)
      return rows
    } finally {
      await connection.end()
    }
  }
}
