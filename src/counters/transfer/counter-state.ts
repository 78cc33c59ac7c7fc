import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/numbers.ts'
import { PERIODS } from '../calendar.ts'
import type { DayHistory } from '../ledger/periods.ts'
import { pendingSlotsSql } from '../pending-slots-sql.ts'
import { type Place, STAGES } from './transfer-records.ts'

/** The most days of the history that leave a counter in one transaction, each with up to 24 hours. */
export const MAX_DAYS = 50
/** The most slots that leave a counter in one transaction. */
export const MAX_SLOTS = 1_000
/** The most adjustments that leave a counter in one transaction. */
export const MAX_ADJUSTMENTS = 500

/** A slot, and the last batch that was applied to it. */
export interface Slot {
  slot: bigint
  count: bigint
  batch: bigint
}

/** What a source has at one instant, each part up to its bound. */
export interface SourceState {
  /** Whether there is anything: a total, a pending count or a name that is not marked. */
  exists: boolean
  total: bigint
  /** The version of its total; `null` if it has none. */
  version: bigint | null
  /** Up to `MAX_SLOTS` and one more. */
  slots: Slot[]
  /** Empty slots. */
  emptySlots: Slot[]
  /** Up to `MAX_ADJUSTMENTS` and one more, without that of the transfer. */
  adjustments: { id: bigint; count: bigint }[]
  /** The adjustment by which the transfer balances it; `null` if there is none. */
  balance: bigint | null
  /** Whether any of its adjustments is an import. */
  imported: boolean
  /** The latest days before the given one. */
  days: { start: string; count: bigint }[]
  /** Whether it has days from the given one on, or adjustments after the given time. */
  hasLater: boolean
  /** The transfer, and those that are not finished, each with its step. */
  transfers: { id: bigint; step: number }[]
}

/**
 * Reads what a source has, in one statement, so from one snapshot, and without locks.
 *
 * @param transfer `before`: the day before which days are read; `startedAt`: the time until which adjustments are read; `null` if all
 *   are
 */
export async function readSource(
  db: Executor,
  place: Place,
  { id, before, startedAt }: { id: bigint; before: string; startedAt: string | null },
): Promise<SourceState> {
  const { recordType, recordId } = place
  const where = `WHERE record_type = ${recordType} AND record_id = ${recordId}`
  const days = `counter_periods FORCE INDEX (PRIMARY) ${where} AND period = ${PERIODS.day} AND period_start`
  const adjustments = `counter_adjustments ${where} AND adjustment_id`
  const [old, later] =
    startedAt === null
      ? ['', '']
      : [
          `AND adjusted_at <= '${startedAt}'`,
          `UNION ALL (SELECT 'later', 0, 0, 0, NULL FROM ${adjustments} <> ${id} AND adjusted_at > '${startedAt}' LIMIT 1)`,
        ]
  const { rows } = await db.execute(
    `SELECT 'total' AS part, version AS id, count, 0 AS batch, NULL AS at FROM counter_totals ${where}
     UNION ALL SELECT 'name', 0, 0, 0, NULL FROM counter_names ${where} AND gone_hour IS NULL
     UNION ALL SELECT 'transfer', transfer_id, step, 0, NULL FROM counter_transfers
       ${where} AND (stage <> ${STAGES.finished} OR transfer_id = ${id})
     UNION ALL SELECT 'balance', 0, count, 0, NULL FROM ${adjustments} = ${id}
     UNION ALL (SELECT 'adjustment', adjustment_id, count, 0, NULL FROM ${adjustments} <> ${id} ${old}
       ORDER BY adjustment_id LIMIT ${MAX_ADJUSTMENTS + 1})
     ${later}
     UNION ALL (SELECT 'imported', 0, 0, 0, NULL FROM counter_adjustments ${where} AND kind = 2 LIMIT 1)
     UNION ALL (SELECT 'day', 0, count, 0, CAST(period_start AS CHAR) FROM ${days} < '${before}'
       ORDER BY period_start DESC LIMIT ${MAX_DAYS})
     UNION ALL (SELECT 'later', 0, 0, 0, NULL FROM ${days} >= '${before}' LIMIT 1)
     UNION ALL (SELECT 'slot', slot, count, batch, NULL FROM ${pendingSlotsSql(place)} LIMIT ${MAX_SLOTS + 1})
     UNION ALL (SELECT 'empty', slot, 0, batch, NULL FROM slotted_counters ${where} AND pending = 0 LIMIT ${MAX_SLOTS})`,
  )
  const parts = Map.groupBy(rows, ({ part }) => String(part))
  const all = <T>(part: string, to: (row: Record<string, unknown>) => T): T[] => (parts.get(part) ?? []).map(to)
  const slotOf = ({ id, count, batch }: Record<string, unknown>): Slot => {
    return { slot: toBigInt(id), count: toBigInt(count), batch: toBigInt(batch) }
  }
  const [total] = all('total', ({ id, count }) => ({ version: toBigInt(id), count: toBigInt(count) }))
  const slots = all('slot', slotOf)
  return {
    exists: total !== undefined || slots.length > 0 || parts.has('name'),
    total: total?.count ?? 0n,
    version: total?.version ?? null,
    slots: slots.sort((a, b) => (a.slot < b.slot ? -1 : 1)),
    emptySlots: all('empty', slotOf),
    adjustments: all('adjustment', ({ id, count }) => ({ id: toBigInt(id), count: toBigInt(count) })),
    balance: all('balance', ({ count }) => toBigInt(count))[0] ?? null,
    imported: parts.has('imported'),
    days: all('day', ({ at, count }) => ({ start: String(at).slice(0, 10), count: toBigInt(count) })),
    hasLater: parts.has('later'),
    transfers: all('transfer', ({ id, count }) => ({ id: toBigInt(id), step: Number(count) })),
  }
}

/** Reads the hours of days. */
export async function readDays(
  db: Executor,
  { recordType, recordId }: Place,
  days: SourceState['days'],
): Promise<DayHistory[]> {
  if (days.length === 0) return []
  const [first, last] = [days.at(-1)!.start, days[0]!.start]
  const { rows } = await db.execute(
    `SELECT CAST(period_start AS CHAR) AS at, count FROM counter_history FORCE INDEX (PRIMARY)
     WHERE record_type = ${recordType} AND record_id = ${recordId}
       AND period_start >= '${first}' AND period_start < '${last}' + INTERVAL 1 DAY`,
  )
  const hours = Map.groupBy(rows, ({ at }) => String(at).slice(0, 10))
  return days.map(({ start, count }) => ({
    start: new Date(`${start}T00:00:00Z`),
    count,
    hours: (hours.get(start) ?? []).map((row) => ({
      start: new Date(`${String(row.at).slice(0, 19).replace(' ', 'T')}Z`),
      count: toBigInt(row.count),
    })),
  }))
}
