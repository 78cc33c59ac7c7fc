import { request } from 'node:http'
import { isbot } from 'isbot'
import mysql, { type RowDataPacket } from 'mysql2/promise'
import { expect, it, onTestFinished } from 'vitest'
import { startBuiltWorker } from './built-worker.ts'
import { accessLog } from './cli/sample-log.ts'
import { settledCounting } from './settled-counting.ts'

const LINE =
  /^(\S+) \S+ \S+ \[[^\]]*\] "(GET|HEAD) (\S+) HTTP\/[\d.]+" (\d{3}) \S+ "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)"/
// A generated log has few downloads, so its pages are used instead.
const FILE =
  process.env.ACCESS_LOG === undefined
    ? /^\/[\w./-]+\.html$/
    : /^\/(?:files\/[^?]+|[^?]+\.(?:tar\.gz|tgz|zip|jar|rpm|deb|pdf|gem))$/
/** What isbot lists among the agents of both logs, and is no crawler. */
const PROGRAM = /^(?:-$|A |User-Agent|curl|wget|fetch libfetch|chef client|portscout|distilator)/i
const BASE = 'https://files.example.com/'
/** Longer than the test: a second visit is always within it. */
const DAY_SECONDS = 86_400
/** Milliseconds that a redirect waits for its count, less those by which clocks differ. */
const WAITS_MS = 490

interface Logged {
  address: string
  method: string
  path: string
  status: number
  agent: string
}

/**
 * The requests for files in a log. Of each network and file, only those of the first user agent: of other agents, one in 64 is in
 * the same class by chance, and then not another visitor.
 */
function filesIn(log: string): Logged[] {
  const first = new Map<string, string>()
  return log.split('\n').flatMap((line) => {
    const [, address, method, path, status, agent] = LINE.exec(line) ?? []
    if (path === undefined || !FILE.test(path) || path.length > 500) return []
    const visits = `${address} ${path}`
    if (!first.has(visits)) first.set(visits, agent!)
    if (first.get(visits) !== agent) return []
    return { address: address!, method: method!, path: path.slice(1), status: Number(status), agent: agent! }
  })
}

/** The expected outcome for a request. The log tells that a part was requested, but not which; the test requests a later one. */
function ruleFor({ address, method, path, status, agent }: Logged, seen: Set<string>): string {
  if (method === 'HEAD') return 'ignored; reason=head'
  if (status === 206) return 'ignored; reason=range'
  if (isbot(agent) && !PROGRAM.test(agent)) return 'ignored; reason=bot'
  const visit = JSON.stringify([address, agent, path])
  if (seen.has(visit)) return 'ignored; reason=duplicate'
  seen.add(visit)
  return 'counted'
}

function send(port: number, { address, method, path, status, agent }: Logged) {
  return new Promise<{ status: number; said: string; location: string }>((resolve, reject) => {
    const headers = {
      'CF-Connecting-IP': address,
      ...(agent !== '' && { 'User-Agent': agent }),
      ...(status === 206 && { Range: 'bytes=4096-' }),
    }
    const sent = request({ host: '127.0.0.1', port, method, path: `/d/download/${path}`, headers }, (response) => {
      response.resume()
      response.once('end', () =>
        resolve({
          status: response.statusCode!,
          said: String(response.headers['x-hit']),
          location: String(response.headers.location),
        }),
      )
    })
    sent.once('error', reject).end()
  })
}

it('The downloads of an access log count by the rules, every response gives the reason, and all are redirected', async () => {
  const { workerd, mysqlUrl } = await startBuiltWorker({
    observed: true,
    settings: {
      COUNTERS: {
        download: {
          record_type: 2,
          public: true,
          redirect_to: BASE,
          dedupe_seconds: DAY_SECONDS,
          new_keys_per_minute: 'unlimited',
        },
      },
    },
  })
  const seen = new Set<string>()
  const expected = new Map<string, number>()
  const reasons = new Map<string, number>()
  const connection = await mysql.createConnection({ uri: mysqlUrl })
  onTestFinished(() => connection.end())
  const sum = async () => {
    const [[row]] = await connection.query<RowDataPacket[]>(
      'SELECT COALESCE(SUM(slotted_counters.count), 0) AS n FROM slotted_counters',
    )
    return Number(row!.n)
  }
  let counted = 0
  for (const logged of filesIn(accessLog())) {
    const rule = ruleFor(logged, seen)
    const began = performance.now()
    const answer = await send(workerd.port, logged)
    if (rule === 'counted') counted++
    const late = answer.said === 'unknown'
    if (late) {
      // A redirect does not wait longer for its count. The next request of this visitor may need it.
      expect(performance.now() - began).toBeGreaterThan(WAITS_MS)
      await expect.poll(sum).toBe(counted)
      await settledCounting(workerd.url)
    }
    const said = late ? 'counted' : answer.said
    expect({ logged, ...answer, said }).toEqual({ logged, status: 302, said: rule, location: BASE + logged.path })
    reasons.set(rule, (reasons.get(rule) ?? 0) + 1)
    if (rule === 'counted') expected.set(logged.path, (expected.get(logged.path) ?? 0) + 1)
  }
  expect(reasons.get('counted')).toBeGreaterThan(10)
  expect(reasons.get('ignored; reason=range')).toBeGreaterThan(0)
  const [rows] = await connection.query<RowDataPacket[]>(
    `SELECT CAST(name AS CHAR) AS name, CAST(SUM(slotted_counters.count) AS SIGNED) AS count FROM slotted_counters
     JOIN counters USING (record_type, record_id) GROUP BY record_type, record_id, name`,
  )
  expect(new Map(rows.map((row) => [row.name, Number(row.count)]))).toEqual(expected)
})
