import { setTimeout } from 'node:timers/promises'
import pRetry from 'p-retry'

const RETRIES = 8
/** The longest wait that a server may ask for, in seconds. */
export const MAX_WAIT = 120

/** A server refused a request. Sending it again would not help. */
export class RefusedError extends Error {
  /** The code of a Worker's problem; empty if there is none. */
  readonly code: string

  constructor(message: string, code = '') {
    super(message)
    this.code = code
  }
}

/** A failure that may pass. */
export class PassingError extends Error {
  readonly waitSeconds: number

  /** @param waitSeconds how long the server asks to wait */
  constructor(message: string, waitSeconds = 0) {
    super(message)
    this.waitSeconds = waitSeconds
  }
}

/**
 * Sends a request until it succeeds, nine times at most.
 * @param onRetry called before each further attempt
 * @throws {RefusedError} at once, if an attempt does; otherwise the last error
 */
export function retried<T>(
  attempt: () => Promise<T>,
  { signal, onRetry }: { signal: AbortSignal; onRetry: (message: string) => void },
): Promise<T> {
  return pRetry(attempt, {
    retries: RETRIES,
    minTimeout: 250,
    maxTimeout: 10_000,
    randomize: true,
    signal,
    shouldRetry: async ({ error, retriesLeft }) => {
      if (error instanceof RefusedError) return false
      const seconds = error instanceof PassingError ? error.waitSeconds : 0
      onRetry(`${describeError(error)}; trying again${seconds > 0 ? ` in ${seconds} s` : ''} (${retriesLeft} left) …`)
      await setTimeout(seconds * 1_000, undefined, { signal })
      return true
    },
  })
}

/** Fetches a text. The attempt is given up after `deadlineMs`. */
export async function fetchText(url: string, init: RequestInit, signal: AbortSignal, deadlineMs = 30_000) {
  const response = await fetch(url, { ...init, signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]) })
  return { response, text: await response.text() }
}

/** The message of an error, or its code if it has none, and the message of its cause. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause, code } = error as Error & { code?: string }
  return `${message || code || error.name}${cause instanceof Error ? ` (${cause.message})` : ''}`
}
