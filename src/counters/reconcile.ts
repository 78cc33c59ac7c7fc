import type { Executor } from '../database/database.ts'
import { nextRecordType, reconcileCounters } from './reconcile-counters.ts'
import { type HourRule, reconcileCalendar, reconcileDays, reconcileHours } from './reconcile-types.ts'

/** What may not add up: a total, the hours of a day together, a type's hour, or a period that is made of days. */
export const MISMATCHES = ['total', 'hours', 'hour', 'day', 'week', 'month'] as const

/** Most counters one page checks. */
export const MAX_RECONCILED = 500
/** Rows for each counter of a page. A page ends early where they are used up; a counter that has more is a page of its own. */
const ROWS_PER_COUNTER = 40

/** Two things that must say the same and do not. */
export interface Mismatch {
  recordType: number
  /** `null`: it is about the type as a whole. */
  recordId: bigint | null
  /** `total`, a week or a month: is not what the days say. An hour of a type: is not what its counters say. `hours` of a day. */
  what: (typeof MISMATCHES)[number]
  /** First day of the period, `2026-11-20`, or its hour, `2026-11-20T10:00:00Z`; `null` for totals. */
  start: string | null
  is: bigint
  shouldBe: bigint
}

/** What one page found. */
export interface ReconciledPage {
  /** Counters checked; 0 for the pages at the end, which are about types. */
  checked: number
  wrong: Mismatch[]
  /** Where to go on; `null`: everything was checked. */
  next: ReconcilePosition | null
}

/** Where a page begins: with the counters of a type, then the days and the hours of types, then their weeks and months. */
export type ReconcilePosition =
  | { phase: 'counters'; recordType: number; recordId: bigint }
  | { phase: 'days'; recordType: number; start: string }
  | { phase: 'hours'; start: string }
  | { phase: 'calendar'; recordType: number }

/** The beginning of everything. */
export const FIRST_POSITION: ReconcilePosition = { phase: 'counters', recordType: 0, recordId: 0n }

/** How to check. */
export interface ReconcileOptions extends HourRule {
  from: ReconcilePosition
  /** Most counters to check, up to `MAX_RECONCILED`. */
  limit: number
}

/**
 * Checks one page of what the tables say against each other:
 *
 * - a counter's total is the sum of its days and adjustments;
 * - each of its weeks and months is the sum of the days in it;
 * - each of its days is the sum of its hours, where all of them are kept (see `HourRule`);
 * - each day and hour of a type is the sum of its counters', each week and month that of its days.
 *
 * Everything is compared within one statement, hence in one snapshot: whatever counts, rolls up or sets meanwhile is seen
 * whole or not at all. What differs is read once more all the same, and reported only if it still does.
 *
 * Pending slots are on both sides of every sum, so they are not read: a counter that was never rolled up, set or imported has
 * nothing that could differ.
 *
 * @throws {DatabaseFailure}
 */
export async function reconcile(db: Executor, options: ReconcileOptions): Promise<ReconciledPage> {
  const { from } = options
  const rows = Math.min(options.limit, MAX_RECONCILED) * ROWS_PER_COUNTER
  switch (from.phase) {
    case 'counters': {
      const recordType = await nextRecordType(db, from.recordType)
      if (recordType === null) return { checked: 0, wrong: [], next: { phase: 'days', recordType: 0, start: '' } }
      const recordId = recordType === from.recordType ? from.recordId : 0n
      const page = await reconcileCounters(db, { ...options, recordType, recordId, rows })
      const next = page.next ?? { recordType: recordType + 1, recordId: 0n }
      return { checked: page.checked, wrong: page.wrong, next: { phase: 'counters', ...next } }
    }
    case 'days': {
      const recordType = await nextRecordType(db, from.recordType)
      if (recordType === null) return { checked: 0, wrong: [], next: { phase: 'hours', start: '' } }
      const page = await reconcileDays(db, recordType, recordType === from.recordType ? from.start : '', rows)
      const next = page.next === null ? { recordType: recordType + 1, start: '' } : { recordType, start: page.next }
      return { checked: 0, wrong: page.wrong, next: { phase: 'days', ...next } }
    }
    case 'hours': {
      const page = await reconcileHours(db, options, from.start, rows)
      const next: ReconcilePosition =
        page.next === null ? { phase: 'calendar', recordType: 0 } : { phase: 'hours', start: page.next }
      return { checked: 0, wrong: page.wrong, next }
    }
    case 'calendar': {
      const recordType = await nextRecordType(db, from.recordType)
      if (recordType === null) return { checked: 0, wrong: [], next: null }
      const wrong = await reconcileCalendar(db, recordType)
      return { checked: 0, wrong, next: { phase: 'calendar', recordType: recordType + 1 } }
    }
  }
}
