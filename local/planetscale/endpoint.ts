import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Behaviour, type Fault, NO_BEHAVIOUR, pause, takeFault } from './fault-injection.ts'
import { HttpError, readJson, sendJson } from './json-http.ts'
import { ServedDatabase } from './served-database.ts'
import { SessionSigner } from './session.ts'
import { StatementError, serverError, type WireError } from './vitess-error.ts'

/** How to start an endpoint. */
export interface EndpointOptions {
  /** `mysql://user:password@host:port` of the server whose databases it serves: MySQL, MariaDB, or a vtgate with keyspaces. */
  mysqlUrl: string
  /** The password of every credential. Its user name is the name of the database that it opens. */
  password: string
  /** Port on 127.0.0.1. Default: a free one. */
  port?: number
}

/**
 * A local stand-in for PlanetScale's HTTP API, for the real driver, in front of a MySQL-family server. It serves `Execute` and
 * `CreateSession`, on 127.0.0.1 only.
 *
 * Two paths are not part of the API. `/local/behaviour` (GET, PUT) makes the endpoint slow or faulty, and `/local/statements`
 * (GET, DELETE) returns the statements that it recorded. Both concern the database of the credential only.
 */
export class PlanetScaleEndpoint {
  readonly #options: EndpointOptions
  readonly #databases = new Map<string, ServedDatabase>()
  readonly #sessions = new SessionSigner()
  readonly #server: Server

  constructor(options: EndpointOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => this.#fail(response, error))
    })
    // A Worker keeps connections open and reuses them. Closing one while a request is on its way would look like a fault.
    this.#server.keepAliveTimeout = 120_000
  }

  /** Starts to listen. */
  async listen(): Promise<void> {
    await once(this.#server.listen(this.#options.port ?? 0, '127.0.0.1'), 'listening')
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The DATABASE_URL that opens a database. */
  urlOf(database: string): string {
    return `http://${encodeURIComponent(database)}:${encodeURIComponent(this.#options.password)}@127.0.0.1:${this.port}`
  }

  /** Stops listening, rolls back open transactions and closes all connections. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
    await Promise.all([...this.#databases.values()].map((database) => database.close()))
    this.#databases.clear()
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const database = this.#authorize(request)
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const route = `${request.method} ${path}`
    switch (route) {
      case 'POST /psdb.v1alpha1.Database/Execute':
        return this.#execute(database, await readJson(request), response)
      case 'POST /psdb.v1alpha1.Database/CreateSession': {
        await readJson(request)
        const user = { username: database.name, psid: 'planetscale-local', role: 'writer' }
        const session = this.#sessions.read(database.name, null)
        return sendJson(response, { branch: 'main', user, session: this.#sessions.issue(database.name, session) })
      }
      case 'GET /local/behaviour':
        return sendJson(response, database.behaviour)
      case 'PUT /local/behaviour':
        database.behaviour = { ...NO_BEHAVIOUR, ...((await readJson(request)) as Partial<Behaviour>) }
        return sendJson(response, database.behaviour)
      case 'GET /local/statements':
        return sendJson(response, database.recorded)
      case 'DELETE /local/statements':
        database.recorded.length = 0
        return sendJson(response, [])
      default:
        if (/^\/psdb\.v1alpha1\.Database\/(Execute|CreateSession)$/.test(path)) {
          throw new HttpError(405, 'UNIMPLEMENTED', `${path} requires POST`)
        }
        throw new HttpError(404, 'NOT_FOUND', `no such method: ${route}`)
    }
  }

  async #execute(database: ServedDatabase, body: Record<string, unknown>, response: ServerResponse): Promise<void> {
    const began = performance.now()
    const { query } = body
    if (typeof query !== 'string' || query.trim() === '') {
      throw new HttpError(400, 'INVALID_ARGUMENT', 'query must be a non-empty string')
    }
    const session = this.#sessions.read(database.name, body.session)
    const { latencyMs } = database.behaviour
    const fault = takeFault(database.behaviour, query)
    await pause(latencyMs / 2)
    if (fault && endsRequest(fault, response)) return
    const reply = async (fields: object) => {
      if (fault?.action === 'cut-answer') return void response.socket?.resetAndDestroy()
      if (fault?.action === 'hang-answer') return
      await pause(latencyMs / 2)
      const timing = (performance.now() - began) / 1_000
      sendJson(response, { session: this.#sessions.issue(database.name, session), ...fields, timing })
    }
    try {
      if (fault?.action === 'error') {
        const { errno = 1105 } = fault
        throw new StatementError(serverError(database.name, { errno, message: 'injected fault', sql: query }))
      }
      await reply({ result: await database.run(query, session) })
    } catch (error) {
      if (!(error instanceof StatementError)) throw error
      await database.afterFailure(query, error.wire, session)
      await reply({ error: error.wire })
    }
  }

  #authorize(request: IncomingMessage): ServedDatabase {
    const name = authenticatedUser(request.headers.authorization, this.#options.password)
    if (name === null) throw new HttpError(401, 'UNAUTHENTICATED', 'invalid authentication credentials')
    const known = this.#databases.get(name)
    if (known) return known
    const database = new ServedDatabase(this.#options.mysqlUrl, name)
    this.#databases.set(name, database)
    return database
  }

  #fail(response: ServerResponse, error: unknown): void {
    if (response.headersSent || response.destroyed) return void response.destroy()
    const known = error instanceof HttpError
    const wire: WireError = known
      ? { code: error.code, message: error.message }
      : { code: 'INTERNAL', message: String(error) }
    if (known && error.status === 401) response.setHeader('WWW-Authenticate', 'Basic realm="planetscale"')
    sendJson(response, { error: wire }, known ? error.status : 500)
  }
}

/** Acts on a fault that comes before the statement. Returns whether it ends the request. */
function endsRequest(fault: Fault, response: ServerResponse): boolean {
  switch (fault.action) {
    case 'cut-request':
      response.socket?.resetAndDestroy()
      return true
    case 'hang-request':
      return true
    case 'html':
      response.writeHead(fault.status ?? 502, { 'Content-Type': 'text/html' })
      response.end('<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>')
      return true
    default:
      return false
  }
}

/**
 * Returns the user name of an `Authorization: Basic …` header; `null` if the header is malformed or the password is wrong.
 *
 * The driver sends user and password as they are in the URL, percent-encoded. If they do not come from a URL, it sends them
 * unchanged, so both forms of the password are accepted.
 */
function authenticatedUser(authorization: string | undefined, password: string): string | null {
  const [scheme, credentials = ''] = (authorization ?? '').split(' ')
  const decoded = Buffer.from(credentials, 'base64')
  // Node skips characters that are not base64; PlanetScale refuses them.
  if (scheme?.toLowerCase() !== 'basic' || decoded.toString('base64') !== credentials) return null
  const text = decoded.toString()
  const colon = text.indexOf(':')
  const given = text.slice(colon + 1)
  if (colon < 1 || !(isEqual(given, password) || isEqual(decodePercent(given), password))) return null
  return decodePercent(text.slice(0, colon))
}

/** Compares two texts in constant time. */
function isEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
