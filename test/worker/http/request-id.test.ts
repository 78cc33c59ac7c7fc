import { describe, expect, it } from 'vitest'
import { logged } from '../../harness/logged.ts'
import { sharedWorker, TestWorker } from '../../harness/worker.ts'

const { worker } = sharedWorker()

describe('A request', () => {
  it('has an id in the response and in the log: its own X-Request-Id if that is harmless', async () => {
    const dead = new TestWorker('http://user:password@127.0.0.1:9')
    let id: string | null = null
    const lines = await logged(async () => {
      id = (await dead.fetch('/v1/counters/page_view/a')).headers.get('X-Request-Id')
    })
    expect(lines).toEqual([expect.objectContaining({ event: 'database_unavailable', requestId: id })])
    const response = await worker.fetch('/healthz', { headers: { 'X-Request-Id': 'mine-1' } })
    expect(response.headers.get('X-Request-Id')).toBe('mine-1')
    const forged = await worker.fetch('/healthz', { headers: { 'X-Request-Id': 'a b<script>' } })
    expect(forged.headers.get('X-Request-Id')).not.toContain('<')
  })

  it('that is wrong is not logged', async () => {
    expect(await logged(() => worker.fetch('/nothing'))).toEqual([])
  })
})
