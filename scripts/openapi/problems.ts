import * as v from 'valibot'
import { COUNTING, described, type Operation, whole } from '../../src/openapi/contract.ts'
import { PROBLEMS, type ProblemCode } from '../../src/service/problem.ts'

/** Problems of any request. */
const ANY_REQUEST: ProblemCode[] = ['internal_error', 'configuration_invalid']
const BODY: ProblemCode[] = ['malformed_body', 'body_too_large', 'unsupported_media_type']
/** Problems of requests with a token. */
const TOKENS: ProblemCode[] = ['unauthorized', 'insufficient_scope', 'too_many_attempts']
/** The problem of requests that change something: another site could make a signed-in browser send them. */
const CROSS_SITE: ProblemCode = 'cross_site_request'

/** The problems of an operation: those of its contract, and those that follow from its route. */
export function problemsOf({ body, path, looseQuery, access, method, problems = [] }: Operation): Set<ProblemCode> {
  const codes: ProblemCode[] = []
  if (body) codes.push(...BODY)
  if (path.includes('{key}')) codes.push('malformed_key')
  if (!looseQuery) codes.push('malformed_query')
  if (path.includes('{type}')) codes.push('unknown_type')
  if (body || path.includes('{key}') || !looseQuery) codes.push('invalid_request')
  if (access === 'read-unless-public') codes.push('too_many_requests')
  codes.push(...problems, ...ANY_REQUEST)
  if (access !== 'anyone') codes.push(...TOKENS)
  if (access !== 'anyone' && method !== 'get') codes.push(CROSS_SITE)
  return new Set(codes)
}

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

const CODES = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]

/** The body of a problem response (RFC 9457). */
export const problemDocument = described(
  v.strictObject({
    type: described(v.string(), 'The code as a URI.'),
    title: described(v.string(), 'What the code means in general.'),
    status: described(whole, 'The HTTP status.'),
    code: described(
      v.picklist(CODES),
      `Stable: use it to tell problems apart. ${CODES.map((code) => `\`${code}\` (${PROBLEMS[code].status}): ${PROBLEMS[code].title}.`).join(' ')}`,
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
