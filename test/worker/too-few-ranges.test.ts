import { expect, inject, it } from 'vitest'
import { freshDatabase } from '../harness/database.ts'
import { TestWorker } from '../harness/worker.ts'

// Only on a keyspace with several shards.
it.skipIf(inject('ranges') < 2)('With more shards than ranges, writes and status say what to change', async () => {
  const db = await freshDatabase()
  const worker = new TestWorker(db.url, { SHARDING: { ranges: 1 } })
  const increments = Array.from({ length: 20 }, (_, i) => ({ type: 'page_view', key: `/${i}` }))

  const written = await worker.api('POST', '/v1/increments', { increments })
  expect([written.status, await written.json()]).toMatchObject([
    503,
    { code: 'too_few_ranges', detail: expect.stringContaining('SHARDING.ranges') },
  ])
  expect(await db.number('SELECT COUNT(*) FROM slotted_counters')).toBe(0n)

  const status = await worker.api('GET', '/v1/status')
  expect(await status.json()).toMatchObject({
    problems: expect.arrayContaining([{ code: 'too_few_ranges', detail: expect.any(String) }]),
  })
})
