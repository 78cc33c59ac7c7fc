import { ConfigurationError } from '../config/read-settings.ts'
import { type ChangeRefusal, ChangeRefused, KeyReused, MAX_TAKEN_SLOTS } from '../counters/changes/change.ts'
import { MAX_ROWS } from '../counters/changes/move-counter.ts'
import { TooManyKeys } from '../counters/keys/prefix.ts'
import { Overtaken } from '../counters/ledger/totals.ts'
import { Overloaded } from '../counters/shared-work-state.ts'
import { DatabaseFailure, hasErrorNumber } from '../database/errors.ts'
import { type FieldError, InvalidInput } from '../schemas.ts'

/** All problems by their stable code: the status of responses, what each means in general, and the seconds after which it may be gone. */
export const PROBLEMS = {
  malformed_body: { status: 400, title: 'The body is malformed' },
  malformed_query: { status: 400, title: 'The query string is not percent-encoded UTF-8' },
  malformed_key: { status: 400, title: 'The key in the path is not percent-encoded UTF-8' },
  unauthorized: { status: 401, title: 'A valid API token is required' },
  insufficient_scope: { status: 403, title: 'The token lacks the required scope or type' },
  cross_site_request: { status: 403, title: 'Cross-site request refused' },
  not_found: { status: 404, title: 'Nothing is served at this path' },
  unknown_type: { status: 404, title: 'The counter type is not configured' },
  no_such_counter: { status: 404, title: 'The counter does not exist' },
  method_not_allowed: { status: 405, title: 'This path does not support this method' },
  overtaken: { status: 409, title: 'Concurrent changes won every time', retryAfter: 1 },
  counter_exists: { status: 409, title: 'The key already has a counter' },
  count_not_below: { status: 409, title: 'The count is not below the given number' },
  reading_below_count: { status: 409, title: 'The reading is below the count' },
  different_ranges: { status: 409, title: 'The counters are in different ranges' },
  too_many_pending: { status: 409, title: 'The counter has too many pending slots', retryAfter: 60 },
  deploy_request_needed: { status: 409, title: 'This branch accepts schema changes from deploy requests only' },
  setup_stopped: { status: 409, title: 'The tables cannot be made' },
  rollup_running: { status: 409, title: 'Another roll-up is running', retryAfter: 10 },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported here' },
  invalid_request: { status: 422, title: 'The request has invalid fields' },
  idempotency_key_reused: { status: 422, title: 'The Idempotency-Key was used for another request' },
  count_out_of_range: { status: 422, title: 'The count would exceed a 64-bit integer' },
  history_too_large: { status: 422, title: 'The counter has too much history' },
  too_many_keys: { status: 422, title: 'Too many counters to add up' },
  too_many_attempts: { status: 429, title: 'Too many unknown tokens from this network', retryAfter: 60 },
  too_many_requests: { status: 429, title: 'Too many requests from this network', retryAfter: 60 },
  internal_error: { status: 500, title: 'Internal error' },
  configuration_invalid: { status: 503, title: 'The configuration has errors' },
  database_unavailable: { status: 503, title: 'The database is unavailable', retryAfter: 5 },
  database_not_ready: { status: 503, title: 'The database lacks tables that this version needs', retryAfter: 5 },
  too_few_ranges: { status: 503, title: 'The keyspace has more shards than SHARDING.ranges', retryAfter: 5 },
  overloaded: { status: 503, title: 'Too many requests are waiting for the database', retryAfter: 5 },
  outcome_unknown: { status: 503, title: 'The outcome is unknown', retryAfter: 5 },
} as const

export type ProblemCode = keyof typeof PROBLEMS

/** An error whose texts are for people: clients of the API, readers of pages and images. */
export class Problem extends Error {
  readonly code: ProblemCode
  /** What happened this time and what to do about it. */
  readonly detail: string
  readonly errors: readonly FieldError[]

  /** @param options `cause`: for the log, never for the client */
  constructor(code: ProblemCode, detail: string, options: Partial<Pick<Problem, 'errors' | 'cause'>> = {}) {
    super(detail, { cause: options.cause })
    this.name = 'Problem'
    this.code = code
    this.detail = detail
    this.errors = options.errors ?? []
  }

  /** For the log. */
  get reason(): string {
    return this.cause instanceof Error ? this.cause.message : this.message
  }
}

/** What clients and callers are told of a problem. */
export function reportOf({ code, detail, errors = [] }: Pick<Problem, 'code' | 'detail'> & Partial<Problem>) {
  const { title, status } = PROBLEMS[code]
  return {
    type: `urn:slotted-counter:problem:${code}`,
    title: title as string,
    status: status as number,
    code,
    detail,
    ...(errors.length > 0 && { errors }),
  }
}

