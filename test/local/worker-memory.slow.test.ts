import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { buildWorker } from '../../local/worker/workerd.ts'
import { sendPipelined } from './pipelined-client.ts'
import { WatchedIsolate } from './watched-isolate.ts'

const MILLION = 1_000_000
/**
 * How many of a million hits on one key are sent as single requests. The rest is sent a thousand at a time.
 * `MEMORY_HITS=1000000` sends all of them singly, which takes minutes.
 */
const HITS = Number(process.env.MEMORY_HITS ?? 200_000)
const TIMEOUT_MS = 60_000 + MILLION / 2
const MEGABYTE = 1_000_000

describe('The memory of an isolate stays within bounds', () => {
  let worker: string

  beforeAll(async () => {
    // Removed at the end of the run.
    worker = await buildWorker(join(inject('scratch'), 'memory-worker'))
  })

  it('over a million distinct keys', { timeout: TIMEOUT_MS }, async () => {
    const isolate = await WatchedIsolate.start(worker)
    const keyAt = (i: number) => `/blog/2026/11/a-title-of-the-usual-length-for-a-post-${i}`
    const fresh = await isolate.heap()
    await isolate.count(0, MILLION / 10, keyAt)
    const early = await isolate.heap()
    await isolate.count(MILLION / 10, MILLION, keyAt)
    const late = await isolate.heap()
    const measured = `bytes of heap: ${fresh} at first, ${early} after a tenth, ${late} at the end`
    expect(late, measured).toBeLessThan(early + 5 * MEGABYTE)
    expect(late, measured).toBeLessThan(30 * MEGABYTE)
    expect(await isolate.number('SELECT SUM(count) FROM slotted_counters')).toBe(MILLION)
    expect(await isolate.number('SELECT COUNT(*) FROM slotted_counters WHERE count = 1')).toBe(MILLION)
    expect(await isolate.number('SELECT COUNT(*) FROM counter_names')).toBe(MILLION)
  })

  it('over a million hits on one key', { timeout: TIMEOUT_MS }, async () => {
    const isolate = await WatchedIsolate.start(worker)
    const request = 'POST /hit?type=page_view&key=%2Fhot HTTP/1.1\r\nHost: counter.test\r\nContent-Length: 0\r\n\r\n'
    const part = async (share: number) => {
      const hits = Math.round(HITS * share)
      const answer = await sendPipelined({ port: isolate.port, request, times: hits, connections: 128, depth: 8 })
      expect(answer).toContain('X-Hit: counted')
      await isolate.count(0, MILLION * share - hits, () => '/hot')
    }
    const fresh = await isolate.heap()
    await part(0.1)
    const early = await isolate.heap()
    await part(0.9)
    const late = await isolate.heap()
    const measured = `bytes of heap: ${fresh} at first, ${early} after a tenth, ${late} at the end`
    // Less than ten bytes for each hit.
    expect(late, measured).toBeLessThan(early + 1.5 * MEGABYTE)
    expect(late, measured).toBeLessThan(20 * MEGABYTE)
    expect(await isolate.number('SELECT SUM(count) FROM slotted_counters')).toBe(MILLION)
  })
})
