import { ConfigurationError } from '../config/read-settings.ts'
import { type ChangeRefusal, ChangeRefused, KeyReused, MAX_TAKEN_SLOTS } from '../counters/changes/change.ts'
import { MAX_ROWS } from '../counters/changes/move-counter.ts'
import { TooManyKeys } from '../counters/keys/prefix.ts'
import { Overtaken } from '../counters/ledger/totals.ts'
import { Overloaded } from '../counters/shared-work-state.ts'
import { DatabaseFailure, hasErrorNumber } from '../database/errors.ts'
import { PROBLEMS, type ProblemCode } from '../openapi/problems.ts'
import { type FieldError, InvalidInput } from '../schemas.ts'

interface ProblemDetails {
  /** What happened this time and what to do about it. */
  detail: string
  errors?: readonly FieldError[]
  headers?: Record<string, string>
  /** For the log, never for the client. */
  cause?: unknown
}

/** What clients and callers are told of a problem. */
export interface ProblemReport {
  type: string
  title: string
  status: number
  code: ProblemCode
  detail: string
  errors?: readonly FieldError[]
}

/** An error for the client, who gets a problem document (RFC 9457). Anything below a route may throw it. */
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

  /** For the log. */
  get reason(): string {
    return this.cause instanceof Error ? this.cause.message : this.message
  }

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

/** The most errors in a response, so that it is not much longer than the request. */
const MAX_ERRORS = 20

export function invalidRequest(errors: readonly FieldError[]): Problem {
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const detail = `${first?.field} ${first?.message}${more}.`
  return new Problem('invalid_request', { detail, errors: errors.slice(0, MAX_ERRORS) })
}

const RETRY_AFTER = { 'Retry-After': '5' }

const LOGGED = 'The log has the error under the request id.'
export const KEY_REUSED =
  'An earlier request with this Idempotency-Key had another body. Nothing was changed. Use another key.'
/** MySQL's error if there is no room for a row. */
const FULL = 1114
const DISK_FULL: [ProblemCode, string] = ['database_unavailable', 'The disk of the database is full. Make room on it.']
const UNAVAILABLE: [ProblemCode, string] = ['database_unavailable', 'The database does not respond. Try again later.']

/** Failures of a statement that changed nothing. */
const DATABASE_PROBLEMS: Record<DatabaseFailure['kind'], [ProblemCode, string]> = {
  unavailable: UNAVAILABLE,
  contention: UNAVAILABLE,
  credentials: ['database_unavailable', 'The database refuses the credentials in DATABASE_URL.'],
  schema: [
    'database_not_ready',
    'Make the tables: sign in on the Worker’s front page, or run `npm run migrate`. Both make a lost table again, without rows.',
  ],
  shards: [
    'too_few_ranges',
    'Set SHARDING.ranges to a power of two that is at least the number of shards, and deploy.',
  ],
  range: ['count_out_of_range', 'The sum would exceed a signed 64-bit integer.'],
  rejected: ['internal_error', LOGGED],
}

const REFUSALS: Record<ChangeRefusal, [ProblemCode, string]> = {
  no_such_counter: ['no_such_counter', 'The counter does not exist.'],
  no_such_target: ['no_such_counter', 'The counter to merge into does not exist.'],
  counter_exists: ['counter_exists', 'The new key already has a counter. Merge into it, or delete it first.'],
  count_not_below: ['count_not_below', 'The count is not below the given number.'],
  different_ranges: [
    'different_ranges',
    'The keys are in different ranges (SHARDING.ranges), and a change is limited to one. Import each range by itself, as `npm run import` does; instead of a rename or merge, set both counters, or export and import the history.',
  ],
  history_too_large: ['history_too_large', `The counter has more than ${MAX_ROWS} rows of history.`],
  too_many_pending: [
    'too_many_pending',
    `The counter has too many pending slots: a change takes at most ${MAX_TAKEN_SLOTS}.`,
  ],
}

/**
 * Turns any error into a problem. Only messages written for clients leave the Worker.
 * @param advice for a request that changes something: what to do if the outcome is unknown
 */
export function problemOf(error: unknown, advice?: string): Problem {
  if (error instanceof Problem) return error
  if (error instanceof InvalidInput) return invalidRequest([{ field: error.field, message: error.message }])
  if (error instanceof DatabaseFailure) {
    if (error.cause instanceof ConfigurationError) return problemOf(error.cause)
    const headers = RETRY_AFTER
    if (advice !== undefined && error.applied === 'unknown') {
      return new Problem('outcome_unknown', { detail: `The outcome is unknown. ${advice}`, headers, cause: error })
    }
    const [code, detail] = hasErrorNumber(error, FULL) ? DISK_FULL : DATABASE_PROBLEMS[error.kind]
    return new Problem(code, { detail, ...(PROBLEMS[code].status === 503 && { headers }), cause: error })
  }
  if (error instanceof Overloaded) {
    const detail = 'The queue for the database is full. Nothing was counted or read. Try again later.'
    return new Problem('overloaded', { detail, headers: RETRY_AFTER })
  }
  if (error instanceof Overtaken) {
    const detail = 'Concurrent changes won every time; nothing was changed. Retry.'
    return new Problem('overtaken', { detail, headers: { 'Retry-After': '1' } })
  }
  if (error instanceof TooManyKeys) return new Problem('too_many_keys', { detail: error.message })
  if (error instanceof KeyReused) return new Problem('idempotency_key_reused', { detail: KEY_REUSED })
  if (error instanceof ChangeRefused) {
    const [code, what] = REFUSALS[error.reason]
    const first = error.slots > 0 ? ` The roll-up must move ${error.slots} of them first.` : ''
    return new Problem(code, {
      detail: `${what}${first} Nothing was changed.`,
      ...(error.slots > 0 && { headers: { 'Retry-After': '60' } }),
    })
  }
  if (error instanceof ConfigurationError) {
    const detail = 'Correct the settings under errors, and deploy again.'
    return new Problem('configuration_invalid', { detail, errors: error.problems, cause: error })
  }
  return new Problem('internal_error', { detail: LOGGED, cause: error })
}
