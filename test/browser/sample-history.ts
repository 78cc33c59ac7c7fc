import { beforeAll } from 'vitest'
import { SAMPLE_COUNTERS } from '../../scripts/sample-site.ts'
import { sampleCounter } from './sample-counter.ts'
import type { Counter } from './shipped-worker.ts'

/** A key that is as wide as a key can be. */
export const LONG_KEY = 'W'.repeat(500)

/** A Worker for the tests of a file, with the sample site, `LONG_KEY`, and a great count under `/big`. */
export function counterWithHistory(): Counter {
  const page_view = { ...SAMPLE_COUNTERS.page_view, counting_badge: true }
  const download = { ...SAMPLE_COUNTERS.download, public_page: true }
  const counter = sampleCounter({ COUNTERS: { ...SAMPLE_COUNTERS, page_view, download } })
  beforeAll(async () => {
    await counter.add('page_view', LONG_KEY, 2 ** 45)
    // In the first hour of a day, the sample site has no counts of today.
    await counter.add('download', 'app-1.2.0.tgz', 1)
    await counter.api('POST', '/v1/imports', {
      counters: [{ type: 'page_view', key: '/big', count: '9223372036854775000' }],
    })
    await counter.rollUp(new Date())
    await counter.api('PUT', `/v1/counters/page_view/${encodeURIComponent('/')}`, { count: 400_000 })
  })
  return counter
}
