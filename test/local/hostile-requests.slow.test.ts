import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PROJECT } from '../../local/project-root.ts'
import { Random } from '../harness/random.ts'
import { TOKEN } from './built-worker.ts'
import { HostileRequests, type Path } from './hostile-requests.ts'
import { sendRaw } from './raw-request.ts'
import { WatchedIsolate } from './watched-isolate.ts'

/** `HOSTILE_REQUESTS=200000` sends more, which takes minutes. */
const REQUESTS = Number(process.env.HOSTILE_REQUESTS ?? 20_000)
const CONNECTIONS = 32
const MEGABYTE = 1_000_000
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const TABLES = [
  'slotted_counters',
  'counters',
  'counter_history',
  'counter_periods',
  'counter_adjustments',
  'type_history',
]
/** Paths that are not in the API document. */
const OTHER_PATHS = '/ /counter /session /d/{type}/{key} /docs /favicon.ico /dashboard.js'
  .split(' ')
  .map((template): Path => ({ template, methods: ['GET', 'POST'] }))

it('Hostile requests change nothing, cause no 5xx, and take no memory, and honest hits count meanwhile', {
  timeout: 120_000 + REQUESTS * 5,
}, async () => {
  const seed = Number(process.env.HOSTILE_SEED ?? Math.floor(Math.random() * 2 ** 32))
  console.log(`HOSTILE_SEED=${seed}`)
  const isolate = await WatchedIsolate.start({
    COUNTERS: {
      page_view: { record_type: 1, public: true, allowed_origins: ['*'], new_keys: 'known' },
      download: {
        record_type: 2,
        public: true,
        allowed_origins: ['*'],
        new_keys: 'known',
        redirect_to: 'https://files.test/',
      },
      secret: { record_type: 3 },
    },
  })
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
  const increments = ['page_view', 'download', 'secret'].map((type) => ({ type, key: '/honest', by: 5 }))
  const body = JSON.stringify({ increments })
  expect((await fetch(`${isolate.url}/v1/increments`, { method: 'POST', headers, body })).status).toBe(200)

  const document = await readFile(join(PROJECT, 'dist/public/openapi.json'), 'utf8')
  const { paths } = JSON.parse(document) as { paths: Record<string, object> }
  const documented = Object.entries(paths).map(([template, methods]): Path => {
    return { template, methods: Object.keys(methods).map((method) => method.toUpperCase()) }
  })
  expect(documented.length).toBeGreaterThan(15)
  const hostile = new HostileRequests(new Random(seed), [...documented, ...OTHER_PATHS])

  const before = await stored(isolate)
  const statuses = new Map<number | null, number>()
  let honest = 0
  const send = async (requests: number) => {
    let left = requests
    const stranger = async () => {
      while (left-- > 0) {
        const request = hostile.next()
        const { status, head } = await sendRaw(isolate.port, request)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        // workerd itself answers what is not HTTP.
        if (status !== null && !request.isCutShort)
          expect(status, `${request.bytes.toString('latin1', 0, 600)}\n${head}`).toBeLessThan(500)
      }
    }
    const visitor = async () => {
      while (left > 0) {
        const answer = await fetch(`${isolate.url}/hit?type=page_view&key=/honest`, {
          method: 'POST',
          headers: { 'User-Agent': BROWSER },
        })
        expect(answer.headers.get('X-Hit')).toBe('counted')
        honest++
      }
    }
    await Promise.all([visitor(), ...Array.from({ length: CONNECTIONS }, stranger)])
  }
  await send(REQUESTS / 4)
  const early = await isolate.heap()
  await send((REQUESTS * 3) / 4)
  const late = await isolate.heap()

  expect(late, `bytes of heap: ${early} early, ${late} at the end`).toBeLessThan(early + 5 * MEGABYTE)
  expect(honest).toBeGreaterThan(10)
  expect(await isolate.number('SELECT SUM(count) FROM slotted_counters WHERE record_type = 1')).toBe(5 + honest)
  expect(await stored(isolate)).toEqual(before)
  // Otherwise the requests would not have been of all kinds.
  console.log(Object.fromEntries(statuses))
  for (const status of [200, 204, 400, 401, 404, 405, 413, 415, 422])
    expect(statuses.get(status), `${status}`).toBeGreaterThan(0)
})

/** All rows, except the slots of the counter that honest hits count. */
async function stored(isolate: WatchedIsolate): Promise<object> {
  const rows = TABLES.map((table) => {
    const of = table === 'slotted_counters' ? ' WHERE record_type <> 1' : ''
    return isolate.rows(`SELECT * FROM ${table}${of} ORDER BY 1, 2, 3`)
  })
  return Promise.all(rows)
}
