import { describe, expect, it } from 'vitest'
import { freshDatabase } from '../../harness/database.ts'
import { expectProblem } from '../../harness/expect-problem.ts'
import { logged } from '../../harness/logged.ts'
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

  it('does not reveal its error message', async () => {
    const other = await freshDatabase()
    await other.behave({ faults: [{ action: 'error', errno: 1064, times: 10 }] })
    const text = await (await new TestWorker(other.url).fetch('/v1/counters/page_view/a')).text()
    expect(text).toContain('internal_error')
    expect(text).not.toMatch(/vttablet|injected|SELECT/)
  })
})
