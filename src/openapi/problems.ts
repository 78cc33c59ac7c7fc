import { PROBLEMS, type Problem, type ProblemCode } from '../service/problem.ts'

/** The HTTP status of each problem. */
export const STATUSES = {
  malformed_body: 400,
  malformed_query: 400,
  malformed_key: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  cross_site_request: 403,
  not_found: 404,
  unknown_type: 404,
  no_such_counter: 404,
  method_not_allowed: 405,
  overtaken: 409,
  counter_exists: 409,
  count_not_below: 409,
  reading_below_count: 409,
  different_ranges: 409,
  too_many_pending: 409,
  deploy_request_needed: 409,
  setup_stopped: 409,
  rollup_running: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  invalid_request: 422,
  idempotency_key_reused: 422,
  count_out_of_range: 422,
  history_too_large: 422,
  too_many_keys: 422,
  too_many_attempts: 429,
  too_many_requests: 429,
  internal_error: 500,
  configuration_invalid: 503,
  database_unavailable: 503,
  database_not_ready: 503,
  too_few_ranges: 503,
  overloaded: 503,
  outcome_unknown: 503,
} as const satisfies Record<ProblemCode, number>

/** `Retry-After`: the seconds after which a request with one of these problems may pass. Limits are by minute. */
export const RETRY_AFTER: Partial<Record<ProblemCode, number>> = {
  overtaken: 1,
  database_unavailable: 5,
  database_not_ready: 5,
  too_few_ranges: 5,
  overloaded: 5,
  outcome_unknown: 5,
  rollup_running: 10,
  too_many_pending: 60,
  too_many_attempts: 60,
  too_many_requests: 60,
}

/** What clients and callers are told of a problem. */
export function reportOf({ code, detail, errors = [] }: Pick<Problem, 'code' | 'detail'> & Partial<Problem>) {
  return {
    type: `urn:slotted-counter:problem:${code}`,
    title: PROBLEMS[code],
    status: STATUSES[code] as number,
    code,
    detail,
    ...(errors.length > 0 && { errors }),
  }
}

export type ProblemReport = ReturnType<typeof reportOf>

/** Problems of requests that read or write. */
export const DATABASE: ProblemCode[] = ['database_unavailable', 'database_not_ready', 'too_few_ranges']
export const READING: ProblemCode[] = [...DATABASE, 'overloaded']
export const COUNTING: ProblemCode[] = [...DATABASE, 'count_out_of_range', 'overloaded', 'outcome_unknown']
/** Problems of requests that set counters or import counts. */
export const ADJUSTING: ProblemCode[] = [
  ...DATABASE,
  'count_out_of_range',
  'idempotency_key_reused',
  'overtaken',
  'outcome_unknown',
]
