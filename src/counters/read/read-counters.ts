import type { Executor } from '../../database/database.ts'
import { toBigInt, toDate } from '../../database/values.ts'
import { DAY_MS, HOUR_MS } from '../calendar.ts'
import { type CounterAddress, counterId, distinct } from '../counter-address.ts'
import {
  boundedPendingSql,
  counterListsSql,
  counterSql,
  MAX_PENDING,
  MAX_PUBLIC_PENDING,
  pendingOfOneSql,
  placeOf,
} from '../counters-sql.ts'
import { partsSql } from '../history/rows-sql.ts'
import { type Selection, selectionOf, spanOf } from '../history/selection.ts'

export const MAX_READ = 1_000

/**
 * A number adds total and pending slots of counters with at most so many, from one snapshot, so that a roll-up is seen whole or
 * not at all. Of all others, and with `rolled`, it is the totals only.
 */
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

/** Reads at most `MAX_READ` counters of any types, in the order given. In a list, one without a row reads as zeros. */
export async function readCounters(
  db: Executor,
  counters: readonly CounterAddress[],
  consistency: Consistency = MAX_PENDING,
): Promise<Reading[]> {
  const different = distinct(counters)
  if (different.length === 0) return []
  if (different.length === 1 && consistency !== 'rolled') {
    const reading = await readOne(db, different[0]!, consistency)
    return counters.map(() => reading)
  }
  const pending = consistency === 'rolled' ? 'NULL' : boundedPendingSql(consistency)
  // One text, because the driver decodes each column; `counterId` writes the counter likewise. The index is named because a long
  // list makes the optimizers guess instead of look (eq_range_index_dive_limit).
  const select = (list: string) =>
    `SELECT CONCAT_WS(',', CONCAT(record_type, '/', record_id), count, COALESCE(${pending}, ''), rolled_up_at) AS reading
      FROM counters AS n FORCE INDEX (PRIMARY) WHERE ${list}`
  const { rows } = await db.execute(counterListsSql(different).map(select).join(' UNION ALL '))
  const readings = new Map(
    rows.map(({ reading }) => {
      const [id, total, pending, rolledUpAt = null] = String(reading).split(',')
      const read = { total: toBigInt(total), pending: pending === '' ? null : toBigInt(pending) }
      return [id!, { ...read, rolledUpAt: toDate(rolledUpAt) }]
    }),
  )
  const zero = { total: 0n, pending: consistency === 'rolled' ? null : 0n, rolledUpAt: null }
  return counters.map((counter) => readings.get(counterId(counter)) ?? zero)
}

/** vtgate sends all its parts to one shard as one query, because they name the same bucket. */
async function readOne(db: Executor, counter: CounterAddress, most: number): Promise<Reading> {
  const { column, from } = pendingOfOneSql(counter, most)
  // A counter may have slots and no row.
  const total = `SELECT CONCAT_WS(',', count, rolled_up_at) FROM counters WHERE ${counterSql(counter)}`
  const { rows } = await db.execute(`SELECT COALESCE((${total}), '0') AS total, ${column} AS pending FROM ${from}`)
  const [count, rolledUpAt = null] = String(rows[0]!.total).split(',')
  const pending = rows[0]!.pending
  return {
    total: toBigInt(count),
    pending: pending === null ? null : toBigInt(pending),
    rolledUpAt: toDate(rolledUpAt),
  }
}

/** Periods that end now, in hours. */
export const RECENT_PERIOD_HOURS = { day: 24, week: 7 * 24, month: 30 * 24 } as const

export type RecentPeriod = keyof typeof RECENT_PERIOD_HOURS

/** The most counters that one statement reads. */
export const MAX_RECENT = 50

const UTC = { dateAt: (at: number) => Math.floor(at / DAY_MS) * DAY_MS }

/** A period that ends now: the hours that begin in it up to the next day, and all days from then on. */
export function recentSelection(period: RecentPeriod, now: Date): Selection {
  const after = now.getTime() - RECENT_PERIOD_HOURS[period] * HOUR_MS
  return selectionOf(spanOf(UTC, after + 1, UTC.dateAt(now.getTime()) + DAY_MS))
}

/**
 * Reads what was counted in a period that ends now, the current hour and pending slots included. One snapshot for each counter: a
 * roll-up is seen whole or not at all. A counter has at most 23 rows of hours, 30 of days, and `MAX_PUBLIC_PENDING` slots; others
 * are left out. Days include imported counts.
 * @param counters at most `MAX_RECENT`
 * @returns the counts, in the order of the counters
 */
export async function readRecentPeriod(
  db: Executor,
  counters: readonly CounterAddress[],
  period: RecentPeriod,
  now: Date,
): Promise<bigint[]> {
  const selects = counterListsSql(distinct(counters)).flatMap((list) => [
    ...partsSql({ counters: list }, recentSelection(period, now), 0).map(
      ({ from }) =>
        `SELECT h.record_type, h.record_id, SUM(h.count) AS count ${from} GROUP BY h.record_type, h.record_id, h.bucket`,
    ),
    `SELECT record_type, record_id, ${boundedPendingSql(MAX_PUBLIC_PENDING)}
      FROM counters AS n FORCE INDEX (PRIMARY) WHERE ${list}`,
  ])
  const { rows } = await db.execute(selects.join('\nUNION ALL '))
  const counts = new Map<string, bigint>()
  for (const row of rows) {
    const id = counterId(placeOf(row))
    counts.set(id, (counts.get(id) ?? 0n) + toBigInt(row.count ?? 0))
  }
  return counters.map((counter) => counts.get(counterId(counter)) ?? 0n)
}
