import { toJson } from './database/values.ts'

/** Writes one line to the Worker's log. @param level `error`: a fault of the Worker or its database, never a mistake of a client */
export function log(level: 'info' | 'warn' | 'error', event: string, fields: Record<string, unknown>): void {
  console[level](toJson({ event, ...fields }))
}

/** Milliseconds between two lines of one code: in an outage, each refused request would otherwise write one. */
const REFUSALS_EVERY_MS = 1_000

/** The log of the requests that an isolate refuses, although they did nothing wrong. Plain data. */
export class RefusedRequests {
  readonly #codes = new Map<string, { loggedAt: number; unlogged: number }>()

  /** Logs a request, or lets the next line of its code count it in `requests`. Each internal error has its own line: it may be another bug. */
  add(problem: { code: string; reason: string }, fields: Record<string, unknown>): void {
    const now = Date.now()
    const { loggedAt, unlogged } = this.#codes.get(problem.code) ?? { loggedAt: 0, unlogged: 0 }
    // The clock may be set back.
    const waits = problem.code !== 'internal_error' && Math.abs(now - loggedAt) < REFUSALS_EVERY_MS
    this.#codes.set(problem.code, waits ? { loggedAt, unlogged: unlogged + 1 } : { loggedAt: now, unlogged: 0 })
    if (!waits) log('error', problem.code, { ...fields, error: problem.reason, requests: unlogged + 1 })
  }
}
