import { beforeAll, expect } from 'vitest'
import { fillSampleSite, SAMPLE_COUNTERS } from '../../scripts/sample-site.ts'
import { type Counter, counterOfFile } from './shipped-worker.ts'

/** A Worker for the tests of a file, with the sample site: 13 months of 300 pages. */
export function sampleCounter(settings: Record<string, unknown> = {}): Counter {
  const counter = counterOfFile({ COUNTERS: SAMPLE_COUNTERS, ...settings })
  beforeAll(async () => {
    await fillSampleSite(counter.databaseUrl, new Date())
    // Makes the status well.
    await expect.poll(() => counter.api('POST', '/v1/rollup')).toMatchObject({ outcome: 'complete' })
  })
  return counter
}
