import type * as v from 'valibot'
import type { HeaderName, Operation } from '../../src/openapi/contract.ts'
import type { FieldError } from '../../src/schemas.ts'
import type { ProblemCode } from '../../src/service/problem.ts'
import { reportOf } from '../../src/service/problem.ts'
import type { RouteContract } from './route-contracts.ts'

/** A request that works unchanged on a fresh Worker, and its response. The tests send every example. */
export interface Example {
  summary: string
  /** Values of the path's parameters, not percent-encoded. */
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string | readonly string[]>>
  headers?: Readonly<Record<string, string>>
  body?: unknown
  /** Default: the first status among the operation's responses. An example with 401 is sent without the token. */
  status?: number
  answer?: unknown
  /** Headers of the response that show what happened, such as `X-Hit`. */
  says?: Partial<Record<HeaderName, string>>
}

/** A contract with the examples of its operation. */
export interface DocumentedOperation extends Operation {
  examples: Readonly<Record<string, Example>>
  /** Whether the platform serves it from a file, without the Worker. */
  file?: true
}

/** The examples of all operations with a tag, by operation id. */
export type ExamplesOf<Tag extends Operation['tag']> = {
  [Contract in Extract<RouteContract, { tag: Tag }> as Contract['id']]: Readonly<Record<string, ExampleOf<Contract>>>
}

/** An example that has only parameters of its operation. */
type ExampleOf<Contract> = Omit<Example, 'params' | 'query' | 'headers' | 'body'> & {
  params?: Values<Record<InPath<Contract extends { path: infer Path } ? Path : never>, string>>
  query?: Values<
    Contract extends { query: () => infer Shape } ? { [Name in keyof Shape]?: string | readonly string[] } : unknown
  >
  headers?: Values<{ [Name in HeadersOf<Contract>]?: string }>
  body?: Contract extends { body: { schema: () => infer Schema extends v.GenericSchema } }
    ? v.InferInput<Schema>
    : never
}

type InPath<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | InPath<Rest> : never

type HeadersOf<Contract> =
  | (Contract extends { headers: infer Shape } ? keyof Shape : never)
  | (Contract extends { idempotency: string } ? 'Idempotency-Key' : never)

/** Refuses every value if there are no names. */
type Values<Shape> = [keyof Shape] extends [never] ? Record<string, never> : Shape

/** A problem document. */
export function exampleProblem(code: ProblemCode, detail: string, errors: readonly FieldError[] = []) {
  return { ...reportOf({ code, detail, errors }), requestId: '6f1c1b57-8f0e-4e0c-9a53-0d7a8f0e2b11' }
}

export function exampleInvalid(field: string, message: string) {
  return exampleProblem('invalid_request', `${field} ${message}.`, [{ field, message }])
}

export function exampleUnknownType() {
  return exampleProblem('unknown_type', 'The type in the path is not configured. Public types: page_view, download.')
}

/** A change of a counter that does not exist. */
export function exampleNoCounter() {
  return {
    summary: 'A counter that does not exist',
    params: { type: 'page_view', key: '/never-counted' },
    status: 404,
    answer: exampleProblem('no_such_counter', 'The counter does not exist. Nothing was changed.'),
  }
}
