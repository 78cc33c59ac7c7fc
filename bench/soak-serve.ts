// Counts on `slotted-counter serve` with a private database, while the server, workerd and the database are killed with SIGKILL.
// Every acknowledged count must be there once. Prints what it measured, and ends with 1 if a count is wrong.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { program } from 'commander'
import { freePort } from '../local/processes/free-port.ts'
import { PROJECT } from '../local/project-root.ts'

program
  .name('node bench/soak-serve.ts')
  .description('Counts on `npm run serve` while its processes are killed, and compares the counts.')
  .option('--minutes <number>', 'how long to count', Number, 5)
  .option('--rate <number>', 'counts per second', Number, 300)
  .option('--kills <number>', 'how often each of the three is killed', Number, 5)
  .parse()
const { minutes, rate, kills } = program.opts<{ minutes: number; rate: number; kills: number }>()

const TOKEN = 'a-token-for-the-owner-of-one-machine'
const KEYS = Array.from({ length: 8 }, (_, i) => `/page-${i}`)
/** How long a client waits for an answer, in milliseconds. */
const PATIENCE_MS = 15_000

const run = promisify(execFile)
const say = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`)
const directory = await mkdtemp(join(tmpdir(), 'slotted-counter-soak-'))
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const log = join(directory, 'serve.log')
let server!: ChildProcess

/** Starts the server, and starts it again a second after its end, as systemd does. */
let isOver = false
function start(): void {
  const env = {
    ...process.env,
    API_TOKEN: TOKEN,
    PORT: String(port),
    STATE_DIR: join(directory, 'data'),
    MYSQL_URL: '',
  }
  server = spawn(process.execPath, ['local/serve/serve.ts'], {
    cwd: PROJECT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [server.stdout!, server.stderr!]) stream.on('data', (text) => void appendFile(log, text))
  server.once('exit', async () => {
    await pause(1_000)
    if (!isOver) start()
  })
}

const agent = new Agent({ keepAlive: true, maxSockets: 256, timeout: 10_000 })
/** Sends a request. @returns the status and `X-Hit`; `null`: nobody knows */
function send(
  path: string,
  headers: Record<string, string>,
  body: object,
): Promise<{ status: number; hit: string } | null> {
  const text = JSON.stringify(body)
  const all = {
    'Content-Type': 'application/json',
    'Content-Length': text.length,
    'User-Agent': 'Mozilla/5.0 (X11) Firefox/145',
    ...headers,
  }
  return new Promise((resolve) => {
    const sent = request(url + path, { method: 'POST', agent, headers: all, timeout: PATIENCE_MS }, (response) => {
      response
        .resume()
        .once('end', () => resolve({ status: response.statusCode!, hit: String(response.headers['x-hit']) }))
      response.once('error', () => resolve(null))
    })
    sent.once('timeout', () => sent.destroy())
    sent.once('error', () => resolve(null)).end(text)
  })
}

/** Per key: hits that were counted, and those of which nobody knows. Increments are repeated until they are acknowledged. */
const sums = new Map(KEYS.map((key) => [key, { counted: 0, unknown: 0, increments: 0 }]))
let retries = 0
let refused = 0

async function hit(key: string): Promise<void> {
  const sum = sums.get(key)!
  const answer = await send('/hit', { Origin: 'https://example.com' }, { type: 'page_view', key })
  if (answer?.status === 204 && answer.hit === 'counted') sum.counted++
  else if (answer === null || answer.hit === 'unknown' || answer.hit === 'undefined') sum.unknown++
  else refused++
}

async function increment(key: string): Promise<void> {
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Idempotency-Key': crypto.randomUUID() }
  const path = `/v1/counters/download/${encodeURIComponent(key)}`
  for (; ; retries++) {
    const answer = await send(path, headers, { by: 1 })
    if (answer !== null && answer.status < 300) break
    if (answer !== null && answer.status < 500) throw new Error(`An increment was answered ${answer.status}.`)
    await pause(250)
  }
  sums.get(key)!.increments++
}

const isUp = () =>
  fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  )

/** The processes of the server by what is killed: ids, and memory in kilobytes. */
async function processes(): Promise<{ pid: number; rss: number; what: string }[]> {
  const { stdout } = await run('ps', ['-A', '-ww', '-o', 'pid=,ppid=,rss=,args='], { maxBuffer: 2 ** 26 })
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, rss, args = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    const isDatabase = /^\S*(?:mysqld|mariadbd) /.test(args) && args.includes(directory)
    const isOwn = Number(parent) === server.pid && args.includes('workerd serve')
    const what = Number(pid) === server.pid ? 'server' : isOwn ? 'workerd' : isDatabase ? 'database' : ''
    return what === '' ? [] : [{ pid: Number(pid), rss: Number(rss), what }]
  })
}

/** Megabytes in memory: at most, and at the end. */
const memory = { server: [0, 0], workerd: [0, 0] }
async function watchMemory(): Promise<void> {
  for (const { what, rss } of await processes()) {
    if (what !== 'database') memory[what as 'server'] = [Math.max(memory[what as 'server'][0]!, rss >> 10), rss >> 10]
  }
}

start()
while (!(await isUp())) await pause(500)
say(`Counting at ${url} for ${minutes} minutes, ${rate} a second, ${kills} kills each. The log is ${log}.`)
const began = Date.now()
const end = began + minutes * 60_000
const open = new Set<Promise<void>>()
const killing = (async () => {
  const victims = Array.from({ length: kills }, () => ['server', 'workerd', 'database']).flat()
  for (const [i, victim] of victims.entries()) {
    await pause(began + ((i + 1) * (end - began)) / (victims.length + 1) - Date.now())
    while (!(await isUp())) await pause(250)
    const found = (await processes()).find(({ what }) => what === victim)
    if (found === undefined) throw new Error(`There is no ${victim} to kill.`)
    process.kill(found.pid, 'SIGKILL')
    say(`Killed the ${victim}.`)
  }
})()
for (let sent = 0; Date.now() < end; ) {
  const due = ((Date.now() - began) / 1_000) * rate
  for (; sent < due && open.size < 2_000; sent++) {
    const key = KEYS[(sent >> 1) % KEYS.length]!
    const one = (sent % 2 === 0 ? hit(key) : increment(key)).finally(() => open.delete(one))
    open.add(one)
  }
  if (sent < due) sent = Math.floor(due)
  await Promise.all([pause(10), Math.random() < 0.002 && watchMemory()])
}
await killing
await Promise.all(open)
await watchMemory()

let isWrong = false
const total = { counted: 0, unknown: 0, increments: 0 }
for (const [key, { counted, unknown, increments }] of sums) {
  const count = async (type: string) => {
    const response = await fetch(`${url}/v1/counters/${type}/${encodeURIComponent(key)}`)
    return ((await response.json()) as { count: number }).count
  }
  const [views, downloads] = [await count('page_view'), await count('download')]
  const isRight = views >= counted && views <= counted + unknown && downloads === increments
  isWrong ||= !isRight
  say(
    `${key}: ${views} of ${counted} to ${counted + unknown} hits, ${downloads} of ${increments} increments${isRight ? '' : ' WRONG'}`,
  )
  total.counted += counted
  total.unknown += unknown
  total.increments += increments
}
const { counted, unknown, increments } = total
say(
  `${counted} hits and ${increments} increments acknowledged, ${unknown} hits unknown, ${refused} refused, ${retries} retries.`,
)
say(`Megabytes at most and at the end: server ${memory.server.join(', ')}; workerd ${memory.workerd.join(', ')}.`)
isOver = true
const ended = new Promise((resolve) => server.once('exit', resolve))
server.kill('SIGTERM')
say(`Ended with ${await ended}.`)
agent.destroy()
if (isWrong) process.exitCode = 1
else await rm(directory, { recursive: true, force: true })
