import * as v from 'valibot'
import { described, whole } from '../../src/openapi/contract.ts'
import { COUNTING, STATUSES } from '../../src/openapi/problems.ts'
import { PROBLEMS, type ProblemCode } from '../../src/service/problem.ts'

/** Problems of any request. */
export const ANY_REQUEST = ['internal_error', 'configuration_invalid'] as const satisfies ProblemCode[]
export const BODY = ['malformed_body', 'body_too_large', 'unsupported_media_type'] as const satisfies ProblemCode[]
/** Problems of requests with a token. */
export const TOKENS = ['unauthorized', 'insufficient_scope', 'too_many_attempts'] as const satisfies ProblemCode[]
/** The problem of requests that change something: another site could make a signed-in browser send them. */
export const CROSS_SITE = 'cross_site_request' satisfies ProblemCode
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

/** The body of a problem response (RFC 9457). */
export const problemDocument = problemSchema()

function problemSchema() {
  const codes = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]
  return described(
    v.strictObject({
      type: described(v.string(), 'The code as a URI.'),
      title: described(v.string(), 'What the code means in general.'),
      status: described(whole, 'The HTTP status.'),
      code: described(
        v.picklist(codes),
        `Stable: use it to tell problems apart. ${codes.map((code) => `\`${code}\` (${STATUSES[code]}): ${PROBLEMS[code]}.`).join(' ')}`,
      ),
      detail: described(v.string(), 'What happened this time and what to do about it.'),
      errors: described(
        v.optional(v.array(v.strictObject({ field: v.string(), message: v.string() }))),
        'The first 20 invalid fields, each with its rule.',
      ),
      requestId: described(v.string(), 'The id under which the Worker logs this request.'),
    }),
    { id: 'Problem', description: 'A problem document (RFC 9457).' },
  )
}
