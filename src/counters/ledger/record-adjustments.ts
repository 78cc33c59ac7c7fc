import type { Executor } from '../../database/database.ts'
import type { CounterPlace } from '../keys/counter-address.ts'
import { random63 } from '../random-id.ts'

/** The kinds of adjustments, with their numbers in the database. */
export const ADJUSTMENTS = { set: 1, import: 2 } as const
export type AdjustmentKind = keyof typeof ADJUSTMENTS
export const ADJUSTMENT_KINDS = Object.keys(ADJUSTMENTS) as AdjustmentKind[]

/**
 * Records adjustments: changes of totals other than by counting. Call it in the transaction that changes the totals.
 *
 * @param adjustments in primary key order, each counter once
 * @param at the time of the adjustment, by the caller's clock
 */
export async function recordAdjustments(
  transaction: Executor,
  kind: AdjustmentKind,
  adjustments: readonly (CounterPlace & { count: bigint })[],
  at: Date,
): Promise<void> {
  const id = random63()
  await transaction.execute(
    `INSERT INTO counter_adjustments (record_type, record_id, adjustment_id, kind, adjusted_at, count)
     VALUES ${adjustments.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')}`,
    adjustments.flatMap(({ recordType, recordId, count }) => [recordType, recordId, id, ADJUSTMENTS[kind], at, count]),
  )
}
