import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Behaviour, type Fault, NO_BEHAVIOUR, pause, takeFault } from './behaviour.ts'
import { Branch, type IsolationLevel, StatementError } from './branch.ts'
import { vitessError, type WireError } from './vitess-error.ts'

/** As vtgate's default for one message (grpc_max_message_size). */
const MAX_BODY_BYTES = 16 * 1024 * 1024

/** How to start an endpoint. */
export interface EndpointOptions {
  /** `mysql://user:password@host:port` of the server whose databases are served. */
  mysqlUrl: string
  /** The password of every credential. The user name of a credential is the name of the database it opens. */
  password: string
  /** Port on 127.0.0.1; 0 takes a free one. */
  port?: number
  /** The isolation level of its connections. Default: the server's. */
  isolation?: IsolationLevel
}

/** What a session token carries; opaque to the driver, which sends it back with the next statement. */
interface Session {
  signature: string
  vitessSession: {
    autocommit: true
    options: { includedFields: 'ALL'; clientFoundRows: true }
    SessionUUID: string
    inTransaction?: true
    shardSessions?: { target: { keyspace: string; shard: '-'; tabletType: 'PRIMARY' }; transactionId: string }[]
    DDLStrategy: 'direct'
    enableSystemSettings: true
  }
}

/** A request that is answered with an HTTP error. */
class HttpError extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/**
 * A stand-in for PlanetScale's HTTP API on this machine, for the real driver, in front of a real MySQL-family server:
 * `Execute` and `CreateSession`, on 127.0.0.1 only.
 *
 * Beyond the API, `/local/behaviour` (GET, PUT) makes it slow or faulty and `/local/statements` (GET, DELETE) shows what
 * it recorded, both for the database of the credential that asks.
 */
export class PlanetScaleEndpoint {
  readonly #options: EndpointOptions
  readonly #branches = new Map<string, Branch>()
  readonly #secret = randomBytes(32)
  readonly #server: Server

