import type { Executor } from '../../database/database.ts'
import { toBigInt, toDate } from '../../database/values.ts'
import { PERIODS } from '../calendar.ts'
import { counterSql, pendingSlotsSql, sameKeySql } from '../counters-sql.ts'
import type { CounterPlace } from '../keys/counter-address.ts'
import type { DayHistory } from '../ledger/periods.ts'

/** The most rows of slots, history and adjustments that one change deletes or moves. */
export const MAX_ROWS = 50_000

interface Slot {
  slot: bigint
  count: bigint
}

/** A counter at one instant, and the target of its move: the counter of another key in the same type. */
export interface CounterState extends CounterPlace {
  /** Whether it has a total, a pending count, or a name that is not marked. */
  exists: boolean
  total: bigint
  /** The version of its total; `null` if it has none. */
  version: bigint | null
  /** In primary key order. */
  slots: Slot[]
  pending: bigint
  adjustments: bigint
  target: { exists: boolean; total: bigint; version: bigint | null }
}

/**
 * Reads the counters of one key, from one snapshot and without locks. vtgate may read the targets apart, so the versions of all
 * totals must guard the result.
 * @param counters in primary key order
 * @param targetId the record id of the other key; `null` if there is none
 * @returns `states` in the order of the counters; `rows`: slots, hours, periods and adjustments of all of them, more than
 *   `MAX_ROWS` if there are too many
 */
export async function readStates(
  db: Executor,
  counters: readonly CounterPlace[],
  targetId: bigint | null,
): Promise<{ states: CounterState[]; rows: number }> {
  const where = `WHERE ${sameKeySql(counters)}`
  const counted = (table: string) =>
    `UNION ALL SELECT 'rows', COUNT(*), 0, 0 FROM (SELECT 1 FROM ${table} FORCE INDEX (PRIMARY) ${where} LIMIT ${MAX_ROWS + 1}) AS r`
  const targets = counters.map(({ recordType }) => ({ recordType, recordId: targetId }))
  const { rows } = await db.execute(
    `SELECT 'total' AS part, version AS id, count, record_type FROM counter_totals ${where}
     UNION ALL SELECT 'name', 0, 0, record_type FROM counter_names ${where} AND gone_hour IS NULL
     UNION ALL SELECT 'adjustments', 0, SUM(count), record_type FROM counter_adjustments ${where} GROUP BY record_type
     ${['counter_history', 'counter_periods', 'counter_adjustments'].map(counted).join('\n')}
     ${targets.map(targetSql).join('\n')}
     UNION ALL (SELECT 'slot', slot, count, record_type FROM slotted_counters ${where} AND pending = 1 LIMIT ${MAX_ROWS + 1})`,
  )
  const parts = Map.groupBy(rows, ({ part, record_type }) => `${part} ${record_type}`)
  const slots = rows.filter(({ part }) => part === 'slot').length
  return {
    states: counters.map((counter) => stateOf(counter, parts)),
    rows: (parts.get('rows 0') ?? []).reduce((sum, { id }) => sum + Number(toBigInt(id)), slots),
  }
}

/** @param parts the rows by part and type */
function stateOf(
  { recordType, recordId }: CounterPlace,
  parts: ReadonlyMap<string, Record<string, unknown>[]>,
): CounterState {
  const all = (part: string) => parts.get(`${part} ${recordType}`) ?? []
  const totalOf = (part: string) => {
    const [row] = all(part)
    return row ? { version: toBigInt(row.id), total: toBigInt(row.count) } : { version: null, total: 0n }
  }
  const slots = all('slot')
    .map(({ id, count }): Slot => ({ slot: toBigInt(id), count: toBigInt(count) }))
    .sort((a, b) => (a.slot < b.slot ? -1 : 1))
  const own = totalOf('total')
  const ofTarget = totalOf('target')
  return {
    recordType,
    recordId,
    ...own,
    exists: own.version !== null || slots.length > 0 || all('name').length > 0,
    slots,
    pending: slots.reduce((sum, { count }) => sum + count, 0n),
    adjustments: toBigInt(all('adjustments')[0]?.count ?? 0),
    target: { ...ofTarget, exists: ofTarget.version !== null || all('target slot').length > 0 },
  }
}

function targetSql({ recordType, recordId }: { recordType: number; recordId: bigint | null }): string {
  if (recordId === null) return ''
  const target = { recordType, recordId }
  return `UNION ALL SELECT 'target', version, count, record_type FROM counter_totals WHERE ${counterSql(target)}
     UNION ALL (SELECT 'target slot', 0, 0, record_type FROM ${pendingSlotsSql(target)} LIMIT 1)`
}

/** Reads the days of a counter with their hours. */
export async function readDays(db: Executor, counter: CounterPlace): Promise<DayHistory[]> {
  const where = `WHERE ${counterSql(counter)}`
  const { rows } = await db.execute(
    `SELECT 'day' AS part, CAST(period_start AS CHAR) AS at, count FROM counter_periods FORCE INDEX (PRIMARY)
       ${where} AND period = ${PERIODS.day}
     UNION ALL SELECT 'hour', CAST(period_start AS CHAR), count FROM counter_history FORCE INDEX (PRIMARY) ${where}`,
  )
  return [...Map.groupBy(rows, ({ at }) => String(at).slice(0, 10))].map(([day, parts]) => ({
    start: new Date(`${day}T00:00:00Z`),
    count: toBigInt(parts.find(({ part }) => part === 'day')?.count ?? 0),
    hours: parts
      .filter(({ part }) => part === 'hour')
      .map(({ at, count }) => ({ start: toDate(String(at).slice(0, 19))!, count: toBigInt(count) })),
  }))
}
