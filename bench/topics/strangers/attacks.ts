import { Agent, request } from 'node:http'

/** Requests per second: what one network may send in two seconds as shipped, from many networks. */
export const ATTACK_PER_SECOND = 500
/** Milliseconds between two bursts. */
const BURST_MS = 10
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

/** The request of a stranger. */
interface Sent {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  headers?: Record<string, string>
  body?: string
}

/** What a stranger sends in a loop. */
export interface Attack {
  name: string
  about: string
  /** @param i the number of the request, from 0 */
  requestAt(i: number): Sent
}

const hit = (key: string): Sent => ({ method: 'POST', path: `/hit?type=page_view&key=${encodeURIComponent(key)}` })

const HOSTILE: ((i: number) => Sent)[] = [
  (i) => ({ method: 'GET', path: '/v1/status', headers: { Authorization: `Bearer guess-${i}` } }),
  (i) => ({ method: 'DELETE', path: `/v1/counters/page_view/${i}`, headers: { Cookie: `session=${i}.owner.x` } }),
  () => ({
    method: 'POST',
    path: '/hit',
    headers: { 'Content-Type': 'application/json' },
    body: `{"key":${'['.repeat(900)}`,
  }),
  (i) => ({ method: 'GET', path: `/v1/counters/page_view/%E0%A4%A${i}` }),
  (i) => ({ method: 'PUT', path: `/badge/page_view/${'x'.repeat(600)}${i}.svg` }),
  (i) => ({ method: 'GET', path: `/v1/search/page_view?prefix=${'%3Cscript%3E'.repeat(20)}${i}` }),
]

export const ATTACKS: readonly Attack[] = [
  {
    name: 'one network, many agents',
    about: 'downloads of one file, each from a new address in a /64 and with a new agent',
    requestAt: (i) => ({
      method: 'GET',
      path: '/d/download/app.zip',
      headers: {
        'User-Agent': AGENT.replaceAll('145', `${i}`),
        'CF-Connecting-IP': `2001:db8:0:1::${(i % 65_536).toString(16)}`,
      },
    }),
  },
  {
    name: 'invented keys',
    about: 'hits, each of a key that does not exist',
    requestAt: (i) => hit(`/invented/${i}`),
  },
  {
    name: 'hostile requests',
    about: 'guessed tokens and sessions, malformed bodies and paths, wrong methods',
    requestAt: (i) => HOSTILE[i % HOSTILE.length]!(i),
  },
]

/** Sends the requests of an attack at a steady rate until it is `over`. Waits for all answers. */
export async function attackUntil(over: () => boolean, url: string, { requestAt }: Attack): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const began = performance.now()
  const sent: Promise<void>[] = []
  while (!over()) {
    const due = ((performance.now() - began) / 1_000) * ATTACK_PER_SECOND
    while (sent.length < due) sent.push(send(agent, url, requestAt(sent.length)))
    await new Promise((resolve) => setTimeout(resolve, BURST_MS))
  }
  await Promise.all(sent)
  agent.destroy()
}

function send(agent: Agent, url: string, { method, path, headers = {}, body = '' }: Sent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, {
      method,
      agent,
      headers: { 'User-Agent': AGENT, 'Content-Length': `${Buffer.byteLength(body)}`, ...headers },
    })
    sent.once('error', reject)
    sent.once('response', (response) => {
      response.resume().once('end', resolve)
      if (response.statusCode! >= 500) reject(new Error(`${method} ${path} was answered ${response.statusCode}`))
    })
    sent.end(body)
  })
}