  constructor(options: EndpointOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => this.#fail(response, error))
    })
    // A Worker keeps connections open and reuses them; closing one while a request is on its way would look like a fault.
    this.#server.keepAliveTimeout = 120_000
  }

  /** Starts to listen. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#options.port ?? 0, '127.0.0.1', resolve)
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The DATABASE_URL that opens a database. */
  urlOf(database: string): string {
    return `http://${encodeURIComponent(database)}:${encodeURIComponent(this.#options.password)}@127.0.0.1:${this.port}`
  }

  /** Closes the connections to a database that is no longer needed. */
  async forget(database: string): Promise<void> {
    const branch = this.#branches.get(database)
    this.#branches.delete(database)
    await branch?.close()
  }

  /** Stops listening, rolls back open transactions and closes all connections. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
    await Promise.all([...this.#branches.keys()].map((database) => this.forget(database)))
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const branch = this.#authorize(request)
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const route = `${request.method} ${path}`
    switch (route) {
      case 'POST /psdb.v1alpha1.Database/Execute':
        return this.#execute(branch, await readBody(request), response)
      case 'POST /psdb.v1alpha1.Database/CreateSession': {
        await readBody(request)
        const user = { username: branch.database, psid: 'planetscale-local', role: 'writer' }
        return answer(response, { branch: 'main', user, session: this.#session(branch, randomUUID(), null) })
      }
      case 'GET /local/behaviour':
        return answer(response, branch.behaviour)
      case 'PUT /local/behaviour':
        branch.behaviour = { ...NO_BEHAVIOUR, ...((await readBody(request)) as Partial<Behaviour>) }
        return answer(response, branch.behaviour)
      case 'GET /local/statements':
        return answer(response, branch.recorded)
      case 'DELETE /local/statements':
        branch.recorded.length = 0
        return answer(response, [])
      default:
        if (/^\/psdb\.v1alpha1\.Database\/(Execute|CreateSession)$/.test(path)) {
          throw new HttpError(405, 'UNIMPLEMENTED', `${path} takes POST`)
        }
        throw new HttpError(404, 'NOT_FOUND', `no such method: ${route}`)
    }
  }

  async #execute(branch: Branch, body: Record<string, unknown>, response: ServerResponse): Promise<void> {
    const began = performance.now()
    const { query, session } = body
    if (typeof query !== 'string' || query.trim() === '') {
      throw new HttpError(400, 'INVALID_ARGUMENT', 'query must be a non-empty string')
    }
    const { uuid, transactionId } = this.#readSession(branch, session)
    const { latencyMs } = branch.behaviour
    const fault = takeFault(branch.behaviour, query)
    await pause(latencyMs / 2)
    if (fault && this.#faultBefore(fault, response)) return
    const reply = async (fields: object, transaction: string | null) => {
      if (fault?.action === 'cut-answer') return void response.socket?.resetAndDestroy()
      if (fault?.action === 'hang-answer') return
      await pause(latencyMs / 2)
      const timing = (performance.now() - began) / 1_000
      answer(response, { session: this.#session(branch, uuid, transaction), ...fields, timing })
    }
    try {
      if (fault?.action === 'error') {
        const { errno = 1105 } = fault
        throw new StatementError(vitessError(branch.database, { errno, message: 'injected fault', sql: query }))
      }
      const outcome = await branch.run(query, transactionId)
      await reply({ result: outcome.result }, outcome.transactionId)
    } catch (error) {
      if (!(error instanceof StatementError)) throw error
      await reply({ error: error.wire }, await branch.afterFailure(query, error.wire, transactionId))
    }
  }

  /** Acts on a fault that comes before the statement and is not an answer to it; says whether the request is over. */
  #faultBefore(fault: Fault, response: ServerResponse): boolean {
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

  /** Basic auth: the user names the database, the password opens it. */
  #authorize(request: IncomingMessage): Branch {
    const [scheme, credentials = ''] = (request.headers.authorization ?? '').split(' ')
    const decoded = Buffer.from(credentials, 'base64')
    // Node decodes what it can and passes over the rest; PlanetScale refuses what is not base64.
    const wellFormed = scheme?.toLowerCase() === 'basic' && decoded.toString('base64') === credentials
    const text = wellFormed ? decoded.toString() : ''
    const colon = text.indexOf(':')
    // The driver sends user and password as they stand in the URL, percent-encoding and all; where they do not come from a
    // URL, they are as they are.
    const database = decodePercent(text.slice(0, colon))
    const password = text.slice(colon + 1)
    if (colon < 1 || !(this.#isPassword(password) || this.#isPassword(decodePercent(password)))) {
      throw new HttpError(401, 'UNAUTHENTICATED', 'invalid authentication credentials')
    }
    const known = this.#branches.get(database)
    if (known) return known
    const branch = new Branch(this.#options.mysqlUrl, database, this.#options.isolation)
    this.#branches.set(database, branch)
    return branch
  }

  #isPassword(password: string): boolean {
    const digest = (text: string) => createHmac('sha256', this.#secret).update(text).digest()
    return timingSafeEqual(digest(password), digest(this.#options.password))
  }

  #session(branch: Branch, uuid: string, transactionId: string | null): Session {
    const target = { keyspace: branch.database, shard: '-', tabletType: 'PRIMARY' } as const
    return {
      signature: this.#sign(branch, uuid, transactionId),
      vitessSession: {
        autocommit: true,
        options: { includedFields: 'ALL', clientFoundRows: true },
        ...(transactionId !== null && { inTransaction: true, shardSessions: [{ target, transactionId }] }),
        SessionUUID: uuid,
        DDLStrategy: 'direct',
        enableSystemSettings: true,
      },
    }
  }

  #readSession(branch: Branch, session: unknown): { uuid: string; transactionId: string | null } {
    if (session === null || session === undefined) return { uuid: randomUUID(), transactionId: null }
    const { signature, vitessSession } = session as Partial<Session>
    const uuid = vitessSession?.SessionUUID ?? ''
    const transactionId = vitessSession?.shardSessions?.[0]?.transactionId ?? null
    if (signature !== this.#sign(branch, uuid, transactionId)) {
      throw new HttpError(400, 'INVALID_ARGUMENT', 'the session was not issued by this endpoint')
    }
    return { uuid, transactionId }
  }

  #sign(branch: Branch, uuid: string, transactionId: string | null): string {
    const content = [branch.database, uuid, transactionId].join('\0')
    return createHmac('sha256', this.#secret).update(content).digest('base64')
  }

  #fail(response: ServerResponse, error: unknown): void {
    if (response.headersSent || response.destroyed) return void response.destroy()
    const known = error instanceof HttpError
    const wire: WireError = known
      ? { code: error.code, message: error.message }
      : { code: 'INTERNAL', message: String(error) }
    if (known && error.status === 401) response.setHeader('WWW-Authenticate', 'Basic realm="planetscale"')
    answer(response, { error: wire }, known ? error.status : 500)
  }
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) {
      throw new HttpError(413, 'RESOURCE_EXHAUSTED', `the body is larger than ${MAX_BODY_BYTES} bytes`)
    }
    chunks.push(chunk)
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString() || '{}')
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>
  } catch {
    // Falls through to the same answer.
  }
  throw new HttpError(400, 'INVALID_ARGUMENT', 'the body must be a JSON object')
}

function answer(response: ServerResponse, body: object, status = 200): void {
  if (response.destroyed) return
  const text = JSON.stringify(body)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}
