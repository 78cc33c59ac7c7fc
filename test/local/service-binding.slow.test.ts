import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { QueuedWorker } from '../harness/miniflare.ts'
import { takeDatabase } from '../harness/taken-databases.ts'
import { builtWorker } from './built-worker.ts'

const CALLER = join(import.meta.dirname, '../harness/caller.js')

let worker: QueuedWorker
beforeAll(async () => {
  const { databaseUrl } = await takeDatabase()
  const script = await builtWorker()
  worker = await QueuedWorker.start({ script, databaseUrl, apiToken: 'a-token-for-callers', caller: CALLER })
})
afterAll(() => worker?.stop())

const ask = (method: string, args: unknown[], more = '') =>
  worker.askCaller(`http://caller/${method}?with=${encodeURIComponent(JSON.stringify(args))}${more}`)
const call = async (method: string, ...args: unknown[]) => (await ask(method, args)).json()

it('another Worker counts and reads over a service binding', async () => {
  expect(await call('increment', 'page_view', '/rpc', { by: 2 })).toEqual({
    ok: true,
    type: 'page_view',
    key: '/rpc',
    added: 2,
    queued: false,
  })
  expect(await call('incrementMany', [{ type: 'page_view', key: '/rpc', by: 5 }])).toMatchObject({ accepted: 1 })
  expect(await call('read', 'page_view', '/rpc')).toMatchObject({ ok: true, count: '7n' })
  expect(await call('readMany', 'page_view', ['/rpc', '/never'])).toMatchObject({
    counters: [{ count: '7n' }, { count: '0n' }],
  })
  expect(await call('history', 'page_view', '/rpc', { by: 'month' })).toMatchObject({ ok: true, by: 'month' })
  const response = await worker.askCaller(
    `http://caller/fetch?url=${encodeURIComponent('http://counter/v1/counters/page_view/%2Frpc')}`,
  )
  expect(await response.json()).toMatchObject({ count: 7 })
})

it('errors are data for another Worker too', async () => {
  expect(await call('increment', 'nothing', 'a')).toMatchObject({
    ok: false,
    code: 'invalid_request',
    errors: [{ field: 'type' }],
  })
})

it('calls that the other Worker gives to waitUntil count after its response', async () => {
  for (let i = 0; i < 20; i++) {
    expect((await ask('increment', ['page_view', '/later'], '&unawaited')).status).toBe(202)
  }
  await expect.poll(() => call('read', 'page_view', '/later')).toMatchObject({ count: '20n' })
})
