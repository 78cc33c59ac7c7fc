import { Overtaken } from './counters/totals.ts'
import { DatabaseFailure } from './database/errors.ts'
import { Problem } from './problem.ts'

/** Seconds after which a client should try again when the database does not answer. */
const RETRY_AFTER_SECONDS = '5'

/** What a client is told of a failure of the database. */
export function databaseProblem(failure: DatabaseFailure): Problem {
  const headers = { 'Retry-After': RETRY_AFTER_SECONDS }
  const cause = failure
  switch (failure.kind) {
    case 'unavailable':
    case 'contention':
      return new Problem('database_unavailable', {
        detail: 'The database does not answer. Try again later.',
        headers,
        cause,
      })
    case 'credentials':
      return new Problem('database_unavailable', {
        detail: 'The database refuses DATABASE_URL’s credentials.',
        headers,
        cause,
      })
    case 'schema':
      return new Problem('database_not_ready', {
        detail: 'Run `npm run migrate` against this database.',
        headers,
        cause,
      })
    case 'range':
      return new Problem('count_out_of_range', { detail: 'The sum would not fit into a signed 64-bit integer.', cause })
    case 'rejected':
      return new Problem('internal_error', { detail: 'This was logged under the request id.', cause })
  }
}

/**
 * Turns a failure to count into what is true for the client: nothing was counted, or nobody knows.
 *
 * @param advice what the client can do when nobody knows
 */
export function countingProblem(error: unknown, advice: string): unknown {
  if (!(error instanceof DatabaseFailure)) return error
  if (error.applied === 'no') return databaseProblem(error)
  return new Problem('outcome_unknown', {
    detail: `It may or may not have been counted. ${advice}`,
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
    cause: error,
  })
}

/**
 * Turns a failure to set or import into what is true for the client: nothing was changed, or nobody knows.
 *
 * @param advice what the client can do when nobody knows
 */
export function adjustingProblem(error: unknown, advice: string): unknown {
  if (error instanceof Overtaken) {
    return new Problem('overtaken', {
      detail: 'Others kept changing these counters, and nothing was changed here. Send it again.',
      headers: { 'Retry-After': '1' },
    })
  }
  if (!(error instanceof DatabaseFailure) || error.applied === 'no') return countingProblem(error, advice)
  return new Problem('outcome_unknown', {
    detail: `It may or may not have been done. ${advice}`,
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
    cause: error,
  })
}
