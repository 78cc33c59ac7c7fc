import { withDeployment } from '../../harness/deployment.ts'
import { fillSlots, multiplyIdle } from '../../harness/fill-slots.ts'
import type { Testbed } from '../../harness/shared-testbed.ts'
import type { Point } from '../../report/chart-points.ts'
import { median } from '../../report/medians.ts'
import type { Table } from '../../report/results.ts'
import { DEPLOYMENT, number, requestRollUp, SLOTS_EACH } from './request-roll-up.ts'

export const IDLE = [0, 10_000, 100_000, 1_000_000]
export const IDLE_PENDING = 1_000
const TITLE = 'By number of idle counters'

/** Rolls up the same slots among more and more idle counters, in one growing database. */
export async function measureAmongIdle(testbed: Testbed, rounds: number): Promise<Table> {
  const rows = await withDeployment(testbed, DEPLOYMENT, async (deployment) => {
    const { server, database, url } = deployment
    const rows: string[][] = []
    // Above the record ids of idle counters, which start at 1.
    const activeId = (counter: number) => BigInt(2 * IDLE.at(-1)! + counter)
    await fillSlots(deployment, { counters: IDLE_PENDING / SLOTS_EACH, slotsEach: SLOTS_EACH, idOf: activeId })
    await requestRollUp(url, testbed.signal)
    for (const idle of IDLE) {
      testbed.signal.throwIfAborted()
      testbed.say(`roll-up  among ${number(idle)} idle counters …`)
      if (idle === IDLE[1]) {
        await fillSlots(deployment, { counters: idle, slotsEach: 1 })
        await requestRollUp(url, testbed.signal)
      } else if (idle > 0) await multiplyIdle(deployment, idle / 10)
      const times: number[] = []
      let statements = 0
      for (let round = 0; round < rounds; round++) {
        await server.query(
          `UPDATE \`${database}\`.slotted_counters SET count = 1 WHERE record_type = 1 AND record_id >= ?`,
          [2 * IDLE.at(-1)!],
        )
        const began = performance.now()
        statements = (await requestRollUp(url, testbed.signal)).statements
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
      `${number(IDLE_PENDING)} slots of ${number(IDLE_PENDING / SLOTS_EACH)} counters are rolled up ${rounds} times. Idle counters have a total and an empty slot. The ` +
      'database grows from row to row, and workerd stays the same.',
    headings: ['idle counters', 'median ms', 'minimum', 'maximum', 'statements'],
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
