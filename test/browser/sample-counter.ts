import { beforeAll } from 'vitest'
import { fillSampleSite, SAMPLE_COUNTERS } from '../../scripts/sample-site.ts'
import { PERIODS } from '../../src/counters/calendar.ts'
import { openDatabase } from '../../src/database/database.ts'
import { type Counter, counterOfFile } from './shipped-worker.ts'

/** Rows of hours for days in a time zone, rows of months for a year, and totals. */
type Rows = { from: Date; to?: Date } | { firstMonth: string } | 'totals'

/** A Worker for the tests of a file, with 13 months of 300 pages. */
export function sampleCounter(settings: Record<string, unknown> = {}): Counter {
  const counter = counterOfFile({ COUNTERS: SAMPLE_COUNTERS, ...settings })
  beforeAll(async () => {
    const now = new Date()
    await fillSampleSite(counter.databaseUrl, now)
    // Makes the status well.
    await counter.rollUp(now)
  })
  return counter
}

/** The counts of a type's keys, the highest first, as the database has them. */
export async function rankingOf({ databaseUrl }: Counter, type: keyof typeof SAMPLE_COUNTERS, of: Rows) {
  const time = (date: Date) => date.toISOString().slice(0, 19)
  const [table, condition, values] =
    of === 'totals'
      ? ['counters', 'TRUE', []]
      : 'firstMonth' in of
        ? ['counter_periods', `period = ${PERIODS.month} AND period_start >= ?`, [of.firstMonth]]
        : ['counter_history', 'period_start >= ? AND period_start < ?', [time(of.from), time(of.to ?? new Date())]]
  const { rows } = await openDatabase({ url: databaseUrl, deadlineMs: 60_000 }).execute(
    `SELECT CONVERT(name USING utf8mb4) AS name, SUM(count) AS n
     FROM ${table}${of === 'totals' ? '' : ' JOIN (SELECT record_type, record_id, name FROM counters) AS n USING (record_type, record_id)'}
     WHERE record_type = ? AND ${condition} GROUP BY name, record_id HAVING n > 0 ORDER BY n DESC, record_id DESC`,
    [SAMPLE_COUNTERS[type].record_type, ...values],
  )
  return rows.map(({ name, n }) => ({ key: String(name), count: Number(n) }))
}

/** The sum of a ranking. */
export const sumOf = (ranking: readonly { count: number }[]) => ranking.reduce((sum, { count }) => sum + count, 0)

/** A change as pages write it. */
export function changeText(now: number, before: number): string {
  if (now >= 10 * before) return `▲ ×${Math.floor(now / before).toLocaleString('en')}`
  const percent = Math.round((100 * Math.abs(now - before)) / before)
  return percent === 0 ? '0%' : `${now > before ? '▲' : '▼'} ${percent}%`
}
