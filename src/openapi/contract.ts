import type { TypedResponse } from 'hono'
import * as v from 'valibot'
import { HIT_REASONS } from '../hit-reasons.ts'
import { MAX_IDEMPOTENCY_KEY } from '../service/named-counters.ts'
import { PROBLEMS, type ProblemCode } from '../service/problem.ts'
import { hitProblems, STATUSES } from './problems.ts'

/** The chapters of the API, in the order of the documentation. */
export const TAGS = {
  Counting: 'Add to counters, from browsers and from programs. Responses report the outcome in `X-Hit`.',
  Changing: 'Set, delete, rename and merge counters, and import counts from elsewhere.',
  Reading: 'Read exact counts: `count = total + pending`, at every instant.',
  Images: 'Counts as badges and charts, for README pages. Public types only.',
  Operating: 'Monitor and maintain a running Worker.',
  Reference: 'This documentation.',
} as const

/** A request that works unchanged on a fresh Worker, and its response. The tests send every example. */
export interface Example {
  summary: string
  /** Values of the path's parameters, not percent-encoded. */
  params?: Record<string, string>
  query?: Record<string, string | readonly string[]>
  headers?: Record<string, string>
  body?: unknown
  /** Default: the first status among the operation's responses. An example with 401 is sent without the token. */
  status?: number
  answer?: unknown
  /** Headers of the response that show what happened, such as `X-Hit`. */
  says?: Partial<Record<HeaderName, string>>
}

/** A response that is not a problem document. */
export interface Answer {
  description: string
  schema?: v.GenericSchema
  /** Default: application/json if there is a schema, else the response has no body. */
  contentType?: string
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
  /** Ignores the query string. */
  looseQuery?: true
  body?: {
    schema: () => v.GenericSchema
    maxBytes: number
    /** Default: application/json. */
    contentTypes?: readonly string[]
    optional?: boolean
  }
  /** Extra headers of this operation's problem documents. */
  problemHeaders?: readonly HeaderName[]
}

type More = Omit<Route, 'method' | 'path' | 'access'>

/** A route, with the types of its literals. */
export function route<
  const Method extends Route['method'],
  const Path extends string,
  const Access extends Route['access'],
  const M extends Exactly<M, More> = None,
>(method: Method, path: Path, access: Access, more: M = {} as M) {
  return { method, path, access, ...more }
}

/** A route's contract, for the OpenAPI document. The Worker never calls what makes it. */
export interface Operation extends Route {
  /** The `operationId`: the operation's name in generated clients. */
  id: string
  tag: keyof typeof TAGS
  summary: string
  description: string
  /** Parameters of the path that are described otherwise than usual. */
  params?: v.ObjectEntries
  headers?: v.ObjectEntries
  /** The parameters may be sent in the query or in the body, so neither is required alone. */
  either?: true
  /** Responses by status. The first one is the usual one. */
  answers: Readonly<Record<number, Answer>>
  /** Whether a request with the current `ETag` is answered 304, besides those that read public types. */
  revalidated?: boolean
  /** Whether the platform serves it from a file, without the Worker. */
  file?: true
  /** Problems besides those that follow from the route. Without them, it never answers with a problem document. */
  problems?: readonly ProblemCode[]
  examples: Readonly<Record<string, Example>>
}

/** Refuses members that a type does not have. */
type Exactly<T, Known> = Known & { [K in Exclude<keyof T, keyof Known>]: never }

/** The contract of a route, with the types of its literals. */
export function operation<const R extends Route, const M extends Exactly<M, Omit<Operation, keyof Route>>>(
  route: R,
  more: M,
): R & M {
  return { ...route, ...more }
}

/** The answers of an operation whose only one is JSON. */
export const ok = <Schema extends v.GenericSchema>(description: string, schema: Schema) => ({
  200: { description, schema },
})

/** A copy of a schema with a description, or with other members of the OpenAPI document. */
export function described<Schema extends v.GenericSchema>(
  schema: Schema,
  as: string | Record<string, unknown>,
): Schema {
  return v.pipe(schema, v.metadata(typeof as === 'string' ? { description: as } : as)) as never
}

