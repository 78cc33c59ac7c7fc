import type { Context } from 'hono'
import type { FieldError } from '../field-errors.ts'
import { log } from '../log.ts'
import { PROBLEMS, type ProblemCode } from '../openapi/problem-codes.ts'
import type { AppEnv } from './context.ts'

/** Details of one problem, beyond what its code says. */
export interface ProblemDetails {
  /** What happened this time and what to do about it. */
  detail: string
  /** The fields that are wrong, if it is about fields. */
  errors?: readonly FieldError[]
  headers?: Record<string, string>
  /** The underlying error: for the log, never for the client. */
  cause?: unknown
}

/** What a problem says, wherever it is told. */
export interface ProblemReport {
  type: string
  title: string
  status: number
  code: ProblemCode
  detail: string
  errors?: readonly FieldError[]
}

/** An error response. Anything below a route may throw it; the client gets a problem document (RFC 9457). */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: (typeof PROBLEMS)[ProblemCode]['status']
  readonly details: ProblemDetails

  constructor(code: ProblemCode, details: ProblemDetails) {
    super(details.detail, { cause: details.cause })
    this.name = 'Problem'
    this.code = code
    this.status = PROBLEMS[code].status
    this.details = details
  }

  /** The problem as data. */
  get report(): ProblemReport {
    const { detail, errors } = this.details
    return {
      type: `urn:slotted-counter:problem:${this.code}`,
      title: PROBLEMS[this.code].title,
      status: this.status,
      code: this.code,
      detail,
      ...(errors && { errors }),
    }
  }

  /** The problem document, with the headers that the response already has (request id, CORS). */
  toResponse(c: Context<AppEnv>): Response {
    const document = { ...this.report, requestId: c.get('requestId') }
    return c.body(JSON.stringify(document), this.status, {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...this.details.headers,
    })
  }
}

/** Errors that one answer lists, so that no request gets an answer much longer than itself. */
const MAX_ERRORS = 20

/** The problem of a request with invalid fields. */
export function invalidRequest(errors: readonly FieldError[]): Problem {
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const detail = `${first?.field} ${first?.message}${more}.`
  return new Problem('invalid_request', { detail, errors: errors.slice(0, MAX_ERRORS) })
}

/** Logs a response that is our fault or the database's, with the underlying error, which the client is not told. */
export function logFailure(c: Context<AppEnv>, problem: Problem): void {
  const reason = problem.cause instanceof Error ? problem.cause.message : problem.message
  log('error', problem.code, {
    requestId: c.get('requestId'),
    path: new URL(c.req.url).pathname,
    error: reason,
  })
}
