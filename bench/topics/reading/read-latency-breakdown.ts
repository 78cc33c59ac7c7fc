import mysql from 'mysql2/promise'
import { hash64 } from '../../../src/counters/ids.ts'
import { readCounters } from '../../../src/counters/read/read-counters.ts'
import { type Executor, openDatabase } from '../../../src/database/database.ts'
import { withDeployment } from '../../harness/deployment.ts'
import { fillSlots } from '../../harness/fill-slots.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import { median } from '../../report/medians.ts'
import type { Table } from '../../report/results.ts'

const KEY = 'hello'
const READS = 100
const DEADLINE_MS = 10_000
/** The title of the table. */
export const BREAKDOWN = 'Breakdown of read latency'

/** Breaks down the latency of a read: the same statement sent directly, through the endpoint, and by the Worker. */
export function readLatencyBreakdown(testbed: Testbed, rounds: number): Promise<Table[]> {
  return withDeployment(testbed, { worker: 'product' }, async (deployment) => {
    const { server, database, databaseUrl, url } = deployment
    const id = await hash64(KEY)
    await server.query(`INSERT INTO \`${database}\`.one_row_counters VALUES (1, ${id}, 7)`)
    const counter = { recordType: 1, recordId: id, name: KEY }
    const connection = await mysql.createConnection({
      uri: `${server.url}/${database}`,
      // As the PlanetScale driver returns values.
      supportBigNumbers: true,
      bigNumberStrings: true,
      dateStrings: true,
    })
    try {
      const direct: Executor = {
        async execute(sql, args = []) {
          const [rows] = await connection.query(sql, [...args])
          return { rows: rows as Record<string, unknown>[], rowsAffected: 0 }
        },
      }
      const driver = openDatabase({ url: databaseUrl, deadlineMs: DEADLINE_MS })
      const oneRow = (db: Executor) => () =>
        db.execute('SELECT count FROM one_row_counters WHERE record_type = ? AND record_id = ?', [1, id])
      const exact = (db: Executor) => () => readCounters(db, [counter])
      const get = (path: string) => async () => (await fetch(url + path)).arrayBuffer()
      const row = async (name: string, reads: (() => Promise<unknown>)[]) => {
        const cells: string[] = []
        for (const read of reads) cells.push(`${(await timed(read, rounds, testbed.signal)).toFixed(2)} ms`)
        return [name, ...cells]
      }
      const rows = [await row('one row', [oneRow(direct), oneRow(driver), get(`/bench/one-row/page_view/${KEY}`)])]
      for (const slots of [1, 1_000, 10_000]) {
        await server.query(`DELETE FROM \`${database}\`.slotted_counters`)
        await fillSlots(deployment, { counters: 1, slotsEach: slots, idOf: () => id })
        const reads = [exact(direct), exact(driver), get(`/v1/counters/page_view/${KEY}`)]
        rows.push(await row(`exact, ${slots.toLocaleString('en-US')} pending`, reads))
      }
      return [
        {
          title: BREAKDOWN,
          text: `Medians of ${READS} sequential reads, the best of ${rounds} rounds. Each column includes the one before it.`,
          headings: ['', 'server (MySQL protocol)', 'with endpoint and driver', 'with Worker and HTTP'],
          rows,
        },
      ]
    } finally {
      connection.destroy()
    }
  })
}

/** The median time in milliseconds, of the best round. */
async function timed(work: () => Promise<unknown>, rounds: number, signal: AbortSignal): Promise<number> {
  const medians: number[] = []
  for (let round = 0; round < rounds; round++) {
    const times: number[] = []
    for (let read = 0; read < READS; read++) {
      signal.throwIfAborted()
      const began = performance.now()
      await work()
      times.push(performance.now() - began)
    }
    medians.push(median(times))
  }
  return Math.min(...medians)
}
