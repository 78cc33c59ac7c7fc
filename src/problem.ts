import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { AppEnv } from './app-env.ts'
import type { FieldError } from './field-errors.ts'
import { log } from './log.ts'

/** Every problem a client can meet: its stable code, its status, and what it means in general. */
export const PROBLEMS = {
  malformed_body: { status: 400, title: 'The body is not what its content type says' },
  malformed_query: { status: 400, title: 'The query string is not percent-encoded UTF-8' },
  malformed_key: { status: 400, title: 'The key in the path is not percent-encoded UTF-8' },
  unauthorized: { status: 401, title: 'A valid API token is needed' },
  cross_site_request: { status: 403, title: 'Another site may not do this in your name' },
  not_found: { status: 404, title: 'There is nothing at this path' },
  unknown_type: { status: 404, title: 'There is no such counter type' },
  method_not_allowed: { status: 405, title: 'This path does not take this method' },
  overtaken: { status: 409, title: 'Others kept changing the same counters' },
  rollup_running: { status: 409, title: 'Another roll-up is running' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported here' },
  invalid_request: { status: 422, title: 'The request has invalid fields' },
  count_out_of_range: { status: 422, title: 'The count would leave the range of 64-bit integers' },
  internal_error: { status: 500, title: 'Something is wrong on our side' },
  configuration_invalid: { status: 503, title: 'The Worker is not configured correctly' },
  database_unavailable: { status: 503, title: 'The database does not answer' },
  database_not_ready: { status: 503, title: 'The database does not have the tables this version needs' },
  overloaded: { status: 503, title: 'Too much is waiting to be counted' },
  outcome_unknown: { status: 503, title: 'The database did not say whether this was done' },
} as const satisfies Record<string, { status: ContentfulStatusCode; title: string }>

export type ProblemCode = keyof typeof PROBLEMS

/** Details of one problem, beyond what its code says. */
export interface ProblemDetails {
  /** What happened this time and what to do about it. */
  detail: string
  /** The fields that are wrong, where it is about fields. */
  errors?: readonly FieldError[]
  headers?: Record<string, string>
  /** The error behind it: for the log, never for the client. */
  cause?: unknown
}

/** An answer that is an error: thrown anywhere below a route, sent as a problem document (RFC 9457). */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: ContentfulStatusCode
  readonly details: ProblemDetails

  constructor(code: ProblemCode, details: ProblemDetails) {
    super(details.detail, { cause: details.cause })
    this.name = 'Problem'
    this.code = code
    this.status = PROBLEMS[code].status
    this.details = details
  }

  /** The problem document, with whatever headers the request has collected by now (its id, CORS). */
  toResponse(c: Context<AppEnv>): Response {
    const { detail, errors, headers } = this.details
    const document = {
      type: `urn:slotted-counter:problem:${this.code}`,
      title: PROBLEMS[this.code].title,
      status: this.status,
      code: this.code,
      detail,
      ...(errors && { errors }),
      requestId: c.get('requestId'),
    }
    return c.body(JSON.stringify(document), this.status, {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...headers,
    })
  }
}

/**
 * Logs an answer that is our own fault or our database's: with the error behind it, which the client is not told.
 *
 * @param error what the problem was made of, if that is not its cause
 */
export function logFailure(c: Context<AppEnv>, problem: Problem, error: Error = problem): void {
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  log('error', problem.code, { requestId: c.get('requestId'), path: c.req.path, error: reason })
}
