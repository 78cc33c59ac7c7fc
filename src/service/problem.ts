import { ConfigurationError } from '../config/config.ts'
import { type ChangeRefusal, ChangeRefused, KeyReused } from '../counters/changes/change.ts'
import { MAX_ROWS } from '../counters/changes/counter-state.ts'
import { TooManyKeys } from '../counters/keys/prefix.ts'
import { Overtaken } from '../counters/ledger/totals.ts'
import { Overloaded } from '../counters/shared-work-state.ts'
import { DatabaseFailure } from '../database/errors.ts'
import { type FieldError, InvalidInput } from '../field-errors.ts'
import { PROBLEMS, type ProblemCode } from '../openapi/problems.ts'

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

/** Seconds after which a client should retry when the database does not answer. */
const RETRY_AFTER = { 'Retry-After': '5' }

const LOGGED = 'This was logged under the request id.'
export const KEY_REUSED =
  'A request with this Idempotency-Key came before, with other contents. Nothing was changed. Use another key.'
const AWAY: [ProblemCode, string] = ['database_unavailable', 'The database does not answer. Try again later.']

/** What a client is told if a statement fails and nothing was done. */
const DATABASE_PROBLEMS: Record<DatabaseFailure['kind'], [ProblemCode, string]> = {
  unavailable: AWAY,
  contention: AWAY,
  credentials: ['database_unavailable', 'The database refuses DATABASE_URL’s credentials.'],
  schema: [
    'database_not_ready',
    'Make the tables: sign in on the Worker’s front page, or run `npm run migrate` against this database.',
  ],
  shards: [
    'too_few_ranges',
    'Raise SHARDING.ranges in wrangler.toml to a power of two that is at least the number of shards, and deploy.',
  ],
  range: ['count_out_of_range', 'The sum would not fit into a signed 64-bit integer.'],
  rejected: ['internal_error', LOGGED],
}

/** What a client is told if a counter is not deleted, renamed or merged. */
const REFUSALS: Record<ChangeRefusal, [ProblemCode, string]> = {
  no_such_counter: ['no_such_counter', 'There is no such counter.'],
  no_such_target: ['no_such_counter', 'There is no counter to merge into.'],
  counter_exists: ['counter_exists', 'There is a counter with the new key. Merge into it, or delete it first.'],
  count_not_below: ['count_not_below', 'The count is not below this number.'],
  different_ranges: [
    'different_ranges',
    'The two keys are in different ranges (SHARDING.ranges), and nothing changes two ranges at once. Set both counters instead, or export and import the history.',
  ],
  history_too_large: ['history_too_large', `The counter has more than ${MAX_ROWS} rows of history.`],
}

/** What a request was changing. It decides what is true for the client if the outcome is unknown. */
export interface Change {
  /** What may or may not have happened. */
  may: 'have been counted' | 'have been done'
  /** What the client can do about it. */
  advice: string
}

/**
 * Turns any error into the problem that the client is told. Only messages that were written for clients leave the Worker.
 *
 * @param change for errors of a request that changes something
 */
export function problemOf(error: unknown, change?: Change): Problem {
  if (error instanceof Problem) return error
  if (error instanceof InvalidInput) return invalidRequest([{ field: error.field, message: error.message }])
  if (error instanceof DatabaseFailure) {
    const headers = RETRY_AFTER
    if (change !== undefined && error.applied === 'unknown') {
      const detail = `It may or may not ${change.may}. ${change.advice}`
      return new Problem('outcome_unknown', { detail, headers, cause: error })
    }
    const [code, detail] = DATABASE_PROBLEMS[error.kind]
    return new Problem(code, { detail, ...(PROBLEMS[code].status === 503 && { headers }), cause: error })
  }
  if (error instanceof Overloaded) {
    return new Problem('overloaded', {
      detail: 'Too many requests are waiting for the database. Nothing was counted or read. Try again later.',
      headers: RETRY_AFTER,
    })
  }
  if (error instanceof Overtaken) {
    return new Problem('overtaken', {
      detail: 'Other requests kept changing these counters, and nothing was changed. Send the request again.',
      headers: { 'Retry-After': '1' },
    })
  }
  if (error instanceof TooManyKeys) {
    return new Problem('too_many_keys', {
      detail: `${error.message} Ask for a longer prefix or a shorter period, or count these keys in a type of their own.`,
    })
  }
  if (error instanceof KeyReused) {
    return new Problem('idempotency_key_reused', { detail: KEY_REUSED })
  }
  if (error instanceof ChangeRefused) {
    const [code, what] = REFUSALS[error.reason]
    return new Problem(code, { detail: `${what} Nothing was changed.` })
  }
  if (error instanceof ConfigurationError) {
    return new Problem('configuration_invalid', {
      detail: 'Correct the settings listed under errors and deploy again.',
      errors: error.problems,
      cause: error,
    })
  }
  return new Problem('internal_error', { detail: LOGGED, cause: error })
}