/** An object in a response with a name in the OpenAPI document. */
export function namedObject<const Entries extends v.ObjectEntries>(id: string, entries: Entries) {
  return described(v.strictObject(entries), { id })
}

export const TYPE_DESCRIPTION = 'The name of a counter type, as configured in `[vars.COUNTERS.…]`.'

/** A count in a response, with all its digits even beyond 2^53. */
export const count = /* @__PURE__ */ described(v.number(), { type: 'integer', format: 'int64' })

/** A point in time in a response. */
export const instant = /* @__PURE__ */ v.pipe(v.string(), v.isoTimestamp())

/** A whole number in a response. */
export const whole = /* @__PURE__ */ v.pipe(v.number(), v.safeInteger())

const hitReasons = () => [...Object.keys(HIT_REASONS), ...hitProblems()]

const text = () => v.string()

/** The response headers that a client can rely on. */
export const HEADERS = {
  'X-Hit': {
    get description() {
      const reasons = hitReasons().map((reason) => `\`${reason}\``)
      return (
        'The outcome. `counted`: committed to the database. `queued`: will be counted later. `ignored; reason=…`: not counted; the ' +
        `reason is ${reasons.join(', ')}. \`unknown\`: the database did not confirm it.`
      )
    },
    schema: () => {
      const reasons = hitReasons().join('|')
      return v.pipe(v.string(), v.regex(new RegExp(`^(counted|queued|unknown|ignored; reason=(${reasons}))$`)))
    },
  },
  'X-Request-Id': { description: 'The id under which the Worker logs this request.', schema: text },
  ETag: { description: 'Send it in `If-None-Match` to get a 304 if nothing has changed.', schema: text },
  'Cache-Control': { description: 'How long the response may be cached, and by whom.', schema: text },
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    schema: () => v.pipe(v.string(), v.regex(/^\d+$/)),
  },
  'WWW-Authenticate': { description: 'The authentication scheme: Bearer.', schema: text },
  'Content-Security-Policy': { description: 'What the page may load: only its own script and style.', schema: text },
  'Idempotent-Replayed': {
    description: 'Present if an earlier request with the same key was served. This one changed nothing.',
    schema: () => v.literal('true'),
  },
  Location: { description: 'The URL of the file.', schema: text },
} as const

export type HeaderName = keyof typeof HEADERS

const idempotencyKey = (period: string, otherContents: string) =>
  described(
    v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_IDEMPOTENCY_KEY)),
    `A value unique to this request. ${period}, another request with the same key changes nothing, even from another client. ${otherContents}`,
  )
const always = (scope: string) =>
  idempotencyKey('At any later time', `With another body${scope}, it is refused: \`idempotency_key_reused\`.`)

export const userAgent = (whoElse: string) => ({
  'User-Agent': described(v.optional(v.string()), `Clients that identify themselves as bots are not counted${whoElse}`),
})

/** The `Idempotency-Key` of increments. */
export const incrementKey = () => ({
  'Idempotency-Key': v.optional(
    idempotencyKey(
      'For 24 hours (`PRUNING.idempotency_hours`)',
      'So does one with another body: the first one counts.',
    ),
  ),
})
/** That of requests that set, delete, rename or merge a counter. */
export const settingKey = () => ({ 'Idempotency-Key': v.optional(always(' for the same counter')) })
/** That of imports, which require it. */
export const importKey = () => ({ 'Idempotency-Key': always('') })

/** The body of a problem response (RFC 9457). */
export const problemDocument = /* @__PURE__ */ problemSchema()

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

// biome-ignore lint/complexity/noBannedTypes: adds nothing
export type None = {}

/** The responses that a handler may return. JSON responses are typed by their schemas. */
export type AnswerOf<O extends Operation> = {
  [Status in keyof O['answers']]: O['answers'][Status] extends { schema: infer Schema extends v.GenericSchema }
    ? Response & TypedResponse<v.InferOutput<Schema>, Status & (200 | 202 | 503), 'json'>
    : Response
}[keyof O['answers']]
