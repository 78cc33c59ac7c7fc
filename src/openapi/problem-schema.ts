import * as z from 'zod/mini'
import { described } from './described.ts'
import { PROBLEMS, type ProblemCode } from './problem-codes.ts'

/** Problems that any request can cause. */
export const ANY_REQUEST = ['internal_error', 'configuration_invalid'] as const satisfies ProblemCode[]
/** Problems of requests that have a body. */
export const BODY = ['malformed_body', 'body_too_large', 'unsupported_media_type'] as const satisfies ProblemCode[]
/** Problems of requests that need a token. */
export const TOKENS = ['unauthorized', 'insufficient_scope', 'too_many_attempts'] as const satisfies ProblemCode[]
/** The problem of requests that change something with a token: another site could make a signed-in browser send them. */
export const CROSS_SITE = 'cross_site_request' satisfies ProblemCode
/** Problems of requests that read or write. */
export const DATABASE = [
  'database_unavailable',
  'database_not_ready',
  'too_few_ranges',
] as const satisfies ProblemCode[]
/** Problems of requests that read counters. */
export const READING = [...DATABASE, 'overloaded'] as const satisfies ProblemCode[]
/** Problems of requests that set counters or import counts. */
export const ADJUSTING = [
  ...DATABASE,
  'count_out_of_range',
  'idempotency_key_reused',
  'overtaken',
  'outcome_unknown',
] as const satisfies ProblemCode[]
/** Problems of requests that count. */
export const COUNTING = [
  ...DATABASE,
  'count_out_of_range',
  'overloaded',
  'outcome_unknown',
] as const satisfies ProblemCode[]

/** The body of every error (RFC 9457). */
export const problemDocument = /* @__PURE__ */ problemSchema()

function problemSchema() {
  const codes = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]
  return described(
    z.strictObject({
      type: described(z.string(), 'The code as a URI.'),
      title: described(z.string(), 'What the code means in general.'),
      status: described(z.int(), 'The HTTP status.'),
      code: described(
        z.enum(codes),
        `Stable: use it to tell problems apart. ${codes.map((code) => `\`${code}\` (${PROBLEMS[code].status}): ${PROBLEMS[code].title}.`).join(' ')}`,
      ),
      detail: described(z.string(), 'What happened this time and what to do about it.'),
      errors: described(
        z.optional(z.array(z.strictObject({ field: z.string(), message: z.string() }))),
        'The first 20 invalid fields, each with its rule.',
      ),
      requestId: described(z.string(), 'The id under which the Worker logs this request.'),
    }),
    { id: 'Problem', description: 'A problem document (RFC 9457).' },
  )
}

/** A problem document with one of the given codes, for a typed client. */
export type ProblemDocument<Code extends ProblemCode> = Omit<z.output<typeof problemDocument>, 'code'> & {
  code: Code
}

/** Groups codes by their HTTP status. */
export function byStatus(codes: Iterable<ProblemCode>): Map<number, ProblemCode[]> {
  const statuses = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const { status } = PROBLEMS[code]
    statuses.set(status, [...(statuses.get(status) ?? []), code])
  }
  return new Map([...statuses].sort(([a], [b]) => a - b))
}

/** A problem document for an example. */
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

/** The problem document of a request with one invalid field, for an example. */
export function exampleInvalid(field: string, message: string) {
  return exampleProblem('invalid_request', `${field} ${message}.`, [{ field, message }])
}

/** The problem document of a path with a type that is not configured, for an example. */
export function exampleUnknownType() {
  return exampleProblem('unknown_type', 'The type in the path is not configured. Public types: page_view, download.')
}
