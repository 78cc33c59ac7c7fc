import { expect, it } from 'vitest'
import { fillSampleSite } from '../../../scripts/sample-site.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { takeDatabase } from '../../harness/taken-databases.ts'
import { verifyAll } from '../../harness/verify-all.ts'

const NOW = new Date('2026-11-25T18:20:00Z')

it('A sample site has 300 pages, visitors and files in 13 months, and every sum agrees', async () => {
  const { databaseUrl } = await takeDatabase()
  await fillSampleSite(databaseUrl, NOW)
  const db = openDatabase({ url: databaseUrl, deadlineMs: 60_000 })
  const rows = async (sql: string) => (await db.execute(sql)).rows
  expect(await verifyAll(db, { hourDays: 90, at: NOW })).toMatchObject({ checked: 605, wrong: [] })
  expect(await rows('SELECT record_type, COUNT(*) AS n FROM counters GROUP BY record_type')).toMatchObject([
    { n: '300' },
    { n: '5' },
    { n: '300' },
  ])
  expect(
    await rows(`SELECT MIN(period_start) AS first, MAX(period_start) AS last FROM type_history
      WHERE record_type = 1 AND period = 1`),
  ).toMatchObject([{ first: '2025-10-26 00:00:00', last: '2026-11-25 00:00:00' }])
  // The same now gives the same site.
  expect(await rows('SELECT SUM(count) AS sum FROM type_history WHERE record_type = 1 AND period = 1')).toEqual([
    { sum: '801131' },
  ])
})
