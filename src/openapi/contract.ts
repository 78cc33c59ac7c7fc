import type { TypedResponse } from 'hono'
import * as v from 'valibot'
import type { KeyPurpose } from '../service/named-counters.ts'
import type { ProblemCode } from '../service/problem.ts'

/** The headers of responses that a client can rely on. */
export type HeaderName =
  | 'X-Hit'
  | 'X-Request-Id'
  | 'ETag'
  | 'Cache-Control'
  | 'Retry-After'
  | 'WWW-Authenticate'
  | 'Content-Security-Policy'
  | 'Idempotent-Replayed'
  | 'Location'

/** A response that is not a problem document. */
export interface Answer {
  description: string
  schema?: v.GenericSchema
  /** Default: application/json if there is a schema, else the response has no body. */
  contentType?: string
  /** Whether a parameter asks for CSV instead. */
  csv?: true
  headers?: readonly HeaderName[]
}

/** What requests of a method and path are checked against. Unknown parameters are refused without `looseQuery`. */
export interface Route {
  method: 'get' | 'post' | 'put' | 'delete'
  /** In OpenAPI's notation: `/v1/counters/{type}/{key}`. `{type}` and `{key}` are those of counters. */
  path: string
  /** Who has access: anyone, or the scope that a token needs. `read-unless-public`: anyone, if the type is public. */
  access: 'anyone' | 'count' | 'read' | 'manage' | 'read-unless-public'
  /** Set if the handler checks the body's types (`checkTypes`). Else, without `{type}`, a limited token is refused. */
  typesInBody?: true
  /** The parameters in the query string, for `readQuery`. Default: none. */
  query?: () => v.ObjectEntries
  looseQuery?: true
  body?: {
    schema: () => v.GenericSchema
    maxBytes: number
    /** Default: application/json. */
    contentTypes?: readonly string[]
    optional?: boolean
  }
  /** What the `Idempotency-Key` of a request is for. Default: it is ignored. */
  idempotency?: KeyPurpose
  /** Set if every response has `X-Hit`. */
  tellsHit?: true
}

/** A route, with the types of its literals. */
export function route<
  const Method extends Route['method'],
  const Path extends string,
  const Access extends Route['access'],
  const M extends Exactly<M, Omit<Route, 'method' | 'path' | 'access'>> = None,
>(method: Method, path: Path, access: Access, more: M = {} as M) {
  return { method, path, access, ...more }
}

type Tag = 'Counting' | 'Changing' | 'Reading' | 'Images' | 'Operating' | 'Reference'

/** What the document says of parameters and members of the body, by name: a description, or members of a schema. `entry`: a list's type. */
export type Notes = Readonly<Record<string, string | { entry?: string; [keyword: string]: unknown }>>

/** A route's contract, for the OpenAPI document, which adds examples. The Worker never calls what makes it. */
export interface Operation extends Route {
  id: string
  tag: Tag
  summary: string
  description: string
  notes?: Notes
  /** Parameters of the path that are described otherwise than usual. */
  params?: v.ObjectEntries
  /** Headers besides the `Idempotency-Key`. */
  headers?: v.ObjectEntries
  /** The parameters may be sent in the query or in the body, so neither is required alone. */
  either?: true
  /** Responses by status. The first one is the usual one. */
  answers: Readonly<Record<number, Answer>>
  /** Whether a request with the current `ETag` is answered 304, besides those that read public types. */
  revalidated?: boolean
  /** Problems besides those that follow from the route. Without them, it never answers with a problem document. */
  problems?: readonly ProblemCode[]
}

/** Refuses members that a type does not have. */
type Exactly<T, Known> = Known & { [K in Exclude<keyof T, keyof Known>]: never }

/** The contract of a route, with the types of its literals. @param id the operation's name in generated clients */
export function operation<
  const R extends Route,
  const T extends Tag,
  const Id extends string,
  const M extends Exactly<M, Omit<Operation, keyof Route | 'tag' | 'id'>>,
>(route: R, tag: T, id: Id, more: M) {
  return { ...route, tag, id, ...more }
}

/** A copy of a schema with a description, or with other members of the OpenAPI document. */
export function described<Schema extends v.GenericSchema>(schema: Schema, as: string | Record<string, unknown>) {
  return v.pipe(schema, v.metadata(typeof as === 'string' ? { description: as } : as)) as unknown as Schema
}

/** An object in a response with a name in the OpenAPI document. */
export function namedObject<const Entries extends v.ObjectEntries>(id: string, entries: Entries) {
  return described(v.strictObject(entries), { id })
}

/** The usual answer of an operation: an object with a name in the OpenAPI document. */
export const ok = <const Entries extends v.ObjectEntries>(description: string, id: string, entries: Entries) => ({
  200: { description, schema: namedObject(id, entries) },
})

/** The same answer, which a parameter asks for as CSV. */
export const withCsv = <A extends Answer>(answers: { 200: A }) => ({ 200: { ...answers[200], csv: true as const } })

export const TYPE_DESCRIPTION = 'The name of a counter type, as configured in `[vars.COUNTERS.…]`.'

// Each call below is marked as pure, so that the bundle does not keep what only contracts use.

/** A count in a response, with all its digits even beyond 2^53. */
export const count = /* @__PURE__ */ described(/* @__PURE__ */ v.number(), { type: 'integer', format: 'int64' })

/** A point in time in a response. */
export const instant = /* @__PURE__ */ v.pipe(/* @__PURE__ */ v.string(), /* @__PURE__ */ v.isoTimestamp())

/** A whole number in a response. */
export const whole = /* @__PURE__ */ v.pipe(/* @__PURE__ */ v.number(), /* @__PURE__ */ v.safeInteger())

/** The `User-Agent` of requests that count visits. */
export const userAgent = (whoElse: string) => ({
  'User-Agent': described(v.optional(v.string()), `Clients that identify themselves as bots are not counted${whoElse}`),
})

// biome-ignore lint/complexity/noBannedTypes: adds nothing
export type None = {}

/** The responses that a handler may return. JSON responses are typed by their schemas. */
export type AnswerOf<O extends Operation> = {
  [Status in keyof O['answers']]: O['answers'][Status] extends { schema: infer Schema extends v.GenericSchema }
    ? Response & TypedResponse<v.InferOutput<Schema>, Status & (200 | 202 | 503), 'json'>
    : Response
}[keyof O['answers']]

/** Problems of requests that read or write. */
export const DATABASE: ProblemCode[] = ['database_unavailable', 'database_not_ready', 'too_few_ranges']
export const READING = /* @__PURE__ */ DATABASE.concat('overloaded')
export const COUNTING = /* @__PURE__ */ DATABASE.concat('count_out_of_range', 'overloaded', 'outcome_unknown')
/** Problems of requests that set counters or import counts. */
export const ADJUSTING = /* @__PURE__ */ DATABASE.concat(
  'count_out_of_range',
  'idempotency_key_reused',
  'overtaken',
  'outcome_unknown',
)
