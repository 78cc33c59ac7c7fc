import { setTimeout } from 'node:timers/promises'
import pRetry, { AbortError } from 'p-retry'
import type { KeyedType } from '../src/counters/keys/key-address.ts'

const RETRIES = 8
/** The longest `Retry-After` that is obeyed, in seconds. */
const MAX_WAIT = 120
/** The codes of conflicts (409) that may pass. */
const CONFLICTS_THAT_PASS = new Set(['overtaken', 'rollup_running'])

/** The Worker refused a request. Sending it again would not help. */
export class RefusedError extends Error {
  /** The fields that are wrong, in the Worker's words. */
  readonly errors: readonly { field: string; message: string }[]

  /** The code of the Worker's problem; empty if there is none. */
  readonly code: string

  constructor(message: string, errors: readonly { field: string; message: string }[] = [], code = '') {
    super(message)
    this.errors = errors
    this.code = code
  }
}

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
  readonly #options: WorkerClientOptions
  /** Whether the Worker has ever answered: then it may only be restarting. */
  #answered = false

  constructor(options: WorkerClientOptions) {
    this.#options = options
  }

  /** @throws {RefusedError} if a retry would not help */
  async get(path: string): Promise<string> {
    return (await this.#send(path, {})).text
  }

  /**
   * Posts a request that may safely be repeated.
   *
   * @returns the response's text, and whether the Worker recognised the idempotency key
   * @throws {RefusedError} if a retry would not help
   */
  async post(path: string, body?: unknown, idempotencyKey?: string): Promise<{ text: string; repeated: boolean }> {
    const { text, headers } = await this.#send(path, {
      method: 'POST',
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { text, repeated: headers.get('Idempotent-Replayed') === 'true' }
  }

  /**
   * Changes something once. All attempts have the same idempotency key.
   *
   * @throws {RefusedError} if a retry would not help
   */
  async change(method: 'DELETE' | 'POST', path: string, body?: unknown): Promise<string> {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const init =
      body === undefined
        ? { method, headers }
        : { method, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
    return (await this.#send(path, init)).text
  }

  async #send(path: string, init: { method?: string; headers?: Record<string, string>; body?: string }) {
    const { url, token, signal, onRetry = console.error, deadlineMs = 30_000 } = this.#options
    let waitSeconds = 0
    return pRetry(
      async () => {
        waitSeconds = 0
        const response = await fetch(url.replace(/\/+$/, '') + path, {
          ...init,
          headers: { Authorization: `Bearer ${token}`, ...init.headers },
          signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
        }).catch((error: unknown) => {
          if (this.#answered || !isNobodyThere(error)) throw error
          throw new AbortError(`nothing answers at ${url}: is \`npm start\` running, with the same PORT?`)
        })
        this.#answered = true
        const text = await response.text()
        if (response.ok) return { text, headers: response.headers }
        const { code, detail, errors } = readProblem(text)
        const problem = `the Worker answered ${response.status}: ${detail}`
        const mayPass = response.status >= 500 || response.status === 429 || CONFLICTS_THAT_PASS.has(code)
        waitSeconds = Math.min(Number(response.headers.get('Retry-After')) || 0, MAX_WAIT)
        throw mayPass ? new Error(problem) : new AbortError(new RefusedError(problem, errors, code))
      },
      {
        retries: RETRIES,
        minTimeout: 250,
        maxTimeout: 10_000,
        randomize: true,
        signal,
        onFailedAttempt: async ({ error, retriesLeft }) => {
          if (retriesLeft === 0) return
          const when = waitSeconds > 0 ? ` in ${waitSeconds} s` : ''
          onRetry(`${describeError(error)}; trying again${when} (${retriesLeft} left) …`)
          await setTimeout(waitSeconds * 1_000, undefined, { signal })
        },
      },
    )
  }
}

/** Whether no server listens at an address, or there is no such address. */
function isNobodyThere(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as { code?: string }
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND'
}

/** Reads a problem document. Of any other response, the beginning of its text is the detail. */
function readProblem(text: string): { code: string; detail: string; errors: { field: string; message: string }[] } {
  try {
    const { code, detail, errors } = JSON.parse(text) as {
      code?: unknown
      detail: unknown
      errors?: { field: string; message: string }[]
    }
    return { code: String(code ?? ''), detail: String(detail), errors: Array.isArray(errors) ? errors : [] }
  } catch {
    return { code: '', detail: text.slice(0, 200), errors: [] }
  }
}

/** The message of an error and of its cause. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return `${error.message}${cause}`
}

/** Reads the counter types that a Worker is configured with. */
export async function configuredTypes(worker: WorkerClient): Promise<(KeyedType & { name: string })[]> {
  return (JSON.parse(await worker.get('/v1/status')) as { types: (KeyedType & { name: string })[] }).types
}
