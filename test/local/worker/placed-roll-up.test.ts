import { expect, inject, it, onTestFinished } from 'vitest'
import { ROLL_UP_CRON } from '../../../src/config/crons.ts'
import { QueuedWorker } from '../../harness/miniflare.ts'
import { builtWorker } from '../built-worker.ts'

it('A Worker that is bound to itself rolls up by a request to its own handler', async () => {
  const response = await fetch(`${inject('databases')}?migrate`, { method: 'POST' })
  const { databaseUrl } = (await response.json()) as { databaseUrl: string }
  const script = await builtWorker()
  const events: Record<string, unknown>[] = []
  const apiToken = 'a-token-of-the-owner'
  const worker = await QueuedWorker.start({ script, databaseUrl, apiToken, onLog: (event) => events.push(event) })
  onTestFinished(() => worker.stop())
  const counter = `${worker.url}/v1/counters/page_view/hello`
  const headers = { Authorization: `Bearer ${apiToken}`, 'Content-Type': 'application/json' }
  await fetch(counter, { method: 'POST', headers, body: '{"by":6}' })

  await worker.cron(ROLL_UP_CRON)
  expect(await (await fetch(counter)).json()).toMatchObject({ total: 6, pending: 0 })
  // Only runs through the binding tell a placement, which is null outside Cloudflare.
  const runs = events.filter(({ event }) => String(event).startsWith('rollup'))
  expect(runs).toEqual([expect.objectContaining({ event: 'rollup', outcome: 'complete', moved: 6, placement: null })])
})
