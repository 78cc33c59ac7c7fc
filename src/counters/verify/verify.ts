import type { Database } from '../../database/database.ts'
import type { HourRule, Mismatch } from './mismatch.ts'
import { nextRecordType, verifyCounters } from './verify-counters.ts'
import { verifyTypeCalendar, verifyTypeDays, verifyTypeHours } from './verify-types.ts'

export const MAX_VERIFIED = 500
/** Rows per counter that a page may read. It ends early when they are used up. A larger counter gets its own page. */
const ROWS_PER_COUNTER = 40

export interface VerifiedPage {
  /** Counters checked; 0 for the pages at the end, which check types. */
  checked: number
  wrong: Mismatch[]
  /** Where the next page begins; `null` if everything has been checked. */
  next: VerifyPosition | null
}

/** Where a page begins. Counters come first, then the days of types, their hours, and their weeks and months. */
export type VerifyPosition =
  | { phase: 'counters'; recordType: number; recordId: bigint }
  | { phase: 'days'; recordType: number; start: string }
  | { phase: 'hours'; start: string }
  | { phase: 'calendar'; recordType: number }

export const FIRST_POSITION: VerifyPosition = { phase: 'counters', recordType: 0, recordId: 0n }

export interface VerifyOptions extends HourRule {
  from: VerifyPosition
  limit: number
}

/**
 * Checks one page: whether the tables agree with each other. `Mismatch.what` lists the sums. Each comparison is one statement,
 * so it reads from one snapshot: concurrent roll-ups, settings and imports are seen whole or not at all. Even so, a mismatch is
 * read a second time, and reported only if it persists. Pending slots would be on both sides of every sum, so they are not
 * read.
 *
 */
export async function verifyPage(db: Database, options: VerifyOptions): Promise<VerifiedPage> {
  const { from } = options
  const rows = Math.min(options.limit, MAX_VERIFIED) * ROWS_PER_COUNTER
  switch (from.phase) {
    case 'counters': {
      const recordType = await nextRecordType(db, from.recordType)
      if (recordType === null) return { checked: 0, wrong: [], next: { phase: 'days', recordType: 0, start: '' } }
      const recordId = recordType === from.recordType ? from.recordId : 0n
      const page = await verifyCounters(db, { ...options, recordType, recordId, rows })
      const next = page.next ?? { recordType: recordType + 1, recordId: 0n }
      return { checked: page.checked, wrong: page.wrong, next: { phase: 'counters', ...next } }
    }
    case 'days': {
      const recordType = await nextRecordType(db, from.recordType)
      if (recordType === null) return { checked: 0, wrong: [], next: { phase: 'hours', start: '' } }
      const page = await verifyTypeDays(db, recordType, recordType === from.recordType ? from.start : '', rows)
      const next = page.next === null ? { recordType: recordType + 1, start: '' } : { recordType, start: page.next }
      return { checked: 0, wrong: page.wrong, next: { phase: 'days', ...next } }
    }
    case 'hours': {
      const page = await verifyTypeHours(db, options, from.start, rows)
      const next: VerifyPosition =
        page.next === null ? { phase: 'calendar', recordType: 0 } : { phase: 'hours', start: page.next }
      return { checked: 0, wrong: page.wrong, next }
    }
    case 'calendar': {
      const recordType = await nextRecordType(db, from.recordType)
      if (recordType === null) return { checked: 0, wrong: [], next: null }
      const wrong = await verifyTypeCalendar(db, recordType)
      return { checked: 0, wrong, next: { phase: 'calendar', recordType: recordType + 1 } }
    }
  }
}
