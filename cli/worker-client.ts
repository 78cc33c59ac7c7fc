import type { KeyedType } from '../src/counters/keys/key-address.ts'
import { START } from './command-name.ts'
import { fetchText, MAX_WAIT, PassingError, RefusedError, retried } from './retried.ts'

/** The codes of conflicts (409) that may pass. */
const CONFLICTS_THAT_PASS = new Set(['overtaken', 'rollup_running'])

/** Which Worker to talk to, and how. */
export interface WorkerClientOptions {
  url: string
  token: string
  /** Aborts the request in progress. */
  signal: AbortSignal
  /** Called before each retry. Default: says the message on standard error. */
  onRetry?: (message: string) => void
  /** Milliseconds after which an attempt is given up. Default: 30,000. */
  deadlineMs?: number
}

/** A client of a Worker's API. It retries requests that fail for a reason that may pass. */
export class WorkerClient {
  /** How many attempts were sent again. */
  retries = 0
  readonly #options: WorkerClientOptions
  /** Whether the Worker has ever answered: then it may only be restarting. */
  #answered = false

  constructor(options: WorkerClientOptions) {
    this.#options = options
  }

  /** Reads JSON. @throws {RefusedError} if a retry would not help */
  async get<T>(path: string): Promise<T> {
    return JSON.parse((await this.#send('GET', path)).text, exactIntegers)
  }

  /** Reads pages: the `next` of each is the `after` of the following one. @throws {RefusedError} if a retry would not help */
  async *pages<T>(method: 'GET' | 'POST', path: string, query: Record<string, string>) {
    for (let next: string | null | undefined; next !== null; ) {
      const parameters = new URLSearchParams({ ...query, ...(next !== undefined && { after: next }) })
      const { text } = await this.#send(method, `${path}?${parameters}`)
      const page = readPage<T>(text)
      if (page === null) throw new Error(`the answer of ${this.#options.url} does not match this version of the Worker`)
      yield page
      next = page.next
    }
  }

  /**
   * Posts a request that may safely be repeated.
   * @returns the response's text, and whether the Worker recognized the idempotency key
   * @throws {RefusedError} if a retry would not help
   */
  async post(path: string, body?: unknown, idempotencyKey?: string): Promise<{ text: string; repeated: boolean }> {
    const { text, headers } = await this.#send('POST', path, body, idempotencyKey)
    return { text, repeated: headers.get('Idempotent-Replayed') === 'true' }
  }

  /** Changes something once: all attempts have the same idempotency key. @throws {RefusedError} if a retry would not help */
  async change<T>(method: 'DELETE' | 'POST', path: string, body?: unknown): Promise<T> {
    return JSON.parse((await this.#send(method, path, body, crypto.randomUUID())).text, exactIntegers)
  }

  #send(method: string, path: string, body?: unknown, idempotencyKey?: string) {
    const { url, token, signal, onRetry = console.error, deadlineMs } = this.#options
    const headers = {
      Authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const attempt = async () => {
      const address = url.replace(/\/+$/, '') + path
      const { response, text } = await fetchText(address, init, signal, deadlineMs).catch((error) => {
        if (this.#answered || !isNobodyThere(error)) throw error
        throw new RefusedError(`nothing answers at ${url}: is \`${START}\` running, with the same PORT?`)
      })
      this.#answered = true
      if (response.ok) return { text, headers: response.headers }
      const { code, detail } = readProblem(text)
      const problem = `the Worker answered ${response.status}: ${detail}`
      const mayPass = response.status >= 500 || response.status === 429 || CONFLICTS_THAT_PASS.has(code)
      if (!mayPass) throw new RefusedError(problem, code)
      throw new PassingError(problem, Math.min(Number(response.headers.get('Retry-After')) || 0, MAX_WAIT))
    }
    const noteRetry = (message: string) => {
      this.retries++
      onRetry(message)
    }
    return retried(attempt, { signal, onRetry: noteRetry })
  }
}

/** The path of a counter in the API. */
export function counterPath(type: string, key: string): string {
  return `/v1/counters/${encodeURIComponent(type)}/${encodeURIComponent(key)}`
}

/** A reviver for `JSON.parse` that returns integers as bigints where JavaScript would round them. */
function exactIntegers(_: string, value: unknown, context?: { source: string }): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(context!.source) : value
}

function readPage<T>(text: string): (T & { next: string | null }) | null {
  try {
    const page = JSON.parse(text, exactIntegers)
    return page.next === null || typeof page.next === 'string' ? page : null
  } catch {
    return null
  }
}

/** Whether no server listens at an address, or there is no such address. */
function isNobodyThere(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as { code?: string }
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND'
}

/** Reads a problem document. Of any other response, the beginning of its text is the detail. */
function readProblem(text: string): { code: string; detail: string } {
  try {
    const { code = '', detail } = JSON.parse(text)
    return { code: String(code), detail: String(detail) }
  } catch {
    return { code: '', detail: text.slice(0, 200) }
  }
}

/** Reads the counter types that a Worker is configured with. @throws {RefusedError} if `needed` is not among them */
export async function configuredTypes(
  worker: WorkerClient,
  needed?: string,
): Promise<Map<string, KeyedType & { name: string }>> {
  const { types } = await worker.get<{ types: (KeyedType & { name: string })[] }>('/v1/status')
  const named = new Map(types.map((type) => [type.name, type]))
  if (needed === undefined || named.has(needed)) return named
  throw new RefusedError(
    `the Worker has no counter type "${needed}"; choose one with --type: ${[...named.keys()].join(', ')}`,
  )
}
