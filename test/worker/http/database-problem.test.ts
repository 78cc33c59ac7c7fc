import { createExecutionContext } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import { bindCounter } from '../../../src/bound-counter.ts'
import { freshDatabase } from '../../harness/database.ts'
import { expectProblem } from '../../harness/expect-problem.ts'
import { logged } from '../../harness/logged.ts'
import { stopClock } from '../../harness/stopped-clock.ts'
import { TestWorker } from '../../harness/worker.ts'

describe('A failing database', () => {
  it.each([
    ['POST', '/hit?type=page_view&key=/a'],
    ['POST', '/v1/counters/page_view/a'],
    ['GET', '/v1/counters/page_view/a'],
    ['GET', '/v1/counters/page_view?key=a'],
    ['POST', '/v1/rollup'],
    ['DELETE', '/v1/counters/page_view/a'],
    ['GET', '/v1/export/page_view'],
    ['GET', '/v1/export/page_view?by=day'],
  ])('makes %s %s answer 503 with Retry-After', async (method, path) => {
    const response = await new TestWorker('http://user:password@127.0.0.1:9').api(method, path)
    expect(response.headers.get('Retry-After')).toMatch(/^\d+$/)
    await expectProblem(response, 503, 'database_unavailable')
  })

  it('that cuts off its answers makes the Worker answer that the outcome is unknown', async () => {
    const unsure = await freshDatabase()
    await unsure.behave({ faults: [{ action: 'cut-answer', match: 'INSERT INTO slotted', times: 3 }] })
    const lines = await logged(async () => {
      const response = await new TestWorker(unsure.url).api('POST', '/v1/counters/page_view/a')
      expect([response.headers.get('Retry-After'), response.headers.get('X-Hit')]).toEqual(['5', 'unknown'])
      await expectProblem(response, 503, 'outcome_unknown', { detail: expect.stringContaining('Idempotency-Key') })
    })
    expect(lines).toEqual([expect.objectContaining({ event: 'outcome_unknown', error: 'Network connection lost.' })])
  })

  it('that never answers makes the Worker give up at its deadline', async () => {
    const silent = await freshDatabase()
    await silent.behave({ faults: [{ action: 'hang-request', times: 1_000 }] })
    // If it did not, this test would not end.
    const response = await new TestWorker(silent.url).fetch('/v1/counters/page_view/a')
    expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '5'])
  })

  it('whose disk is full is not reported as unresponsive', async () => {
    const full = await freshDatabase()
    await full.behave({ faults: [{ action: 'error', errno: 1114, match: 'INSERT INTO slotted', times: 10 }] })
    const response = await new TestWorker(full.url).api('POST', '/v1/counters/page_view/a')
    await expectProblem(response, 503, 'database_unavailable', { detail: expect.stringContaining('disk') })
  })

  it('has one line a second for each code in the log, which counts the requests since the last one', async () => {
    stopClock()
    const dead = new TestWorker('http://user:password@127.0.0.1:9')
    const refuse = (requests: number) =>
      Promise.all(Array.from({ length: requests }, () => dead.api('POST', '/v1/counters/page_view/a')))
    const call = bindCounter(dead.env, createExecutionContext())
    const lines = await logged(async () => {
      for (const requests of [20, 5, 1]) {
        await refuse(requests)
        vi.setSystemTime(Date.now() + 1_000)
      }
      // Over a clock that is set back.
      vi.setSystemTime(Date.now() - 3_600_000)
      await refuse(1)
      await call.increment('page_view', '/a')
      vi.setSystemTime(Date.now() + 1_000)
      await call.increment('page_view', '/a')
    })
    expect(lines.map(({ event, requests }) => [event, requests])).toEqual(
      [1, 20, 5, 1, 2].map((requests) => ['database_unavailable', requests]),
    )
    expect(lines[0]).toMatchObject({ requestId: expect.any(String), path: '/v1/counters/page_view/a' })
    expect(lines.at(-1)).toMatchObject({ call: 'increment', error: expect.any(String) })
  })

  it('that refuses a statement of the Worker has a line for each request in the log', async () => {
    const other = await freshDatabase()
    await other.behave({ faults: [{ action: 'error', errno: 1064, times: 10 }] })
    const worker = new TestWorker(other.url)
    const lines = await logged(async () => {
      for (const key of 'abc') await worker.fetch(`/v1/counters/page_view/${key}`)
    })
    expect(lines.map(({ event, path, requests }) => [event, path, requests])).toEqual(
      [...'abc'].map((key) => ['internal_error', `/v1/counters/page_view/${key}`, 1]),
    )
  })

  it('does not reveal its error message', async () => {
    const other = await freshDatabase()
    await other.behave({ faults: [{ action: 'error', errno: 1064, times: 10 }] })
    const text = await (await new TestWorker(other.url).fetch('/v1/counters/page_view/a')).text()
    expect(text).toContain('internal_error')
    expect(text).not.toMatch(/vttablet|injected|SELECT/)
  })
})
