import { PROBLEMS, type Problem, type ProblemCode } from '../service/problem.ts'

/** What clients and callers are told of a problem. */
export function reportOf({ code, detail, errors = [] }: Pick<Problem, 'code' | 'detail'> & Partial<Problem>) {
  const { title, status } = PROBLEMS[code]
  return {
    type: `urn:slotted-counter:problem:${code}`,
    title: title as string,
    status: status as number,
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
