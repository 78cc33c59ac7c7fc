import { describe, expect, it } from 'vitest'
import { freshDatabase } from '../../harness/database.ts'
import { logged } from '../../harness/logged.ts'
import { TestWorker } from '../../harness/worker.ts'

describe('A failing database', () => {
  const dead = () => new TestWorker('http://user:password@127.0.0.1:9')
  it.each([
    ['POST', '/v1/counters/page_view/a', 'database_unavailable'],
    ['GET', '/v1/counters/page_view/a', 'database_unavailable'],
    ['GET', '/v1/counters/page_view?key=a', 'database_unavailable'],
    ['POST', '/v1/rollup', 'database_unavailable'],
    ['DELETE', '/v1/counters/page_view/a', 'database_unavailable'],
    ['GET', '/v1/export/page_view', 'database_unavailable'],
    ['GET', '/v1/export/page_view?by=day', 'database_unavailable'],
  ])('makes %s %s answer 503 with Retry-After', async (method, path, code) => {
    const response = await dead().api(method, path)
    expect(response.status).toBe(503)
    expect(response.headers.get('Retry-After')).toMatch(/^\d+$/)
    expect(await response.json()).toMatchObject({ code })
  })

  it('makes a hit answer 503 with Retry-After', async () => {
    const response = await dead().hit('page_view', '/a')
    expect([response.status, response.headers.has('Retry-After')]).toEqual([503, true])
  })

  it('that cuts off its answers makes the Worker answer that the outcome is unknown', async () => {
    const unsure = await freshDatabase()
    await unsure.behave({ faults: [{ action: 'cut-answer', match: 'INSERT INTO slotted', times: 3 }] })
    const lines = await logged(async () => {
      const response = await new TestWorker(unsure.url).api('POST', '/v1/counters/page_view/a')
      expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '5'])
      expect(response.headers.get('X-Hit')).toBe('unknown')
      expect(await response.json()).toMatchObject({
        code: 'outcome_unknown',
        detail: expect.stringContaining('Idempotency-Key'),
      })
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

  it('does not reveal its error message', async () => {
    const other = await freshDatabase()
    await other.behave({ faults: [{ action: 'error', errno: 1064, times: 10 }] })
    const text = await (await new TestWorker(other.url).fetch('/v1/counters/page_view/a')).text()
    expect(text).toContain('internal_error')
    expect(text).not.toMatch(/vttablet|injected|SELECT/)
  })
})
