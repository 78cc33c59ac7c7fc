import type { Database, Executor } from '../../database/database.ts'
import { packedSql, unpack } from '../../database/values.ts'
import { afterSql } from '../counters-sql.ts'
import type { CounterPlace } from '../keys/counter-address.ts'
import { additionToPeriods } from '../ledger/periods.ts'
import { addToTotals, createTotals, fitsTotal, Overtaken } from '../ledger/totals.ts'
import type { Cursor } from './lease.ts'

interface SlotSnapshot extends Cursor {
  count: bigint
}

/** A counter as read: some or all of its non-empty slots, and the version of its total at that instant. */
interface CounterSnapshot extends CounterPlace {
  /** `null` if it has no total yet. */
  version: bigint | null
  total: bigint
  slots: SlotSnapshot[]
  /** The sum of the slots. */
  amount: bigint
}

/** Consecutive non-empty slots in primary key order, by counter. */
export interface RollUpPage {
  /** Those that can be moved. */
  counters: readonly CounterSnapshot[]
  /** How many others there are: total, amount or a slot would leave signed 64-bit integers. */
  stuck: number
  last: Cursor | null
  exhausted: boolean
  /** Whether the last counter has more slots. Then it is the only one. */
  cut: boolean
}

const TOTAL = `(SELECT CONCAT(t.version, ' ', t.count) FROM counter_totals AS t
  WHERE t.record_type = s.record_type AND t.record_id = s.record_id)`

/**
 * Reads the next non-empty slots, with the versions of their totals, from one snapshot and without locks. If the last counter
 * does not fit, it is left to the next page, unless it is the only one: moved in one piece, a counter costs only one change of
 * its total.
 * @param position `bounds`: `null` for all record ids; `after`: the last slot of the previous page
 * @param limit the most slots in the page
 */
export async function readRollUpPage(
  db: Executor,
  { bounds, after }: { bounds: { first: bigint; last: bigint } | null; after: Cursor | null },
  limit: number,
): Promise<RollUpPage> {
  // vtgate sends BETWEEN to the range's shard only. It merges a subquery for the same record id into it, but not a join.
  const within = bounds === null ? '' : `AND s.record_id BETWEEN ${bounds.first} AND ${bounds.last}`
  const [resume, resumeAt] = afterSql(
    ['s.record_type', 's.record_id', 's.slot'],
    after && [after.recordType, after.recordId, after.slot],
  )
  const { rows } = await db.execute(
    `SELECT ${packedSql('s.record_type', 's.record_id', 's.slot', 's.count', TOTAL)}
     FROM slotted_counters AS s FORCE INDEX (pending)
     WHERE s.pending = 1 ${within} ${resume}
     ORDER BY s.record_type, s.record_id, s.slot LIMIT ?`,
    [...resumeAt, limit + 1],
  )
  const counters: CounterSnapshot[] = []
  for (const row of rows.slice(0, limit)) {
    const { version, total, ...slot } = snapshotOf(row)
    const last = counters.at(-1)
    if (last !== undefined && isOf(last, slot)) {
      last.slots.push(slot)
      last.amount += slot.count
    } else {
      const { recordType, recordId, count } = slot
      counters.push({ recordType, recordId, version, total, slots: [slot], amount: count })
    }
  }
  // The row beyond the limit tells whether the last counter has more slots.
  const following = rows[limit]
  const cut = following !== undefined && isOf(counters.at(-1)!, snapshotOf(following))
  const leave = cut && counters.length > 1
  if (leave) counters.pop()
  const movable = counters.filter(
    ({ total, amount, slots }) =>
      [total + amount, amount].every(fitsTotal) && slots.every(({ count }) => fitsTotal(count)),
  )
  return {
    counters: movable,
    stuck: counters.length - movable.length,
    last: counters.at(-1)?.slots.at(-1) ?? null,
    exhausted: following === undefined,
    cut: cut && !leave,
  }
}

function snapshotOf(row: Record<string, unknown>) {
  const [recordType, recordId, slot, count, version, total = 0] = unpack(row)
  return {
    recordType: Number(recordType),
    recordId: BigInt(recordId!),
    slot: BigInt(slot!),
    count: BigInt(count!),
    version: version === undefined ? null : BigInt(version),
    total: BigInt(total),
  }
}

const isOf = (counter: CounterSnapshot, slot: Cursor) =>
  counter.recordId === slot.recordId && counter.recordType === slot.recordType

/**
 * Moves the counts of a page from the slots into the totals and the history, in one zero-sum transaction. Exactly what was read
 * is added to the totals and subtracted from the slots, whatever the slots hold by now. If several runs read the same counts,
 * the versions let only one of them succeed.
 * @param counters all in one range
 * @param options `at`: the run; its hour, day, week and month get the counts. `rangeLane`: the lane of the range's sums
 * @throws {Overtaken} another run moved some first; nothing was changed
 * @throws {DatabaseFailure} possibly with an unknown outcome; in any case, the page can be read again
 */
export async function moveRollUpPage(
  db: Database,
  counters: readonly CounterSnapshot[],
  { at, rangeLane }: { at: Date; rangeLane: bigint },
): Promise<void> {
  const moves = await createTotals(db, counters)
  await db.transaction(async (transaction) => {
    const added = addToTotals(transaction, moves, at)
    // Writes the texts while the database works on that statement.
    const subtractions = subtractionsOf(counters)
    const addHistory = additionToPeriods(moves, at, rangeLane)
    await added
    await addHistory(transaction)
    // Without a total, no version guards the counter: it may have been rolled up or deleted since, and a slot may not hold
    // what was read. Such a slot stays as it is, and does not count 2 as the others do.
    const guarded = counters.every(({ version }) => version !== null)
    const slots = counters.reduce((sum, { slots }) => sum + slots.length, 0)
    // Last, because writers need these rows: they stay locked for only one more round trip, the COMMIT. An upsert, so that a
    // slot that was pruned meanwhile comes back with a negative count. The batch id of a slot stays as it is.
    const { rowsAffected } = await transaction.execute(
      `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, kept_until)
       VALUES ${subtractions}
       ON DUPLICATE KEY UPDATE count = count + VALUES(count)${guarded ? '' : ' * (count DIV VALUES(count) < 0)'}`,
    )
    if (!guarded && rowsAffected !== 2 * slots) throw new Overtaken()
  })
}

export function subtractionsOf(
  counters: readonly (CounterPlace & { slots: readonly Pick<SlotSnapshot, 'slot' | 'count'>[] })[],
): string {
  // Integers, written into the statement: see applyBatch. The hour 0 is for slots that were pruned meanwhile: they may be
  // pruned again as soon as they are empty.
  const rows = counters.flatMap(({ recordType, recordId, slots }) => {
    const counter = `${recordType},${recordId}`
    return slots.map(({ slot, count }) => `(${counter},${slot},${-count},0,0)`)
  })
  return rows.join(',')
}
