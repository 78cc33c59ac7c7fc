import mysql from 'mysql2/promise'
import { hash64 } from '../../src/counters/hash.ts'
import { readCounters } from '../../src/counters/read.ts'
import { type Executor, openDatabase } from '../../src/database/database.ts'
import { fillSlots } from '../harness/fill.ts'
import type { Rig } from '../harness/rig.ts'
import { withService } from '../harness/service.ts'
import { median } from '../report/comparison.ts'
import type { Table } from '../topic.ts'

const KEY = 'hello'
const READINGS = 100
const DEADLINE_MS = 10_000

/** Where the time of a reading goes: the same statement sent to the server, through the endpoint, and by the Worker. */
export function readPathTable(rig: Rig, rounds: number): Promise<Table[]> {
  return withService(rig, { worker: 'product' }, async (service) => {
    const { server, database, databaseUrl, url } = service
    const id = await hash64(KEY)
    await server.query(`INSERT INTO \`${database}\`.one_row_counters VALUES (1, ${id}, 7)`)
    const counter = { recordType: 1, recordId: id, name: KEY }
    const connection = await mysql.createConnection({
      uri: `${server.url}/${database}`,
      // As the driver hands them over.
      supportBigNumbers: true,
      bigNumberStrings: true,
      dateStrings: true,
    })
    try {
      const straight: Executor = {
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
      const row = async (name: string, ways: (() => Promise<unknown>)[]) => {
        const cells: string[] = []
        for (const way of ways) cells.push(`${(await timed(way, rounds, rig.signal)).toFixed(2)} ms`)
        return [name, ...cells]
      }
      const rows = [await row('one row', [oneRow(straight), oneRow(driver), get(`/bench/one-row/page_view/${KEY}`)])]
      for (const slots of [1, 1_000, 10_000]) {
        await server.query(`DELETE FROM \`${database}\`.slotted_counters`)
        await fillSlots(service, { counters: 1, slotsEach: slots, idOf: () => id })
        const read = [exact(straight), exact(driver), get(`/v1/counters/page_view/${KEY}`)]
        rows.push(await row(`exact, ${slots.toLocaleString('en-US')} pending`, read))
      }
      return [
        {
          title: 'Where the time of a reading goes',
          text: `Medians of ${READINGS} readings, one after the other, the best of ${rounds} rounds. Each column includes the one before it.`,
          headings: ['', 'server (MySQL protocol)', 'with endpoint and driver', 'with Worker and HTTP'],
          rows,
        },
      ]
    } finally {
      connection.destroy()
    }
  })
}

/** Milliseconds of something in the median, in the best of some rounds. */
async function timed(work: () => Promise<unknown>, rounds: number, signal: AbortSignal): Promise<number> {
  const medians: number[] = []
  for (let round = 0; round < rounds; round++) {
    const times: number[] = []
    for (let reading = 0; reading < READINGS; reading++) {
      signal.throwIfAborted()
      const began = performance.now()
      await work()
      times.push(performance.now() - began)
    }
    medians.push(median(times))
  }
  return Math.min(...medians)
}
