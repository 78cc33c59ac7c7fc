/** Every problem that a client can meet: its stable code, its status, and what it means in general. */
export const PROBLEMS = {
  malformed_body: { status: 400, title: 'The body is not what its content type says' },
  malformed_query: { status: 400, title: 'The query string is not percent-encoded UTF-8' },
  malformed_key: { status: 400, title: 'The key in the path is not percent-encoded UTF-8' },
  unauthorized: { status: 401, title: 'A valid API token is needed' },
  insufficient_scope: { status: 403, title: 'The token may not do this' },
  cross_site_request: { status: 403, title: 'Another site may not do this in your name' },
  not_found: { status: 404, title: 'There is nothing at this path' },
  unknown_type: { status: 404, title: 'There is no such counter type' },
  no_such_counter: { status: 404, title: 'There is no such counter' },
  method_not_allowed: { status: 405, title: 'This path does not take this method' },
  overtaken: { status: 409, title: 'Others kept changing the same counters' },
  counter_exists: { status: 409, title: 'There is a counter with this key' },
  count_not_below: { status: 409, title: 'The count is not below the number' },
  deploy_request_needed: { status: 409, title: 'This branch takes tables from deploy requests only' },
  setup_stopped: { status: 409, title: 'The tables cannot be made' },
  rollup_running: { status: 409, title: 'Another roll-up is running' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported here' },
  invalid_request: { status: 422, title: 'The request has invalid fields' },
  idempotency_key_reused: { status: 422, title: 'The Idempotency-Key was used before, with other contents' },
  count_out_of_range: { status: 422, title: 'The count would leave the range of 64-bit integers' },
  too_many_keys: { status: 422, title: 'Too many keys begin with this prefix' },
  too_many_attempts: { status: 429, title: 'Too many unknown tokens came from this network' },
  too_many_requests: { status: 429, title: 'This network sends too many requests' },
  internal_error: { status: 500, title: 'Something is wrong on our side' },
  configuration_invalid: { status: 503, title: 'The Worker is not configured correctly' },
  database_unavailable: { status: 503, title: 'The database does not answer' },
  database_not_ready: { status: 503, title: 'The database does not have the tables this version needs' },
  overloaded: { status: 503, title: 'Too many requests are waiting for the database' },
  outcome_unknown: { status: 503, title: 'The database did not say whether this was done' },
} as const satisfies Record<
  string,
  { status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503; title: string }
>

export type ProblemCode = keyof typeof PROBLEMS