export type ProblemReport = ReturnType<typeof reportOf>

/** The most errors in a response, so that it is not much longer than the request. */
const MAX_ERRORS = 20

export function invalidRequest(errors: readonly FieldError[]): Problem {
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const detail = `${first?.field} ${first?.message}${more}.`
  return new Problem('invalid_request', detail, { errors: errors.slice(0, MAX_ERRORS) })
}

const LOGGED = 'Internal error. The Worker’s log has the details under the request id.'
export const KEY_REUSED =
  'An earlier request with this Idempotency-Key had another body. Nothing was changed. Use another key.'
/** MySQL's error if there is no room for a row. */
const FULL = 1114
const DISK_FULL: [ProblemCode, string] = ['database_unavailable', 'The database’s disk is full. Free some space.']
const UNAVAILABLE: [ProblemCode, string] = ['database_unavailable', 'The database does not respond.']

/** Failures of a statement that changed nothing. */
const DATABASE_PROBLEMS: Record<DatabaseFailure['kind'], [ProblemCode, string]> = {
  unavailable: UNAVAILABLE,
  contention: UNAVAILABLE,
  credentials: ['database_unavailable', 'The database refuses the credentials in DATABASE_URL (or MYSQL_URL).'],
  schema: [
    'database_not_ready',
    'Make the tables: sign in on the Worker’s front page, or run `npm run migrate` (`npx slotted-counter migrate`). A lost table is made again, empty.',
  ],
  shards: [
    'too_few_ranges',
    'Set SHARDING.ranges to a power of two that is at least the number of shards, and deploy.',
  ],
  range: ['count_out_of_range', 'The sum would exceed a signed 64-bit integer.'],
  rejected: ['internal_error', LOGGED],
}

export const REFUSALS: Record<ChangeRefusal, string> = {
  no_such_counter: 'The counter does not exist.',
  no_such_target: 'The counter to merge into does not exist.',
  counter_exists: 'The new key already has a counter. Merge into it, or delete it first.',
  count_not_below: 'The count is not below the given number.',
  different_ranges:
    'The keys are in different ranges (SHARDING.ranges), but a change is limited to one. Import each range separately, as the command `import` does. Instead of renaming or merging, set both counters, or export and import the history.',
  history_too_large: `The counter has more than ${MAX_ROWS} rows of history.`,
  too_many_pending: `The counter has too many pending slots: a change can include at most ${MAX_TAKEN_SLOTS}.`,
  reading_below_count: 'The reading is below the count. If the source restarted from zero, send "reset": true.',
  count_out_of_range: DATABASE_PROBLEMS.range[1],
}

/** The problem of any error. Only messages written for clients leave the Worker. @param advice for changes whose outcome is unknown */
export function problemOf(error: unknown, advice?: string): Problem {
  if (error instanceof Problem) return error
  if (error instanceof InvalidInput) return invalidRequest([{ field: error.field, message: error.message }])
  if (error instanceof DatabaseFailure) {
    if (error.cause instanceof ConfigurationError) return problemOf(error.cause)
    if (advice !== undefined && error.applied === 'unknown') {
      return new Problem('outcome_unknown', `The outcome is unknown. ${advice}`, { cause: error })
    }
    const [code, detail] = hasErrorNumber(error, FULL) ? DISK_FULL : DATABASE_PROBLEMS[error.kind]
    return new Problem(code, detail, { cause: error })
  }
  if (error instanceof Overloaded) {
    return new Problem('overloaded', 'The queue for the database is full. Nothing was counted or read.')
  }
  if (error instanceof Overtaken) {
    return new Problem('overtaken', 'Concurrent changes won every time; nothing was changed. Retry.')
  }
  if (error instanceof TooManyKeys) return new Problem('too_many_keys', error.message)
  if (error instanceof KeyReused) return new Problem('idempotency_key_reused', KEY_REUSED)
  if (error instanceof ChangeRefused) {
    const { reason, slots } = error
    const first = slots > 0 ? ` The roll-up must move ${slots} of them first.` : ''
    const code = reason === 'no_such_target' ? 'no_such_counter' : reason
    return new Problem(code, `${REFUSALS[reason]}${first} Nothing was changed.`)
  }
  if (error instanceof ConfigurationError) {
    const detail = 'The settings contain errors. Correct them, and deploy or restart.'
    return new Problem('configuration_invalid', detail, { errors: error.problems, cause: error })
  }
  return new Problem('internal_error', LOGGED, { cause: error })
}
