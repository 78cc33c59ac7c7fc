import type { Handler, Input, TypedResponse } from 'hono'
import type { RouterRoute } from 'hono/types'
import type * as z from 'zod'
import type { AppEnv } from '../app-env.ts'
import type { PROBLEMS, ProblemCode } from '../problem.ts'
import type { HeaderName } from './headers.ts'
import type { ANY_REQUEST, CROSS_SITE, ProblemDocument } from './problems.ts'
import type { Tag } from './tags.ts'

/** A request that works as it stands on a fresh Worker, and what comes back. The tests send every one of them. */
export interface Example {
  summary: string
  /** Values of the path's parameters, as people write them: not percent-encoded. */
  params?: Record<string, string>
  query?: Record<string, string | readonly string[]>
  headers?: Record<string, string>
  body?: unknown
  /** Default: the first status among the operation's answers. A request that is answered 401 is sent without the token. */
  status?: number
  /** The answer, if it is JSON. */
  answer?: unknown
  /** Headers of the answer that show what happened, such as `X-Hit`. */
  says?: Partial<Record<HeaderName, string>>
}

/** One kind of answer that is not a problem document. */
export interface Answer {
  description: string
  /** What a JSON answer holds. */
  schema?: z.ZodType
  /** Default: application/json if there is a schema, else an answer without a body. */
  contentType?: string
  headers?: readonly HeaderName[]
}

/** What one method of one path takes and answers: by this requests are checked, and of this the document is made. */
export interface Operation {
  /** Its name in generated clients (`operationId`). */
  id: string
  tag: Tag
  method: 'get' | 'post' | 'put' | 'delete'
  /** As OpenAPI writes it: `/v1/counters/{type}/{key}`. */
  path: string
  summary: string
  description: string
  /** Who may ask: anyone; who has the token; or anyone where the type is public, else who has the token. */
  access: 'anyone' | 'token' | 'token-unless-public'
  params?: z.ZodRawShape
  /** What `readQuery` is given. */
  query?: z.ZodRawShape
  headers?: z.ZodRawShape
  body?: {
    /** What `readJson` is given. */
    schema: z.ZodType
    /** Default: application/json. */
    contentTypes?: readonly string[]
    /** Whether it may be left away. */
    optional?: boolean
  }
  /** Whether it is said in the query or in the body: neither is required by itself. */
  either?: true
  /** By status. The first one is what happens normally. */
  answers: Readonly<Record<number, Answer>>
  /** Whether an unchanged answer is 304 to a request with its `ETag`. */
  revalidated?: boolean
  problems: readonly ProblemCode[]
  /** Headers that problem documents have here too. */
  problemHeaders?: readonly HeaderName[]
  examples: Readonly<Record<string, Example>>
}

type OptionalIn<T> = { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> } & {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
}
/** What is behind `once`, which itself takes anything. */
type Sent<Schema> = Schema extends z.ZodPipe<infer _, infer Behind> ? z.input<Behind> : z.input<Schema>
type SentShape<Shape> = OptionalIn<{ [K in keyof Shape]: Sent<Shape[K]> }>
// biome-ignore lint/complexity/noBannedTypes: how "every member is optional" is asked
type Part<Name extends string, T> = {} extends T ? { [K in Name]?: T } : { [K in Name]: T }
// biome-ignore lint/complexity/noBannedTypes: adds nothing
type None = {}

type InQuery<O> = O extends { query: infer Shape } ? Part<'query', SentShape<Shape>> : None
type InHeader<O> = O extends { headers: infer Shape } ? Part<'header', SentShape<Shape>> : None
type InBody<O> = O extends { body: { schema: infer Schema extends z.ZodType } } ? Part<'json', z.input<Schema>> : None

/**
 * What a typed client is asked for, besides the path's parameters. Of what may be said in the query or in the body neither is required:
 * Hono's client makes one type of both.
 */
export type InputOf<O extends Operation> = InHeader<O> &
  (O extends { either: true } ? Partial<InQuery<O> & InBody<O>> : InQuery<O> & InBody<O>)

/** The answers that a handler may give, as far as they are JSON. */
export type AnswerOf<O extends Operation> = {
  [Status in keyof O['answers']]: O['answers'][Status] extends { schema: infer Schema extends z.ZodType }
    ? Response & TypedResponse<z.output<Schema>, Status & (200 | 202 | 503), 'json'>
    : Response
}[keyof O['answers']]

type CrossSite<O> = O extends { access: 'token'; method: 'get' }
  ? never
  : O extends { access: 'token' }
    ? typeof CROSS_SITE
    : never
type CodeOf<O extends Operation> = O['problems'][number] | (typeof ANY_REQUEST)[number] | CrossSite<O>

/** The problems that a typed client is told of; they are thrown, and never what a handler returns. */
export type ProblemOf<O extends Operation> = O extends { problems: readonly [] }
  ? never
  : TypedResponse<ProblemDocument<CodeOf<O>>, (typeof PROBLEMS)[CodeOf<O>]['status'], 'json'>

// The functions themselves are kept: nothing stands between a request and its handler, not even on the hot path.
const described = new WeakMap<object, readonly Operation[]>()

/**
 * Says what a handler does, for the document and the typed client. The handler comes back as it is.
 *
 * @param operation one operation, or several that share the handler and have paths of their own
 */
export function describe<const O extends Operation, R extends AnswerOf<O>>(
  operation: O | readonly O[],
  handler: Handler<AppEnv, string, Input, R | Promise<R>>,
): Handler<AppEnv, string, { in: InputOf<O>; out: InputOf<O> }, Promise<AnswerOf<O> | ProblemOf<O>>> {
  described.set(handler, Array.isArray(operation) ? operation : [operation as O])
  return handler as never
}

/** The operations of a route; none for a middleware. */
export function operationsOf(route: RouterRoute): readonly Operation[] {
  return described.get(route.handler) ?? []
}
