import pRetry, { AbortError } from 'p-retry'

const REQUEST_DEADLINE_MS = 30_000
const RETRIES = 8

/** The Worker will not take this, however often it is sent. */
export class RefusedError extends Error {
  /** What is wrong with which field, as the Worker put it. */
  readonly errors: readonly { field: string; message: string }[]

  constructor(message: string, errors: readonly { field: string; message: string }[] = []) {
    super(message)
    this.errors = errors
  }
}

/** Which Worker to talk to, and how. */
export interface WorkerApiOptions {
  url: string
  token: string
  /** Ends what is under way. */
  signal: AbortSignal
  /** Told of each failure after which it is tried again. */
  onRetry: (message: string) => void
}

/** The API of a running Worker, for programs that send much: what fails and may pass is sent again. */
export class WorkerApi {
  readonly #options: WorkerApiOptions

  constructor(options: WorkerApiOptions) {
    this.#options = options
  }

  /** Asks for something. */
  async get(path: string): Promise<string> {
    return (await this.#send(path, {})).text
  }

  /**
   * Sends something that is done once however often it is sent.
   *
   * @returns whether it had been done before
   */
  async post(path: string, body: unknown, idempotencyKey: string): Promise<{ repeated: boolean }> {
    const { headers } = await this.#send(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
      body: JSON.stringify(body),
    })
    return { repeated: headers.get('Idempotent-Replayed') === 'true' }
  }

  async #send(path: string, init: { method?: string; headers?: Record<string, string>; body?: string }) {
    const { url, token, signal, onRetry } = this.#options
    return pRetry(
      async () => {
        const response = await fetch(new URL(path, url), {
          ...init,
          headers: { Authorization: `Bearer ${token}`, ...init.headers },
          signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_DEADLINE_MS)]),
        })
        const text = await response.text()
        if (response.ok) return { text, headers: response.headers }
        const { detail, errors } = readProblem(text)
        const problem = `the Worker answered ${response.status}: ${detail}`
        const mayPass = response.status >= 500 || response.status === 429 || response.status === 409
        throw mayPass ? new Error(problem) : new AbortError(new RefusedError(problem, errors))
      },
      {
        retries: RETRIES,
        minTimeout: 250,
        maxTimeout: 10_000,
        randomize: true,
        signal,
        onFailedAttempt: ({ error, retriesLeft }) => {
          if (retriesLeft > 0) onRetry(`${describeError(error)}; trying again (${retriesLeft} left) …`)
        },
      },
    )
  }
}

/** What a problem document says; the beginning of anything else. */
function readProblem(text: string): { detail: string; errors: { field: string; message: string }[] } {
  try {
    const { detail, errors } = JSON.parse(text) as { detail: unknown; errors?: { field: string; message: string }[] }
    return { detail: String(detail), errors: Array.isArray(errors) ? errors : [] }
  } catch {
    return { detail: text.slice(0, 200), errors: [] }
  }
}

/** What an error says, with its cause. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return `${error.message}${cause}`
}
