/** An error response, or that there was none. */
export class ApiError extends Error {
  /** 0: there was no response. */
  readonly status: number
  /** That of the problem document, `offline` or `no_answer`. */
  readonly code: string
  /** The first invalid field. */
  readonly field: string
  /** @param detail what the API says, for logs */
  constructor(status: number, { code = '', detail = '', errors = [] }: Partial<Problem>) {
    super(detail)
    this.status = status
    this.code = code
    this.field = errors[0]?.field ?? ''
  }
}

/** What pages read of a problem document. */
export interface Problem {
  code: string
  detail: string
  errors: { field: string }[]
}

/** What happens next on a page that asks again by itself. */
export const KEEPS_TRYING = 'This page updates as soon as it can.'

/** Problems that pass. What happens next follows. */
const PASSING: Record<string, string> = {
  offline: 'You are offline.',
  no_answer: 'The Worker does not answer.',
  database_unavailable: 'The database does not answer.',
  overloaded: 'Too many requests are waiting for the database.',
  too_many_requests: 'Your network sends too many requests.',
  too_many_attempts: 'Your network sends too many requests.',
  rollup_running: 'Another roll-up is running.',
  overtaken: 'Other changes came first. Nothing was changed.',
  internal_error: 'The Worker made a mistake, which its log has.',
}

/** Problems that somebody must solve, and how. */
const LASTING: Record<string, string> = {
  // A notice above says that the session has ended.
  unauthorized: 'Sign in again.',
  insufficient_scope: 'Your token may not do this. Sign in with one that may.',
  not_found: 'This page is not public any more.',
  unknown_type: 'This type is not counted any more. Choose another one above.',
  configuration_invalid: 'The Worker’s settings have errors, which its log has. Correct them, and deploy.',
  database_not_ready: 'The database lacks tables. Open the dashboard to make them.',
  too_few_ranges: 'The database has more shards than SHARDING.ranges. Raise it, and deploy.',
  no_such_counter: 'There is no such counter. Nothing was changed.',
  counter_exists: 'The new key already has a counter. Nothing was changed.',
  different_ranges: 'These keys are in different ranges. Nothing was changed.',
  history_too_large: 'This counter has too much history. Nothing was changed.',
  too_many_pending:
    'Too many hits of this counter wait for the roll-up. Nothing was changed. Try again in some minutes.',
  count_out_of_range: 'That count is too large. Nothing was changed.',
  outcome_unknown: 'No answer came: this may or may not have been done. Load the page again to see.',
  deploy_request_needed: 'Safe migrations are on: make the tables with a deploy request, as described below.',
}

/** By the field that is wrong. */
const INVALID: Record<string, string> = {
  key: 'No counter can have this key.',
  count: 'A count must be a whole number of at most 19 digits.',
  prefix: 'No counter can have this key.',
  to: 'No counter can have this key.',
  into: 'No counter can have this key.',
  from: 'These days cannot be shown. Choose at most 999 days, up to today.',
}

/** What a page says of a failed request, and what happens `next` if that passes. Never what the API says: that is for programs. */
export function messageOf(error: unknown, next = 'Try again.'): string {
  if (!(error instanceof ApiError)) return String(error)
  const { status, code, field } = error
  const lasting = code === 'invalid_request' ? INVALID[field] : LASTING[code]
  return lasting ?? `${PASSING[code] ?? `The Worker answered ${status}.`} ${next}`
}
