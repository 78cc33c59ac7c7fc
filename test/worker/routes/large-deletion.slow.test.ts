import { expect, it } from 'vitest'
import { PERIODS } from '../../../src/counters/calendar.ts'
import { addressOfKey } from '../../../src/counters/keys/key-address.ts'
import { boundsOf, rangeOf } from '../../../src/counters/ranges.ts'
import { expectExact } from '../../harness/moves.ts'
import { sharedWorker } from '../../harness/worker.ts'
import { bePatient } from '../patience.ts'

const HOURS = 45_000
const PER_STATEMENT = 5_000

const { db, worker } = sharedWorker({ COUNTERS: { page_view: { record_type: 1 } } })

it('A counter with 45,000 hours, five years of them, is deleted, even if its COMMIT takes seconds', async () => {
  const { recordId } = await addressOfKey({ recordType: 1 }, 'old')
  const lane = boundsOf(rangeOf(recordId, db.ranges), db.ranges).first
  await worker.bring([{ type: 'page_view', key: 'old', count: HOURS }])
  await db.arrange('UPDATE counter_adjustments SET count = 0')
  await db.arrange('DELETE FROM type_history')
  const at = (hour: number) => `'2021-01-04' + INTERVAL ${hour} HOUR`
  for (let first = 0; first < HOURS; first += PER_STATEMENT) {
    const hours = Array.from({ length: PER_STATEMENT }, (_, i) => at(first + i))
    await db.insert(
      'counter_history',
      hours.map((start) => `(1, ${recordId}, ${start}, 1)`),
    )
    await db.insert(
      'type_history',
      hours.map((start) => `(1, 0, ${start}, ${lane}, 1)`),
    )
  }
  for (const [period, start] of [
    [PERIODS.day, 'DATE(period_start)'],
    [PERIODS.month, "DATE_FORMAT(period_start, '%Y-%m-01')"],
  ] as const) {
    await db.arrange(
      `INSERT INTO counter_periods (record_type, record_id, period, period_start, count)
       SELECT 1, ${recordId}, ${period}, ${start} AS start, COUNT(*) FROM counter_history GROUP BY start`,
    )
  }
  await db.arrange(
    `INSERT INTO type_history (record_type, period, period_start, range_lane, count)
     SELECT 1, period, period_start, ${lane}, count FROM counter_periods`,
  )
  await expectExact(db)
  // Longer than a statement of any other request may take, and less than the ten seconds of a change: on a busy machine, a minute.
  bePatient([10_000])
  await db.behave({ commitMs: 4_000 })
  const response = await worker.api('DELETE', '/v1/counters/page_view/old')
  await db.behave()
  expect([response.status, await response.json()]).toEqual([200, { type: 'page_view', key: 'old' }])
  expect(await db.number('SELECT COUNT(*) FROM counter_history')).toBe(0n)
  expect(await db.number('SELECT COUNT(*) FROM counter_periods')).toBe(0n)
  await expectExact(db)
})
