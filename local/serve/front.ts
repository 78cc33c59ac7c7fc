import { once } from 'node:events'
import http from 'node:http'
import { PROBLEMS, reportOf } from '../../src/service/problem.ts'
import { clientAddress, peerAddress, requestedOrigin } from './client-address.ts'
import { log } from './json-log.ts'
import type { ServeSettings } from './settings.ts'

/** workerd closes a connection that is idle for 5 s (Cap'n Proto, `pipelineTimeout`). */
const IDLE_MS = 2_500
/** Headers of one connection, and of the body that Node reads. Not those that `Connection` names: it might name Content-Length. */
const HOP_BY_HOP = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect)$/
/** Longer than web servers keep an idle connection (Caddy 2 minutes, nginx 60 s): they would use one that is just being closed. */
const KEEP_ALIVE_MS = 150_000
/** Headers that only Cloudflare, or Miniflare, may set. */
const PLATFORM = /^(?:cf|mf)-/

const STARTING = 'The Worker is starting. Nothing was counted.'

/** The HTTP server before the Worker: says who sent a request, and under which address. */
export class Front {
  readonly #settings: ServeSettings
  readonly #worker: (path: string) => URL | null
  readonly #agent = new http.Agent({ keepAlive: true, timeout: IDLE_MS })
  readonly #server = http.createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (...exchange) => this.#forward(...exchange))
  #hasWarned = false

  /** @param worker where the Worker is now, for a path; `null` while it starts */
  constructor(settings: ServeSettings, worker: (path: string) => URL | null) {
    this.#settings = settings
    this.#worker = worker
    // By default, Node drops those after the first 1,000: the last one says who sent the request.
    this.#server.maxHeadersCount = 0
  }

  /** Starts to listen. @throws {Error} with the code `EADDRINUSE` if the port is in use */
  async listen(): Promise<void> {
    await once(this.#server.listen(this.#settings.port, this.#settings.host), 'listening')
  }

  /** Finishes the requests in progress and accepts no more. @param patience when it settles, all connections are closed */
  async close(patience: Promise<unknown>): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    const idle = setInterval(() => this.#server.closeIdleConnections(), 50)
    await Promise.race([closed, patience])
    clearInterval(idle)
    this.#server.closeAllConnections()
    this.#agent.destroy()
  }

  #forward(incoming: http.IncomingMessage, response: http.ServerResponse): void {
    const { isTrusted, addressHeader } = this.#settings
    const { headers, method, url = '' } = incoming
    const peer = peerAddress(incoming.socket.remoteAddress)
    const isProxied = isTrusted(peer)
    const origin = requestedOrigin(headers, isProxied)
    if (origin === null || !url.startsWith('/')) return void refuse(response, null, 'The address is malformed.')
    const target = this.#worker(url)
    if (target === null) return void refuse(response, 'database_unavailable', STARTING)
    this.#warn(peer, isProxied, headers)
    const address = clientAddress(peer, headers[addressHeader] as string | undefined, isTrusted)
    const sent: Record<string, string | string[]> = {}
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined && !HOP_BY_HOP.test(name) && !PLATFORM.test(name)) sent[name] = value
    }
    sent.host = origin.slice(origin.indexOf('//') + 2)
    sent['cf-connecting-ip'] = address
    const isChunked = headers['transfer-encoding'] !== undefined
    // Otherwise Node would write the body of a GET without a length, as if it were the next request.
    if (isChunked) sent['transfer-encoding'] = 'chunked'

    const { hostname, port } = target
    const outgoing = http.request({ agent: this.#agent, hostname, port, method, path: origin + url, headers: sent })
    outgoing.on('response', (answered) => {
      const own: string[] = []
      for (let i = 0; i < answered.rawHeaders.length; i += 2) {
        const name = answered.rawHeaders[i]!
        if (!HOP_BY_HOP.test(name.toLowerCase())) own.push(name, answered.rawHeaders[i + 1]!)
      }
      response.writeHead(answered.statusCode!, own)
      answered.on('error', () => response.destroy())
      answered.pipe(response)
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (response.headersSent) response.destroy()
      else if (error.code === 'ECONNREFUSED') refuse(response, 'database_unavailable', STARTING)
      else refuse(response, 'outcome_unknown', 'The Worker ended before its answer. It may or may not have counted.')
    })
    response.on('close', () => {
      if (!response.writableFinished) outgoing.destroy()
    })
    if (isChunked || headers['content-length'] !== undefined) incoming.pipe(outgoing)
    else outgoing.end()
  }

  /** Warns once of a mistake in the settings of the web server in front. Programs, unlike browsers, send no language, or `*`. */
  #warn(peer: string, isTrusted: boolean, headers: http.IncomingHttpHeaders): void {
    const { addressHeader: name } = this.#settings
    if (this.#hasWarned || (headers['accept-language'] ?? '*') === '*') return
    const isForwarded = headers[name] !== undefined
    let mistake = ''
    if (isForwarded && !isTrusted) mistake = `is not in TRUSTED_PROXIES, so its ${name} is ignored`
    if (!isForwarded && isTrusted) mistake = `has no ${name}, so its visitors count as one`
    else if (isTrusted && !headers['x-forwarded-proto']) mistake = 'has no X-Forwarded-Proto, so it is sent to https'
    this.#hasWarned = mistake !== ''
    if (this.#hasWarned) log('warn', 'proxy_headers', { message: `A request from ${peer} ${mistake}.` })
  }
}

/** Answers as the Worker does. @param code `null`: the request is malformed */
function refuse(
  response: http.ServerResponse,
  code: 'database_unavailable' | 'outcome_unknown' | null,
  detail: string,
) {
  const problem = code === null ? { title: http.STATUS_CODES[400], status: 400, detail } : reportOf({ code, detail })
  response.setHeader('Content-Type', 'application/problem+json').setHeader('Cache-Control', 'no-store')
  response.setHeader('Access-Control-Allow-Origin', '*').setHeader('Access-Control-Expose-Headers', 'X-Hit')
  if (code !== null) {
    response.setHeader('Retry-After', String(PROBLEMS[code].retryAfter))
    response.setHeader('X-Hit', code === 'outcome_unknown' ? 'unknown' : `ignored; reason=${code}`)
  }
  return response.writeHead(problem.status).end(JSON.stringify(problem))
}
