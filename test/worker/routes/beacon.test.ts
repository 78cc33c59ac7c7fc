import { expect, it } from 'vitest'
import { RELEASES } from '../../../src/browser/beacon/releases.ts'
import { TestWorker } from '../../harness/worker.ts'

// It needs no database, and no configuration.
const worker = new TestWorker('', { COUNTERS: 'wrong' })
const latest = RELEASES.at(-1)!

const FOR_OTHERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
}

it('/beacon.js is the latest release, cached for a day, for any site', async () => {
  const response = await worker.fetch('/beacon.js')
  expect(response.status).toBe(200)
  expect(await response.text()).toBe(latest.text)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    ...FOR_OTHERS,
    'cache-control': 'public, max-age=86400, stale-while-revalidate=604800',
    etag: `"${latest.version}"`,
  })
})

it('Every release has a permanent URL', async () => {
  for (const { version, text } of RELEASES) {
    const response = await worker.fetch(`/beacon/${version}.js`)
    expect(await response.text()).toBe(text)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      ...FOR_OTHERS,
      'cache-control': 'public, max-age=31536000, immutable',
    })
  }
})

it('A matching ETag is answered 304, with all headers', async () => {
  for (const known of [`"${latest.version}"`, `W/"${latest.version}"`, `"0.0.1", "${latest.version}"`]) {
    const response = await worker.fetch('/beacon.js', { headers: { 'If-None-Match': known } })
    expect([response.status, await response.text()]).toEqual([304, ''])
    const { 'content-type': _, ...kept } = FOR_OTHERS
    expect(Object.fromEntries(response.headers)).toMatchObject({
      ...kept,
      'cache-control': 'public, max-age=86400, stale-while-revalidate=604800',
      etag: `"${latest.version}"`,
    })
  }
  expect((await worker.fetch('/beacon.js', { headers: { 'If-None-Match': '"0.0.1"' } })).status).toBe(200)
})

it('HEAD gives only the headers', async () => {
  const response = await worker.fetch('/beacon.js', { method: 'HEAD' })
  expect([response.status, await response.text()]).toEqual([200, ''])
})

it('Unknown releases are not found, and the script accepts no other methods', async () => {
  const configured = new TestWorker('https://user:password@nowhere.invalid')
  for (const path of ['/beacon/0.0.0.js', '/beacon/1.0.0', '/beacon/', '/beacon/..%2f..%2fhit']) {
    expect((await configured.fetch(path)).status, path).toBe(404)
  }
  expect((await configured.fetch('/beacon.js', { method: 'POST' })).status).toBe(405)
})
