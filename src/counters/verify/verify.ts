import type { Database } from '../../database/database.ts'
import type { HourRule, Mismatch } from './mismatch.ts'
import type { VerifyPosition } from './position.ts'
import { nextRecordType, verifyCounters } from './verify-counters.ts'
import { verifyTypeCalendar, verifyTypeDays, verifyTypeHours } from './verify-types.ts'

export const MAX_VERIFIED = 500
/** Rows per counter that a page may read. It ends early when they are used up. A larger counter gets its own page. */
const ROWS_PER_COUNTER = 40

export interface VerifiedPage {
  /** Counters checked; 0 for the pages at the end, which check types. */
  checked: number
  wrong: Mismatch[]
  next: VerifyPosition | null
}

/** Where the next phase begins, after the last type. */
const AFTER: Record<'counters' | 'days' | 'calendar', VerifyPosition | null> = {
  counters: { phase: 'days', recordType: 0, start: '' },
  days: { phase: 'hours', start: '' },
  calendar: null,
}

export interface VerifyOptions extends HourRule {
  from: VerifyPosition
  limit: number
}

/**
 * Checks one page: whether the tables agree with each other. `Mismatch.what` lists the sums. Each comparison is one statement,
 * so it reads from one snapshot: concurrent roll-ups, settings and imports are seen whole or not at all. Even so, a mismatch is
 * read a second time, and reported only if it persists. Pending slots would be on both sides of every sum, so they are not
 * read.
 */
export async function verifyPage(db: Database, options: VerifyOptions): Promise<VerifiedPage> {
  const { from } = options
  const rows = Math.min(options.limit, MAX_VERIFIED) * ROWS_PER_COUNTER
  if (from.phase === 'hours') {
    const { wrong, next } = await verifyTypeHours(db, options, from.start, rows)
    return {
      checked: 0,
      wrong,
      next: next === null ? { phase: 'calendar', recordType: 0 } : { phase: 'hours', start: next },
    }
  }
  const recordType = await nextRecordType(db, from.recordType)
  if (recordType === null) return { checked: 0, wrong: [], next: AFTER[from.phase] }
  const continues = recordType === from.recordType
  switch (from.phase) {
    case 'counters': {
      const recordId = continues ? from.recordId : 0n
      const { checked, wrong, next } = await verifyCounters(db, { ...options, recordType, recordId, rows })
      return { checked, wrong, next: { phase: 'counters', ...(next ?? { recordType: recordType + 1, recordId: 0n }) } }
    }
    case 'days': {
      const { wrong, next } = await verifyTypeDays(db, recordType, continues ? from.start : '', rows)
      const start = next === null ? { recordType: recordType + 1, start: '' } : { recordType, start: next }
      return { checked: 0, wrong, next: { phase: 'days', ...start } }
    }
    case 'calendar': {
      const wrong = await verifyTypeCalendar(db, recordType)
      return { checked: 0, wrong, next: { phase: 'calendar', recordType: recordType + 1 } }
    }
  }
}
