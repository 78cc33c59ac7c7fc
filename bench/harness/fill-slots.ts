import { counterValues } from '../../src/counters/counters-sql.ts'
import type { Deployment } from './deployment.ts'

const ROWS_AT_ONCE = 10_000

/** Slots to insert. */
export interface Filling {
  counters: number
  slotsEach: number
  /** The record id of the n-th counter. Default: n + 1. */
  idOf?: (counter: number) => bigint
  /** The count in each slot. Default: 1. Use 0 for slots that were rolled up and wait to be pruned. */
  count?: number
}

/** Numbers spread like random ones, but the same in every run (multiples of 2^64 divided by the golden ratio). */
const spread = (index: number): bigint => BigInt.asUintN(64, BigInt(index) * 11_400_714_819_323_198_485n)

/** Inserts slots and counters into a database as writers would have left them. */
export async function fillSlots(
  { server, database }: Pick<Deployment, 'server' | 'database'>,
  { counters, slotsEach, idOf = (counter) => BigInt(counter + 1), count = 1 }: Filling,
): Promise<void> {
  let rows: string[] = []
  let names: string[] = []
  const send = async () => {
    if (rows.length === 0) return
    await server.query(
      `INSERT INTO \`${database}\`.slotted_counters (record_type, record_id, bucket, slot, count, batch, kept_until)
       VALUES ${rows.join(',')}`,
    )
    rows = []
    if (names.length === 0) return
    await server.query(
      `INSERT IGNORE INTO \`${database}\`.counters (record_type, record_id, bucket, name) VALUES ${names.join(',')}`,
    )
    names = []
  }
  for (let counter = 0; counter < counters; counter++) {
    const id = idOf(counter)
    const values = counterValues({ recordType: 1, recordId: id })
    names.push(`(${values},'/${id}')`)
    for (let slot = 1; slot <= slotsEach; slot++) {
      rows.push(`(${values},${spread(counter * slotsEach + slot)},${count},1,FLOOR(UNIX_TIMESTAMP()/3600))`)
      if (rows.length === ROWS_AT_ONCE) await send()
    }
  }
  await send()
}
