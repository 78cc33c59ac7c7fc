import type { Executor } from '../../database/database.ts'
import { toBigInt } from '../../database/values.ts'
import { DAY_MS, midnightOf, PERIODS } from '../calendar.ts'
import type { CounterPlace } from '../counter-address.ts'
import { counterSql } from '../counters-sql.ts'

/** The most counters that are compared, and the most days of each. */
export const MAX_COMPARED = 20
export const MAX_AGE_DAYS = 365

/** A counter by its age: its first day, and its counts from that one on. `null` if nothing was counted. */
export type ByAge = { first: number; counts: bigint[] } | null

/** Reads the first days (UTC) of up to `MAX_COMPARED` distinct counters, as of the last roll-up. @param now counts go up to this day */
export async function readByAge(db: Executor, counters: readonly CounterPlace[], now: number): Promise<ByAge[]> {
  const selects = counters.map(
    (counter, nth) => `(SELECT ${nth} AS nth, CAST(period_start AS CHAR) AS day, count
      FROM counter_periods FORCE INDEX (PRIMARY) WHERE ${counterSql(counter)} AND period = ${PERIODS.day} AND count <> 0
      ORDER BY period_start LIMIT ${MAX_AGE_DAYS})`,
  )
  const { rows } = selects.length === 0 ? { rows: [] } : await db.execute(selects.join(' UNION ALL '))
  const days = Map.groupBy(rows, ({ nth }) => Number(nth))
  return counters.map((_, nth) => {
    const counted = (days.get(nth) ?? []).map(({ day, count }) => ({
      at: midnightOf(String(day)),
      count: toBigInt(count),
    }))
    if (counted.length === 0) return null
    const first = Math.min(...counted.map(({ at }) => at))
    const age = Math.min(MAX_AGE_DAYS, Math.max(0, Math.floor((now - first) / DAY_MS)) + 1)
    const counts = Array<bigint>(age).fill(0n)
    for (const { at, count } of counted) if (at < first + age * DAY_MS) counts[(at - first) / DAY_MS] = count
    return { first, counts }
  })
}
