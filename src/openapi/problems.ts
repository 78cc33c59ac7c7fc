/** All problems by their stable code. */
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
  overtaken: { status: 409, title: 'Concurrent changes won every time' },
  counter_exists: { status: 409, title: 'The key already has a counter' },
  count_not_below: { status: 409, title: 'The count is not below the given number' },
  different_ranges: { status: 409, title: 'The counters are in different ranges' },
  too_many_pending: { status: 409, title: 'The counter has too many pending slots' },
  deploy_request_needed: { status: 409, title: 'This branch accepts schema changes from deploy requests only' },
  setup_stopped: { status: 409, title: 'The tables cannot be made' },
  rollup_running: { status: 409, title: 'Another roll-up is running' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported here' },
  invalid_request: { status: 422, title: 'The request has invalid fields' },
  idempotency_key_reused: { status: 422, title: 'The Idempotency-Key was used for another request' },
  count_out_of_range: { status: 422, title: 'The count would exceed a 64-bit integer' },
  history_too_large: { status: 422, title: 'The counter has too much history' },
  too_many_keys: { status: 422, title: 'Too many counters to add up' },
  too_many_attempts: { status: 429, title: 'Too many unknown tokens from this network' },
  too_many_requests: { status: 429, title: 'Too many requests from this network' },
  internal_error: { status: 500, title: 'Internal error' },
  configuration_invalid: { status: 503, title: 'The configuration has errors' },
  database_unavailable: { status: 503, title: 'The database is unavailable' },
  database_not_ready: { status: 503, title: 'The database lacks tables that this version needs' },
  too_few_ranges: { status: 503, title: 'The keyspace has more shards than SHARDING.ranges' },
  overloaded: { status: 503, title: 'Too many requests are waiting for the database' },
  outcome_unknown: { status: 503, title: 'The outcome is unknown' },
} as const satisfies Record<
  string,
  { status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503; title: string }
>

export type ProblemCode = keyof typeof PROBLEMS

/** Problems of any request. */
export const ANY_REQUEST = ['internal_error', 'configuration_invalid'] as const satisfies ProblemCode[]
export const BODY = ['malformed_body', 'body_too_large', 'unsupported_media_type'] as const satisfies ProblemCode[]
/** Problems of requests with a token. */
export const TOKENS = ['unauthorized', 'insufficient_scope', 'too_many_attempts'] as const satisfies ProblemCode[]
/** The problem of requests that change something: another site could make a signed-in browser send them. */
export const CROSS_SITE = 'cross_site_request' satisfies ProblemCode
/** Problems of requests that read or write. */
export const DATABASE = [
  'database_unavailable',
  'database_not_ready',
  'too_few_ranges',
] as const satisfies ProblemCode[]
export const READING = [...DATABASE, 'overloaded'] as const satisfies ProblemCode[]
/** Problems of requests that set counters or import counts. */
export const ADJUSTING = [
  ...DATABASE,
  'count_out_of_range',
  'idempotency_key_reused',
  'overtaken',
  'outcome_unknown',
] as const satisfies ProblemCode[]
export const COUNTING = [
  ...DATABASE,
  'count_out_of_range',
  'overloaded',
  'outcome_unknown',
] as const satisfies ProblemCode[]

/** Problems with which a request that counts can be refused. (`outcome_unknown` is no reason: perhaps it counted.) */
export const hitProblems = (): ProblemCode[] => [
  ...BODY,
  'malformed_query',
  'malformed_key',
  'invalid_request',
  'unknown_type',
  'not_found',
  ...TOKENS,
  CROSS_SITE,
  'too_many_requests',
  ...COUNTING.filter((code) => code !== 'outcome_unknown'),
  ...ANY_REQUEST,
]

/** A problem document in an example. */
export function exampleProblem(code: ProblemCode, detail: string, errors?: { field: string; message: string }[]) {
  const { status, title } = PROBLEMS[code]
  return {
    type: `urn:slotted-counter:problem:${code}`,
    title,
    status,
    code,
    detail,
    ...(errors && { errors }),
    requestId: '6f1c1b57-8f0e-4e0c-9a53-0d7a8f0e2b11',
  }
}

export function exampleInvalid(field: string, message: string) {
  return exampleProblem('invalid_request', `${field} ${message}.`, [{ field, message }])
}

export function exampleUnknownType() {
  return exampleProblem('unknown_type', 'The type in the path is not configured. Public types: page_view, download.')
}
