import { beforeAll } from 'vitest'
import { fillSampleSite, SAMPLE_COUNTERS } from '../../scripts/sample-site.ts'
import { type Counter, counterOfFile } from './shipped-worker.ts'

/** A key that is as wide as a key can be. */
export const LONG_KEY = 'W'.repeat(500)

/** A Worker for the tests of a file, with the sample site: 13 months of 300 pages. */
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
