import { beforeAll, describe, expect, it } from 'vitest'
import { readReleases } from '../../scripts/assets/beacon-releases.ts'
import { openApiDocument } from '../../scripts/openapi/document.ts'
import { operationExamples } from '../../scripts/openapi/document-examples.ts'
import { fileContracts } from '../../scripts/openapi/file-contracts.ts'
import { SCRIPT, STYLE } from '../../src/generated.ts'
import { startShippedWorker } from '../harness/miniflare.ts'
import { builtWorker } from './built-worker.ts'

const NEVER_CHANGES = 'public, max-age=31536000, immutable'
const FOR_OTHERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
}
const FILES = ['/slotted.js', '/slotted-1.0.0.js', '/openapi.json', SCRIPT, STYLE]

/** The Worker as it ships, without a database. The other one's settings are wrong. */
let url: string
let misconfigured: string
beforeAll(async () => {
  const script = await builtWorker()
  const databaseUrl = 'https://user:password@nowhere.invalid'
  const start = (settings: object) =>
    startShippedWorker({ script, databaseUrl, apiToken: 'a-token-for-tests', settings: { ...settings } })
  const workers = await Promise.all([start({}), start({ COUNTERS: 'wrong' })])
  ;[url, misconfigured] = [workers[0].url, workers[1].url]
  return () => Promise.all(workers.map((worker) => worker.stop()))
})

const headersOf = ({ headers }: Response) => Object.fromEntries(headers)

describe('The beacon', () => {
  it('is at /slotted.js in its latest release, cached for a day, for any site', async () => {
    const response = await fetch(`${url}/slotted.js`)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe((await readReleases()).at(-1)!.text)
    expect(headersOf(response)).toMatchObject({
      ...FOR_OTHERS,
      'cache-control': 'public, max-age=86400, stale-while-revalidate=604800',
    })
  })

  it('has a permanent URL for each release', async () => {
    for (const { version, text } of await readReleases()) {
      const response = await fetch(`${url}/slotted-${version}.js`)
      expect(await response.text()).toBe(text)
      expect(headersOf(response)).toMatchObject({ ...FOR_OTHERS, 'cache-control': NEVER_CHANGES })
    }
  })

  it('is not found in a version that was never released', async () => {
    for (const path of ['/slotted-0.0.0.js', '/slotted-1.0.0', '/slotted-', '/beacon.js', '/slotted-..%2fhit']) {
      const response = await fetch(url + path)
      expect([path, response.status, await response.json()]).toMatchObject([path, 404, { code: 'not_found' }])
    }
  })
})

describe('The files of the dashboard', () => {
  it('may be cached for a year', async () => {
    for (const [path, type] of [
      [SCRIPT, 'text/javascript; charset=utf-8'],
      [STYLE, 'text/css; charset=utf-8'],
    ] as const) {
      const response = await fetch(url + path)
      expect(response.status).toBe(200)
      expect(headersOf(response)).toMatchObject({
        'content-type': type,
        'cache-control': NEVER_CHANGES,
        'x-content-type-options': 'nosniff',
      })
    }
    expect((await fetch(`${url}/dashboard/000000000000.js`)).status).toBe(404)
  })

  it('are those that its pages name', async () => {
    const page = await (await fetch(url)).text()
    const paths = [...page.matchAll(/(?:href|src)="(\/dashboard\/[^"]+)"/g)].map(([, path]) => path)
    expect(paths.sort()).toEqual([SCRIPT, STYLE].sort())
  })
})

describe('Every file', () => {
  it('is served in spite of wrong settings', async () => {
    expect((await fetch(`${misconfigured}/healthz`)).status).toBe(503)
    for (const path of FILES) expect([path, (await fetch(misconfigured + path)).status]).toEqual([path, 200])
  })

  it('is answered 304 if the client has it, with all headers', async () => {
    for (const path of [...FILES, '/docs']) {
      const { 'content-length': _, 'transfer-encoding': __, ...whole } = headersOf(await fetch(url + path))
      for (const known of [whole.etag!, `W/${whole.etag}`]) {
        const response = await fetch(url + path, { headers: { 'If-None-Match': known } })
        expect([path, response.status, await response.text()]).toEqual([path, 304, ''])
        // The cache in front of the files answers HIT or MISS, as it likes.
        const { 'x-request-id': ___, date: ____, 'cf-cache-status': _____, ...kept } = whole
        expect(headersOf(response)).toMatchObject(kept)
      }
      expect((await fetch(url + path, { headers: { 'If-None-Match': '"0.0.1"' } })).status).toBe(200)
    }
  })

  it('takes HEAD and no other method', async () => {
    for (const path of [...FILES, '/docs']) {
      const head = await fetch(url + path, { method: 'HEAD' })
      expect([path, head.status, await head.text()]).toEqual([path, 200, ''])
      const get = await fetch(url + path)
      expect(head.headers.get('Cache-Control')).toBe(get.headers.get('Cache-Control'))
      for (const method of ['POST', 'OPTIONS', 'DELETE']) {
        const { status, headers } = await fetch(url + path, { method })
        expect([path, method, status, headers.get('Allow')]).toEqual([path, method, 405, 'GET, HEAD'])
      }
    }
  })

  it('gets the documented response', async () => {
    const { paths } = openApiDocument(fileContracts(['1.0.0']))
    for (const [path, { get }] of Object.entries(paths)) {
      for (const example of operationExamples(path, 'get', get!)) {
        const response = await fetch(url + example.path)
        expect(response.status).toBe(example.status)
        for (const [name, value] of Object.entries(example.says)) expect(response.headers.get(name)).toBe(value)
        const { content, headers } = get!.responses[200]! as { content: object; headers: object }
        expect(response.headers.get('Content-Type')!.split(';')[0]).toBe(Object.keys(content)[0])
        for (const name of Object.keys(headers)) expect(response.headers.has(name), `${path} ${name}`).toBe(true)
      }
    }
  })
})

describe('The documentation', () => {
  it('has an OpenAPI document that scripts of other sites may read', async () => {
    const response = await fetch(`${url}/openapi.json`)
    expect(headersOf(response)).toMatchObject({
      'content-type': 'application/json',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'ETag',
    })
    const { paths } = (await response.json()) as { paths: object }
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/hit', '/slotted.js', '/openapi.json', '/docs']))
  })
})
