import { fillSlots, multiplyIdle } from '../harness/fill.ts'
import type { Rig } from '../harness/rig.ts'
import { withService } from '../harness/service.ts'
import { median } from '../report/comparison.ts'
import type { Point } from '../report/points.ts'
import type { Table } from '../topic.ts'
import { askToRollUp, number, SERVICE, SLOTS_EACH } from './roll-up-service.ts'

export const IDLE = [0, 10_000, 100_000, 1_000_000]
export const IDLE_PENDING = 1_000
const TITLE = 'By number of counters that nobody counts'

/** Rolls up as much beside more and more counters that nobody counts any more, in one database that grows. */
export async function amongIdle(rig: Rig, rounds: number): Promise<Table> {
  const rows = await withService(rig, SERVICE, async (service) => {
    const { server, database, url } = service
    const rows: string[][] = []
    // Apart from all others, whose record ids are counted from 1.
    const apart = (counter: number) => BigInt(2 * IDLE.at(-1)! + counter)
    await fillSlots(service, { counters: IDLE_PENDING / SLOTS_EACH, slotsEach: SLOTS_EACH, idOf: apart })
    await askToRollUp(url, rig.signal)
    for (const idle of IDLE) {
      rig.signal.throwIfAborted()
      rig.say(`roll-up  among ${number(idle)} counters that nobody counts …`)
      if (idle === IDLE[1]) {
        await fillSlots(service, { counters: idle, slotsEach: 1 })
        await askToRollUp(url, rig.signal)
      } else if (idle > 0) await multiplyIdle(service, idle / 10)
      const times: number[] = []
      let statements = 0
      for (let round = 0; round < rounds; round++) {
        await server.query(
          `UPDATE \`${database}\`.slotted_counters SET count = 1 WHERE record_type = 1 AND record_id >= ?`,
          [2 * IDLE.at(-1)!],
        )
        const began = performance.now()
        statements = (await askToRollUp(url, rig.signal)).statements
        times.push(performance.now() - began)
      }
      rows.push(
        [idle, median(times).toFixed(1), Math.min(...times).toFixed(1), Math.max(...times).toFixed(1), statements].map(
          String,
        ),
      )
    }
    return rows
  })
  return {
    title: TITLE,
    text:
      `${number(IDLE_PENDING)} slots of ${number(IDLE_PENDING / SLOTS_EACH)} counters are rolled up ${rounds} times beside others that have totals and empty slots. One ` +
      'database that grows, and one workerd.',
    headings: ['idle counters', 'median ms', 'least', 'most', 'statements'],
    rows,
  }
}

/** The table as points of a chart. */
export function idlePoints(tables: readonly Table[]): Point[] {
  const rows = tables.find(({ title }) => title === TITLE)?.rows ?? []
  return rows.flatMap((row) => {
    const [slots, median, low, high] = row.map(Number) as [number, number, number, number]
    return slots === 0 ? [] : [{ variant: '', way: 'roll-up', slots, median, low, high }]
  })
}
