import type { Database, Executor } from '../database/database.ts'
import { toBigInt } from '../database/numbers.ts'
import { byPrimaryKey } from './counter.ts'
import { addToHistory } from './history.ts'
import type { Cursor } from './rollup-state.ts'
import { addToTotals, createTotals, fitsTotal, Overtaken } from './totals.ts'

/** A slot as the roll-up saw it. */
interface SeenSlot extends Cursor {
  count: bigint
}

/** A counter as the roll-up saw it: some or all of its non-empty slots, and the version of its total at that instant. */
export interface SeenCounter {
  recordType: number
  recordId: bigint
  /** `null`: the counter has no row in the totals yet. */
  version: bigint | null
  total: bigint
  slots: SeenSlot[]
}

/** Whether a counter's total can take what was seen of it, and the statements that move it as well: one that cannot is no page's end. */
export function fits(counter: SeenCounter): boolean {
  const amount = amountOf(counter)
  return fitsTotal(counter.total + amount) && fitsTotal(amount) && counter.slots.every(({ count }) => fitsTotal(count))
}

/** The sum of the slots that were seen. */
export function amountOf({ slots }: SeenCounter): bigint {
  return slots.reduce((sum, { count }) => sum + count, 0n)
}

/** Consecutive non-empty slots, in the order of the primary key, by counter. */
export interface RollUpPage {
  counters: readonly SeenCounter[]
  /** The last slot of the page; `null` if it is empty. */
  last: Cursor | null
  /** Whether there was nothing behind it. */
  exhausted: boolean
}

/**
 * Reads the next non-empty slots, with the versions of their totals, from one snapshot and without locks. A counter that may go on
 * behind the last of them is left to the next page, unless it is the only one: in one piece it costs one change of its total.
 *
 * @param after read on from here; `null`: from the beginning
 * @param limit most slots to read
 * @throws {DatabaseFailure}
 */
export async function readRollUpPage(db: Executor, after: Cursor | null, limit: number): Promise<RollUpPage> {
  // Spelled out, because MySQL does not use an index for (a, b, c) > (x, y, z).
  const resume = after
    ? `AND (s.record_type > ? OR (s.record_type = ? AND s.record_id > ?)
         OR (s.record_type = ? AND s.record_id = ? AND s.slot > ?))`
    : ''
  const { rows } = await db.execute(
    `SELECT s.record_type, s.record_id, s.slot, s.count, t.version, t.count AS total
     FROM slotted_counters AS s FORCE INDEX (pending)
     LEFT JOIN counter_totals AS t ON t.record_type = s.record_type AND t.record_id = s.record_id
     WHERE s.pending = 1 ${resume}
     ORDER BY s.record_type, s.record_id, s.slot LIMIT ?`,
    after
      ? [after.recordType, after.recordType, after.recordId, after.recordType, after.recordId, after.slot, limit + 1]
      : [limit + 1],
  )
  const counters: SeenCounter[] = []
  for (const row of rows.slice(0, limit)) {
    const { recordType, recordId } = addressOf(row)
    const slot = { recordType, recordId, slot: toBigInt(row.slot), count: toBigInt(row.count) }
    const counter = counters.at(-1)
    if (counter?.recordId === recordId && counter.recordType === recordType) counter.slots.push(slot)
    else {
      const version = row.version === null ? null : toBigInt(row.version)
      const total = row.total === null ? 0n : toBigInt(row.total)
      counters.push({ recordType, recordId, version, total, slots: [slot] })
    }
  }
  // One row more than the page may have tells whether its last counter goes on.
  const following = rows[limit]
  const cut = following !== undefined && byPrimaryKey(addressOf(following), counters.at(-1)!) === 0
  if (cut && counters.length > 1) counters.pop()
  return {
    counters,
    last: counters.at(-1)?.slots.at(-1) ?? null,
    exhausted: following === undefined,
  }
}

/** Of which counter a row is. */
const addressOf = (row: Record<string, unknown>) => ({
  recordType: Number(row.record_type),
  recordId: toBigInt(row.record_id),
})

/**
 * Moves what a page saw from the slots into the totals and the history, in one transaction whose every part is zero-sum:
 * exactly what was seen is added to the total and subtracted from the slots, whatever they hold by now. The versions let
 * one of several runs that saw the same do it.
 *
 * @param at the time of the run; the history of the hour, day, week and month it lies in is added to
 * @returns `false` if another run moved any of these counters first; nothing was changed then
 * @throws {DatabaseFailure} with an unknown outcome too; either way the page may simply be read again
 */
export async function moveRollUpPage(db: Database, counters: readonly SeenCounter[], at: Date): Promise<boolean> {
  await createTotals(db, counters)
  const moves = counters.map((counter) => ({
    recordType: counter.recordType,
    recordId: counter.recordId,
    version: counter.version,
    amount: amountOf(counter),
  }))
  try {
    await db.transaction(async (transaction) => {
      const added = addToTotals(transaction, moves, at)
      // Written while that is under way.
      const subtractions = subtractionsOf(counters)
      await added
      await addToHistory(transaction, moves, at)
      // Last, because these are the rows that writers want: they are locked for one more round trip, the COMMIT. An upsert,
      // so that a slot pruned meanwhile comes back negative rather than being missed. The batch mark stays as it is.
      await transaction.execute(
        `INSERT INTO slotted_counters (record_type, record_id, slot, count, batch, written_hour)
         VALUES ${subtractions}
         ON DUPLICATE KEY UPDATE count = count + VALUES(count)`,
      )
    })
    return true
  } catch (error) {
    if (error instanceof Overtaken) return false
    throw error
  }
}

/** What was seen in the slots, as rows to subtract. */
function subtractionsOf(counters: readonly SeenCounter[]): string {
  // Numbers of our own, written out: see applyBatch. An hour of 0 is for slots that were pruned meanwhile: they may go as soon
  // as they are empty again.
  const rows = counters.flatMap(({ recordType, recordId, slots }) => {
    const counter = `${recordType},${recordId}`
    return slots.map(({ slot, count }) => `(${counter},${slot},${-count},0,0)`)
  })
  return rows.join(',')
}
