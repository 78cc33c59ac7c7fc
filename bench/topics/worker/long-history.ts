import { PERIODS, startOf } from '../../../src/counters/calendar.ts'
import { counterValues } from '../../../src/counters/counters-sql.ts'
import { hash64 } from '../../../src/counters/ids.ts'
import { bucketOf } from '../../../src/database/buckets.ts'
import type { Deployment } from '../../harness/deployment.ts'

/** The counter with the long history. */
export const KEY = '/hello'
const COUNTERS = 160
const YEARS = 20
const HOUR_DAYS = 90
/** Days of all other counters: 1,000, and the 1,000 before. */
const OTHER_DAYS = 2_010
const PER_HOUR = 40
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Inserts counters, and their history and that of their type. */
export async function fillHistory({ server, database }: Pick<Deployment, 'server' | 'database'>): Promise<void> {
  const insert = (table: string, rest: string) => server.query(`INSERT INTO \`${database}\`.${table} ${rest}`)
  const id = await hash64(KEY)
  const counters = Array.from({ length: COUNTERS - 1 }, (_, i) => [i + 1, `/page/${i + 1}`])
  const values = [[id, KEY], ...counters].map(([id, name]) => `(${counterOf(id!)},'${name}',5000000,1,NOW(3))`)
  await insert(
    'counters',
    `(record_type, record_id, bucket, name, count, version, rolled_up_at) VALUES ${values.join()}`,
  )
  const now = Date.now()
  const rows = new Map<string, number>()
  const first = Math.floor(now / DAY_MS) - Math.floor(YEARS * 365.2425)
  for (let day = first; day * DAY_MS <= now; day++) {
    for (const period of ['day', 'month'] as const) {
      const row = `${PERIODS[period]},'${text(startOf(period, new Date(day * DAY_MS)).getTime())}'`
      rows.set(row, (rows.get(row) ?? 0) + 24 * PER_HOUR)
    }
  }
  const hours: string[] = []
  for (let at = Math.floor(now / DAY_MS - HOUR_DAYS) * DAY_MS; at <= now; at += HOUR_MS) hours.push(`'${text(at)}'`)
  const ofType = [...rows].map(([row, count]) => `(1,${row},0,${bucketOf(0n)},${count * COUNTERS})`)
  const hoursOfType = hours.map((at) => `(1,${PERIODS.hour},${at},0,${bucketOf(0n)},${PER_HOUR * COUNTERS})`)
  await insert('type_history', `VALUES ${[...ofType, ...hoursOfType].join()}`)
  await insert(
    'counter_periods',
    `VALUES ${[...rows].map(([row, count]) => `(${counterOf(id)},${row},${count})`).join()}`,
  )
  await insert('counter_history', `VALUES ${hours.map((at) => `(${counterOf(id)},${at},${PER_HOUR})`).join()}`)
  const others = `AS h JOIN \`${database}\`.counters AS n ON n.record_id <> ${id}`
  await insert(
    'counter_periods',
    `SELECT 1, n.record_id, n.bucket, period, period_start, h.count + n.record_id FROM \`${database}\`.counter_periods ${others}
     WHERE period_start > '${text(now - OTHER_DAYS * DAY_MS)}'`,
  )
  // Of a ranking, only hours around midnight matter.
  await insert(
    'counter_history',
    `SELECT 1, n.record_id, n.bucket, period_start, h.count FROM \`${database}\`.counter_history ${others} WHERE HOUR(period_start) > 20`,
  )
}

const counterOf = (id: bigint | number | string) => counterValues({ recordType: 1, recordId: BigInt(id) })

function text(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ')
}
