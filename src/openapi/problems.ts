import * as z from 'zod'
import { PROBLEMS, type ProblemCode } from '../problem.ts'

const CODES = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]

/** Problems that any request can meet. */
export const ANY_REQUEST = ['internal_error', 'configuration_invalid'] as const satisfies ProblemCode[]
/** The problem of requests that change something with the token: who is signed in may be made to send what they do not mean. */
export const CROSS_SITE = 'cross_site_request' satisfies ProblemCode
/** Problems of requests that read or write. */
export const DATABASE = ['database_unavailable', 'database_not_ready'] as const satisfies ProblemCode[]
/** Problems of requests that read counters. */
export const READING = [...DATABASE, 'overloaded'] as const satisfies ProblemCode[]
/** Problems of requests that set counters. */
export const ADJUSTING = [
  ...DATABASE,
  'count_out_of_range',
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

/** What every error is told in (RFC 9457). */
export const problemDocument = z
  .strictObject({
    type: z.string().describe('The code once more, as a URI.'),
    title: z.string().describe('What the code means in general.'),
    status: z.int().describe('The status of the answer.'),
    code: z
      .enum(CODES)
      .describe(
        `Stable: decide by this. ${CODES.map((code) => `\`${code}\` (${PROBLEMS[code].status}): ${PROBLEMS[code].title}.`).join(' ')}`,
      ),
    detail: z.string().describe('What happened this time and what to do about it.'),
    errors: z
      .array(z.strictObject({ field: z.string(), message: z.string() }))
      .optional()
      .describe('The fields that are wrong, each with its rule.'),
    requestId: z.string().describe('Stands in the log beside what is logged of this request.'),
  })
  .meta({ id: 'Problem', description: 'A problem document (RFC 9457).' })

/** A problem document with one of some codes, for a typed client. */
export type ProblemDocument<Code extends ProblemCode> = Omit<z.output<typeof problemDocument>, 'code'> & { code: Code }

/** The codes among `codes`, by the status that they are answered with. */
export function byStatus(codes: Iterable<ProblemCode>): Map<number, ProblemCode[]> {
  const statuses = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const { status } = PROBLEMS[code]
    statuses.set(status, [...(statuses.get(status) ?? []), code])
  }
  return new Map([...statuses].sort(([a], [b]) => a - b))
}

/** A problem document as an example shows it. */
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
