import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sharedWorker } from '../../harness/worker.ts'

const { worker } = sharedWorker()

describe('POST /v1/rollup', () => {
  it('rolls up and reports what it moved', async () => {
    await worker.api('POST', '/v1/counters/page_view/r', { by: 9 })
    const moved = { outcome: 'complete', moved: 9, counters: 1, left: 0 }
    expect(await (await worker.api('POST', '/v1/rollup')).json()).toMatchObject(moved)
    expect(await worker.read('page_view', 'r')).toMatchObject({ count: 9, total: 9, pending: 0 })
  })

  it('requested eight times at once moves everything once', async () => {
    await worker.api('POST', '/v1/counters/page_view/eight', { by: 9 })
    // A request that waits for another roll-up looks again after two seconds. Here it looks sooner.
    const { setTimeout } = globalThis
    vi.stubGlobal('setTimeout', (work: () => void, milliseconds: number) =>
      setTimeout(work, milliseconds === 2_000 ? 20 : milliseconds),
    )
    onTestFinished(() => void vi.unstubAllGlobals())
    const answers = await Promise.all(Array.from({ length: 8 }, () => worker.api('POST', '/v1/rollup')))
    for (const { status } of answers) expect([200, 409]).toContain(status)
    expect(await worker.read('page_view', 'eight')).toMatchObject({ count: 9, total: 9, pending: 0 })
  })
})
