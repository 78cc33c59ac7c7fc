import type { Counter } from './counter.ts'

/**
 * SQL of a sub-select that adds up what is pending of one counter: `(SELECT …)`, always one row of one column, `0` if nothing
 * is.
 *
 * No index is named, because two of them do, each at its time. `pending` has the slots that hold something and nothing else, but
 * every one of them costs a step from there to its row. The primary key holds the rows themselves, side by side, but those too
 * that wait for pruning. For one counter both optimizers look into both indexes before they choose, and take the one that has
 * less to read: a thousand slots of which few are empty take a third of the time by primary key.
 *
 * Integers, written out rather than bound: see `applyBatch`.
 */
export function pendingOf({ recordType, recordId }: Pick<Counter, 'recordType' | 'recordId'>): string {
  return `(SELECT COALESCE(SUM(count), 0) FROM slotted_counters
    WHERE pending = 1 AND record_type = ${recordType} AND record_id = ${recordId})`
}
