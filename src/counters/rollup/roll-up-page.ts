import { bucketOf } from '../../database/buckets.ts'
import type { Database } from '../../database/database.ts'
import { packedSql, unpack } from '../../database/values.ts'
import type { Cursor } from '../background-runs.ts'
import type { CounterPlace } from '../counter-address.ts'
import { afterSql, sameCounterSql } from '../counters-sql.ts'
import { HistoryAddition } from '../ledger/history-addition.ts'
import { addToSlots, type PendingSlot, subtractionsOf } from '../ledger/slots.ts'
import { addToTotals, fitsTotal } from '../ledger/totals.ts'
import { rangeSql } from '../ranges.ts'

/** A counter as read: some or all of its non-empty slots, and the version of its total at that instant. */
interface CounterSnapshot extends CounterPlace {
  version: bigint
  total: bigint
  slots: (Cursor & PendingSlot)[]
  /** The sum of the slots. */
  amount: bigint
}

/** Consecutive non-empty slots in primary key order, by counter. */
export interface RollUpPage {
  /** Those that can be moved. */
  counters: readonly CounterSnapshot[]
  /** How many others there are: total, amount or a slot would leave signed 64-bit integers, or their row is missing. */
  stuck: number
  last: Cursor | null
  exhausted: boolean
  /** Whether the last counter has more slots. Then it is the only one. */
  cut: boolean
}

const TOTAL = `(SELECT CONCAT(t.version, ' ', t.count) FROM counters AS t WHERE ${sameCounterSql('t', 's')})`

/**
 * Reads the next non-empty slots, with the versions of their totals, from one snapshot and without locks. If the last counter does not fit,
 * it is left to the next page, unless it is the only one: in one piece, it costs only one change of its total.
 * @param position `range`: its number; `after`: the last slot of the previous page @param limit the most slots in the page
 */
export async function readRollUpPage(
  db: Database,
  { range, after }: { range: number; after: Cursor | null },
  limit: number,
): Promise<RollUpPage> {
  const order = ['s.record_type', 's.record_id', 's.bucket', 's.slot']
  const resume = afterSql(order, after && [after.recordType, after.recordId, bucketOf(after.recordId), after.slot])
  // vtgate sends a list of buckets to their shard only. It merges a subquery for the same bucket into it, but not a join.
  const { rows } = await db.execute(
    `SELECT ${packedSql('s.record_type', 's.record_id', 's.slot', 's.count', TOTAL)}
     FROM slotted_counters AS s FORCE INDEX (pending)
     WHERE s.pending = 1 ${rangeSql('s', range, db.ranges)} ${resume}
     ORDER BY ${order.join(', ')} LIMIT ${limit + 1}`,
  )
  const counters: (CounterSnapshot & { exists: boolean })[] = []
  for (const row of rows.slice(0, limit)) {
    const { slot, version, total } = snapshotOf(row)
    const { recordType, recordId, count } = slot
    const last = counters.at(-1)
    if (last !== undefined && isOf(last, slot)) {
      last.slots.push(slot)
      last.amount += count
    } else {
      // The key of every counter is stored before it counts. Only a clock that jumps by an hour can delete the row too early.
      const row = { exists: version !== undefined, version: BigInt(version ?? 0), total: BigInt(total ?? 0) }
      counters.push({ recordType, recordId, slots: [slot], amount: count, ...row })
    }
  }
  // The row beyond the limit tells whether the last counter has more slots.
  const following = rows[limit]
  const cut = following !== undefined && isOf(counters.at(-1)!, snapshotOf(following).slot)
  const leave = cut && counters.length > 1
  if (leave) counters.pop()
  const movable = counters.filter(
    ({ exists, total, amount, slots }) =>
      exists && fitsTotal(total + amount) && fitsTotal(amount) && slots.every(({ count }) => fitsTotal(count)),
  )
  return {
    counters: movable,
    stuck: counters.length - movable.length,
    last: counters.at(-1)?.slots.at(-1) ?? null,
    exhausted: following === undefined,
    cut: cut && !leave,
  }
}

/** A slot, and what its row tells of the counter: nothing if that has no row. */
function snapshotOf(row: Record<string, unknown>) {
  const [recordType, recordId, slot, count, version, total] = unpack(row)
  const place = { recordType: Number(recordType), recordId: BigInt(recordId!), slot: BigInt(slot!) }
  return { slot: { ...place, count: BigInt(count!) }, version, total }
}

const isOf = (counter: CounterSnapshot, slot: Cursor) =>
  counter.recordId === slot.recordId && counter.recordType === slot.recordType

/**
 * Moves the counts that were read from slots into the totals and the history of one range, in one zero-sum transaction, even if the slots
 * have changed since. If several runs read the same counts, the versions let only one of them succeed.
 * @param options `at`: the run; its hour, day and month get the counts. `rangeLane`: the lane of the range's sums
 * @throws {Overtaken} another run moved some first; nothing was changed @throws {DatabaseFailure} the page can be read again
 */
export async function moveRollUpPage(
  db: Database,
  counters: readonly CounterSnapshot[],
  { at, rangeLane }: { at: Date; rangeLane: bigint },
): Promise<void> {
  await db.transaction(async (transaction) => {
    const added = addToTotals(transaction, counters, at)
    // Writes the texts while the database works on that statement.
    const subtractions = subtractionsOf(counters)
    const history = new HistoryAddition(rangeLane)
    history.add(counters, at)
    await added
    await history.send(transaction)
    // Last, because writers need these rows: they stay locked for only one more round trip, the COMMIT.
    await addToSlots(transaction, subtractions)
  })
}
