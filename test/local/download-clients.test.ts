import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readFile, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import mysql, { type RowDataPacket } from 'mysql2/promise'
import sirv from 'sirv'
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import type { Workerd } from '../../local/worker/workerd.ts'
import { startBuiltWorker } from './built-worker.ts'
import { atEndOfSuite, stateDirectory } from './npm-script.ts'
import { settledCounting } from './settled-counting.ts'

const run = promisify(execFile)

const FILE = 'dist/v1/app.bin'
/** Large enough for clients with several connections to use them. */
const BYTES = 8 * 1024 * 1024
/** Of the file, the bytes that a gate lets through. */
const BEFORE_GATE = 64 * 1024

/** Opens when the file server has some requests for the file at the same time. */
interface Gate {
  missing: number
  opened: PromiseWithResolvers<void>
}

let workerd: Workerd
let mysqlUrl: string
let files: string
/** The ranges that clients requested from the file server; `undefined` is the whole file. */
let asked: (string | undefined)[] = []
let sum: string
/** What a download waits for in the middle of the file, if it does. */
let gate: Gate | null = null
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

const atEnd = atEndOfSuite()
beforeAll(async () => {
  files = await stateDirectory(atEnd)
  const bytes = randomBytes(BYTES)
  sum = sha256(bytes)
  await run('mkdir', ['-p', join(files, 'dist/v1')])
  await writeFile(join(files, FILE), bytes)
  const serve = sirv(files, { dev: true })
  const server = createServer((request, response) => {
    const { method, headers } = request
    if (method === 'GET') asked.push(headers.range)
    if (method !== 'GET' || gate === null) return serve(request, response)
    const { missing, opened } = gate
    gate.missing = missing - 1
    if (gate.missing === 0) opened.resolve()
    const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []
    const last = to === '' ? BYTES - 1 : Number(to)
    const part = bytes.subarray(Number(from), last + 1)
    response.writeHead(headers.range === undefined ? 200 : 206, {
      'Accept-Ranges': 'bytes',
      'Content-Length': part.length,
      ...(headers.range !== undefined && { 'Content-Range': `bytes ${from}-${last}/${BYTES}` }),
    })
    response.write(part.subarray(0, BEFORE_GATE))
    void opened.promise.then(() => response.end(part.subarray(BEFORE_GATE)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => void server.close())

  const download = {
    record_type: 2,
    public: true,
    redirect_to: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    // On a busy machine, a client may take longer than the default of 30 seconds.
    dedupe_seconds: 86_400,
  }
  ;({ workerd, mysqlUrl } = await startBuiltWorker({ settings: { COUNTERS: { download } }, observed: true }, atEnd))
  // From here on, the Worker needs nothing from the database before it counts, so that what it still counts can be told.
  await run('curl', ['-sS', '-H', visitor(), `${workerd.url}/d/download/${FILE}`])
  await vi.waitFor(async () => expect(await downloads()).toBe(1), { timeout: 60_000, interval: 50 })
})

/** The downloads that are counted, or will be. */
async function downloads(): Promise<number> {
  await settledCounting(workerd.url)
  const connection = await mysql.createConnection({ uri: mysqlUrl })
  try {
    const [[row]] = await connection.query<RowDataPacket[]>('SELECT COALESCE(SUM(count), 0) AS n FROM slotted_counters')
    return Number(row!.n)
  } finally {
    await connection.end()
  }
}

let visitors = 0
/** The address of a new visitor, as Cloudflare passes it on. */
const visitor = () => `CF-Connecting-IP: 203.0.113.${++visitors}`

/** Downloads the file. Returns how much that counted and which ranges were requested from the file server. */
async function download(work: (url: string, target: string) => Promise<unknown>) {
  const target = join(await stateDirectory(), 'app.bin')
  asked = []
  const before = await downloads()
  await work(`${workerd.url}/d/download/${FILE}`, target)
  expect(sha256(await readFile(target))).toBe(sum)
  return { counted: (await downloads()) - before, asked: asked.toSorted() }
}

/** Holds back all but the beginning of each answer of the file server, until it has some requests for the file. */
function holdUntil(requests: number): void {
  gate = { missing: requests, opened: Promise.withResolvers() }
  onTestFinished(() => {
    gate = null
  })
}

it.each([
  ['curl', (url: string, to: string, from: string) => run('curl', ['-sSfL', '-H', from, '-o', to, url])],
  ['wget', (url: string, to: string, from: string) => run('wget', ['-q', `--header=${from}`, '-O', to, url])],
])('A download with %s counts once', async (_, get) => {
  const from = visitor()
  expect(await download((url, to) => get(url, to, from))).toEqual({ counted: 1, asked: [undefined] })
})

it('A HEAD request of curl and a check with wget --spider do not count', async () => {
  const before = await downloads()
  const { stdout } = await run('curl', ['-sSIL', '-H', visitor(), `${workerd.url}/d/download/${FILE}`])
  expect(stdout).toContain('X-Hit: ignored; reason=head')
  await run('wget', ['-q', '--spider', `--header=${visitor()}`, `${workerd.url}/d/download/${FILE}`])
  expect(await downloads()).toBe(before)
})

it.each([
  ['curl', (url: string, to: string, from: string) => run('curl', ['-sSfL', '-C', '-', '-H', from, '-o', to, url])],
  ['wget', (url: string, to: string, from: string) => run('wget', ['-q', '-c', `--header=${from}`, '-O', to, url])],
])('A download that %s resumes counts once', async (_, get) => {
  const from = visitor()
  const { counted, asked } = await download(async (url, to) => {
    await get(url, to, from)
    await truncate(to, BYTES / 2)
    await get(url, to, from)
  })
  expect(asked).toContain(`bytes=${BYTES / 2}-`)
  expect(counted).toBe(1)
})

it.each([
  [
    'aria2c',
    (from: string, to: string) => [
      ...['-q', '-x4', '-s4', '-k1M', `--header=${from}`],
      ...['-d', join(to, '..'), '-o', 'app.bin'],
    ],
  ],
  ['axel', (from: string, to: string) => ['-q', '-n4', '-H', from, '-o', to]],
])('A download with %s over four connections counts once', async (program, options) => {
  const from = visitor()
  // Otherwise the first connection might have everything before the others begin.
  holdUntil(2)
  const { counted, asked } = await download((url, to) => run(program, [...options(from, to), url]))
  expect(asked.length).toBeGreaterThan(1)
  expect(counted).toBe(1)
})
