import type { Service } from './service.ts'

const ROWS_AT_ONCE = 10_000

/** Rows of slots that hold 1 each. */
export interface Filling {
  counters: number
  slotsEach: number
  /** The record id of the n-th counter. Default: n + 1. */
  idOf?: (counter: number) => bigint
  /** What each slot holds. Default: 1; 0 for those that were rolled up and wait to be pruned. */
  count?: number
}

/** Puts slots into a database as writers would have left them, as fast as the server takes them. */
export async function fillSlots(
  { server, database }: Pick<Service, 'server' | 'database'>,
  { counters, slotsEach, idOf = (counter) => BigInt(counter + 1), count = 1 }: Filling,
): Promise<void> {
  let rows: string[] = []
  const send = async () => {
    if (rows.length === 0) return
    await server.query(
      `INSERT INTO \`${database}\`.slotted_counters (record_type, record_id, slot, count, batch, written_hour)
       VALUES ${rows.join(',')}`,
    )
    rows = []
  }
  for (let counter = 0; counter < counters; counter++) {
    const id = idOf(counter)
    for (let slot = 1; slot <= slotsEach; slot++) {
      rows.push(`(1,${id},${slot},${count},1,FLOOR(UNIX_TIMESTAMP()/3600))`)
      if (rows.length === ROWS_AT_ONCE) await send()
    }
  }
  await send()
}

/** Puts totals of 1 into a database, each with an empty slot, as counters leave them that nobody counts any more. */
export async function fillIdle(service: Pick<Service, 'server' | 'database'>, from: number, to: number): Promise<void> {
  const { server, database } = service
  const idOf = (counter: number) => BigInt(from + counter)
  await fillSlots(service, { counters: to - from, slotsEach: 1, idOf, count: 0 })
  for (let first = from; first < to; first += ROWS_AT_ONCE) {
    const ids = Array.from({ length: Math.min(ROWS_AT_ONCE, to - first) }, (_, index) => first + index)
    await server.query(
      `INSERT INTO \`${database}\`.counter_totals (record_type, record_id, count, version, rolled_up_at)
       VALUES ${ids.map((id) => `(1,${id},1,1,NOW(3))`).join(',')}`,
    )
  }
}
