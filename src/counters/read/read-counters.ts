import type { Executor } from '../../database/database.ts'
import { toBigInt, toDate } from '../../database/values.ts'
import { DAY_MS, startOf } from '../calendar.ts'
import { type CounterAddress, counterId, distinct } from '../counter-address.ts'
import { counterListsSql, counterSql, MAX_PENDING, pendingOfOneSql, sameCounterSql } from '../counters-sql.ts'
import { rowsSql } from '../history/rows-sql.ts'
import { rowsOf, type Selection, selectionOf } from '../history/selection.ts'

export const MAX_READ = 1_000

/** Days in UTC up to today. */
export const RECENT_DAYS = { day: 1, week: 7, month: 30 } as const

export type RecentPeriod = keyof typeof RECENT_DAYS

/** Today in UTC, and the days before it. */
export function recentDays(period: RecentPeriod, now: Date): Selection {
  const nextDay = startOf('day', now).getTime() + DAY_MS
  const firstDay = nextDay - RECENT_DAYS[period] * DAY_MS
  return selectionOf({ from: firstDay, to: nextDay, firstDay, nextDay })
}

/** A number adds total and pending slots, of counters with at most so many, from one snapshot. All else is the totals only. */
export type Consistency = number | 'rolled'

export interface Reading {
  total: bigint
  /** Counted and not rolled up yet; `null` if that was not read. */
  pending: bigint | null
  /** `null` if never. */
  rolledUpAt: Date | null
}

/** The count: as of the last roll-up if the pending count was not read. */
export function countIn({ total, pending }: Pick<Reading, 'total' | 'pending'>): bigint {
  return total + (pending ?? 0n)
}

/** Whether a reading includes what is pending. */
export function consistencyOf({ pending }: Pick<Reading, 'pending'>): 'exact' | 'rolled' {
  return pending === null ? 'rolled' : 'exact'
}

/**
 * Reads at most `MAX_READ` counters of any types, in the order given. In a list, one without a row reads as zeros.
 * @param days up to today: `total` is what was counted in them, imports included. `null`: all time
 */
export async function readCounters(
  db: Executor,
  counters: readonly CounterAddress[],
  consistency: Consistency = MAX_PENDING,
  days: Selection | null = null,
): Promise<Reading[]> {
  const different = distinct(counters)
  if (different.length === 0) return []
  if (different.length === 1 && consistency !== 'rolled') {
    const reading = await readOne(db, different[0]!, consistency, days)
    return counters.map(() => reading)
  }
  const pending = consistency === 'rolled' ? 'NULL' : boundedPendingSql(consistency)
  // One text, because the driver decodes each column; `counterId` writes the counter likewise. The index is forced, because with a
  // long list the optimizers guess (eq_range_index_dive_limit).
  const select = (list: string) =>
    `SELECT CONCAT_WS(',', CONCAT(record_type, '/', record_id), ${totalSql(days, sameCounterSql('h', 'n'))}, COALESCE(${pending}, ''), rolled_up_at) AS reading
      FROM counters AS n FORCE INDEX (PRIMARY) WHERE ${list}`
  const { rows } = await db.execute(counterListsSql(different).map(select).join(' UNION ALL '))
  const readings = new Map(
    rows.map(({ reading }) => {
      const [id, total, pending, rolledUpAt = null] = String(reading).split(',')
      return [id!, readingOf(total, pending || null, rolledUpAt)]
    }),
  )
  const zero = { total: 0n, pending: consistency === 'rolled' ? null : 0n, rolledUpAt: null }
  return counters.map((counter) => readings.get(counterId(counter)) ?? zero)
}

/** vtgate sends all its parts to one shard as one query, because they name the same bucket. */
async function readOne(db: Executor, counter: CounterAddress, most: number, days: Selection | null): Promise<Reading> {
  const { column, from } = pendingOfOneSql(counter, most)
  // A counter may have slots and no row.
  const own = counterSql(counter)
  const total = `SELECT CONCAT_WS(',', ${totalSql(days, own)}, rolled_up_at) FROM counters WHERE ${own}`
  const { rows } = await db.execute(`SELECT COALESCE((${total}), '0') AS total, ${column} AS pending FROM ${from}`)
  const [count, rolledUpAt = null] = String(rows[0]!.total).split(',')
  return readingOf(count, rows[0]!.pending, rolledUpAt)
}

function readingOf(total: unknown, pending: unknown, rolledUpAt: unknown): Reading {
  return {
    total: toBigInt(total),
    pending: pending === null ? null : toBigInt(pending),
    rolledUpAt: toDate(rolledUpAt),
  }
}

/** SQL of a column. @param own the condition of the counter's rows `h` */
function totalSql(days: Selection | null, own: string): string {
  if (days === null) return 'count'
  return `(SELECT COALESCE(SUM(h.count), 0) ${rowsSql({ counters: own }, [...rowsOf([days], 0)])})`
}

/** SQL of a column: the pending count of `counters AS n`. It names the bucket of the row, so vtgate keeps it within its statement. */
function boundedPendingSql(most: number): string {
  const slots = `slotted_counters AS s FORCE INDEX (pending) WHERE s.pending = 1 AND ${sameCounterSql('s', 'n')}`
  return `IF((SELECT 1 FROM ${slots} LIMIT ${most}, 1) IS NULL, (SELECT COALESCE(SUM(s.count), 0) FROM ${slots}), NULL)`
}
