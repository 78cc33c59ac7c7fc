import type { Executor } from '../../database/database.ts'
import { toBigInt, toDate } from '../../database/values.ts'
import { PERIODS } from '../calendar.ts'
import { counterSql, pendingSlotsSql } from '../counters-sql.ts'
import type { CounterAddress } from '../keys/counter-address.ts'
import type { DayHistory } from '../ledger/periods.ts'

/** The most rows of slots, history and adjustments of a counter that is deleted, renamed or merged. */
export const MAX_ROWS = 50_000

interface Slot {
  slot: bigint
  count: bigint
}

/** A counter at one instant, and the target of a move. */
export interface CounterState {
  /** Whether it has a total, a pending count, or a name that is not marked. */
  exists: boolean
  total: bigint
  /** The version of its total; `null` if it has none. */
  version: bigint | null
  /** In primary key order. */
  slots: Slot[]
  adjustments: bigint
  /** Slots, hours, periods and adjustments; more than `MAX_ROWS` if there are too many. */
  rows: number
  target: { exists: boolean; total: bigint; version: bigint | null }
}

/** Reads a counter without locks. vtgate may read the target apart, so the versions of both totals must guard the result. */
export async function readState(
  db: Executor,
  source: CounterAddress,
  target: CounterAddress | null,
): Promise<CounterState> {
  const where = `WHERE ${counterSql(source)}`
  const counted = (table: string) =>
    `UNION ALL SELECT 'rows', COUNT(*), 0 FROM (SELECT 1 FROM ${table} FORCE INDEX (PRIMARY) ${where} LIMIT ${MAX_ROWS + 1}) AS r`
  const { rows } = await db.execute(
    `SELECT 'total' AS part, version AS id, count FROM counter_totals ${where}
     UNION ALL SELECT 'name', 0, 0 FROM counter_names ${where} AND gone_hour IS NULL
     UNION ALL SELECT 'adjustments', 0, SUM(count) FROM counter_adjustments ${where}
     ${['counter_history', 'counter_periods', 'counter_adjustments'].map(counted).join('\n')}
     ${target === null ? '' : targetSql(target)}
     UNION ALL (SELECT 'slot', slot, count FROM ${pendingSlotsSql(source)} LIMIT ${MAX_ROWS + 1})`,
  )
  const parts = Map.groupBy(rows, ({ part }) => String(part))
  const all = <T>(part: string, to: (row: Record<string, unknown>) => T): T[] => (parts.get(part) ?? []).map(to)
  const totalOf = (part: string) =>
    all(part, ({ id, count }) => ({ version: toBigInt(id), total: toBigInt(count) }))[0] ?? { version: null, total: 0n }
  const slots = all('slot', ({ id, count }): Slot => ({ slot: toBigInt(id), count: toBigInt(count) })).sort((a, b) =>
    a.slot < b.slot ? -1 : 1,
  )
  const own = totalOf('total')
  const ofTarget = totalOf('target')
  return {
    ...own,
    exists: own.version !== null || slots.length > 0 || parts.has('name'),
    slots,
    adjustments: all('adjustments', ({ count }) => toBigInt(count ?? 0))[0] ?? 0n,
    rows: all('rows', ({ id }) => Number(toBigInt(id))).reduce((sum, rows) => sum + rows, slots.length),
    target: { ...ofTarget, exists: ofTarget.version !== null || parts.has('target slot') },
  }
}

function targetSql(target: CounterAddress): string {
  return `UNION ALL SELECT 'target', version, count FROM counter_totals WHERE ${counterSql(target)}
     UNION ALL (SELECT 'target slot', 0, 0 FROM ${pendingSlotsSql(target)} LIMIT 1)`
}

/** Reads the days of a counter with their hours. */
export async function readDays(db: Executor, counter: CounterAddress): Promise<DayHistory[]> {
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
