import { describe, expect, it } from 'vitest'
import { sendPipelined } from './pipelined-client.ts'
import { WatchedIsolate } from './watched-isolate.ts'

/** How many keys, and how many hits on one key. `MEMORY_HITS=1000000` takes minutes. */
const HITS = Number(process.env.MEMORY_HITS ?? 200_000)
/** The part of them after which caches are full. A multiple of their generations, as the whole, so that they hold as much at both. */
const EARLY = HITS / 5
/** The part of the hits on one key that are sent as single requests. The rest is sent a thousand at a time. */
const SINGLE = 0.4
const TIMEOUT_MS = 300_000 + HITS / 2
const MEGABYTE = 1_000_000

describe('The memory of an isolate stays within bounds', () => {
  it('over many distinct keys', { timeout: TIMEOUT_MS }, async () => {
    const isolate = await WatchedIsolate.start()
    const keyAt = (i: number) => `/blog/2026/11/a-title-of-the-usual-length-for-a-post-${i}`
    const fresh = await isolate.heap()
    await isolate.count(0, EARLY, keyAt)
    const early = await isolate.heap()
    await isolate.count(EARLY, HITS, keyAt)
    const late = await isolate.heap()
    const measured = `bytes of heap: ${fresh} at first, ${early} after a fifth, ${late} at the end`
    // Less than six bytes for each key.
    expect(late, measured).toBeLessThan(early + 5.5 * (HITS - EARLY))
    expect(late, measured).toBeLessThan(30 * MEGABYTE)
    expect(await isolate.number('SELECT SUM(count) FROM slotted_counters')).toBe(HITS)
    expect(await isolate.number('SELECT COUNT(*) FROM slotted_counters WHERE count = 1')).toBe(HITS)
    expect(await isolate.number('SELECT COUNT(*) FROM counters')).toBe(HITS)
  })

  it('over many hits on one key', { timeout: TIMEOUT_MS }, async () => {
    const isolate = await WatchedIsolate.start()
    const request = 'POST /hit?type=page_view&key=%2Fhot HTTP/1.1\r\nHost: counter.test\r\nContent-Length: 0\r\n\r\n'
    const part = async (hits: number) => {
      const single = Math.round(hits * SINGLE)
      const answer = await sendPipelined({ port: isolate.port, request, times: single, connections: 128, depth: 8 })
      expect(answer).toContain('X-Hit: counted')
      await isolate.count(0, hits - single, () => '/hot')
    }
    const fresh = await isolate.heap()
    await part(EARLY)
    const early = await isolate.heap()
    await part(HITS - EARLY)
    const late = await isolate.heap()
    const measured = `bytes of heap: ${fresh} at first, ${early} after a fifth, ${late} at the end`
    // Less than ten bytes for each hit that is sent as a single request.
    expect(late, measured).toBeLessThan(early + 8 * SINGLE * (HITS - EARLY))
    expect(late, measured).toBeLessThan(20 * MEGABYTE)
    expect(await isolate.number('SELECT SUM(count) FROM slotted_counters')).toBe(HITS)
  })
})
