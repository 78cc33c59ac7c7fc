import { ConfigurationError } from '../config/config.ts'
import { KeyReused } from '../counters/changes/change.ts'
import { type ChangeRefusal, ChangeRefused } from '../counters/changes/change-refused.ts'
import { MAX_ROWS } from '../counters/changes/counter-state.ts'
import { InvalidInput } from '../counters/invalid-input.ts'
import { TooManyKeys } from '../counters/keys/prefix.ts'
import { Overtaken } from '../counters/ledger/totals.ts'
import { Overloaded } from '../counters/shared-work-state.ts'
import { DatabaseFailure } from '../database/errors.ts'
import type { ProblemCode } from '../openapi/problem-codes.ts'
import { invalidRequest, Problem } from './problem.ts'

/** Seconds after which a client should retry when the database does not answer. */
const RETRY_AFTER = { 'Retry-After': '5' }

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
    return change !== undefined && error.applied === 'unknown' ? unknownOutcome(error, change) : databaseProblem(error)
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
  if (error instanceof KeyReused) return keyReused()
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
  return new Problem('internal_error', { detail: 'This was logged under the request id.', cause: error })
}

function keyReused(): Problem {
  return new Problem('idempotency_key_reused', {
    detail:
      'A request with this Idempotency-Key came before, with other contents. Nothing was changed. Use another key.',
  })
}

function unknownOutcome(cause: DatabaseFailure, { may, advice }: Change): Problem {
  return new Problem('outcome_unknown', { detail: `It may or may not ${may}. ${advice}`, headers: RETRY_AFTER, cause })
}

function databaseProblem(cause: DatabaseFailure): Problem {
  switch (cause.kind) {
    case 'unavailable':
    case 'contention':
      return new Problem('database_unavailable', {
        detail: 'The database does not answer. Try again later.',
        headers: RETRY_AFTER,
        cause,
      })
    case 'credentials':
      return new Problem('database_unavailable', {
        detail: 'The database refuses DATABASE_URL’s credentials.',
        headers: RETRY_AFTER,
        cause,
      })
    case 'schema':
      return new Problem('database_not_ready', {
        detail: 'Make the tables: sign in on the Worker’s front page, or run `npm run migrate` against this database.',
        headers: RETRY_AFTER,
        cause,
      })
    case 'shards':
      return new Problem('too_few_ranges', {
        detail:
          'Raise SHARDING.ranges in wrangler.toml to a power of two that is at least the number of shards, and deploy.',
        headers: RETRY_AFTER,
        cause,
      })
    case 'range':
      return new Problem('count_out_of_range', { detail: 'The sum would not fit into a signed 64-bit integer.', cause })
    case 'rejected':
      return new Problem('internal_error', { detail: 'This was logged under the request id.', cause })
  }
}
