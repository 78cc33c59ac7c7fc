import type { Context, Handler } from 'hono'
import type * as v from 'valibot'
import type { CounterType } from '../config/counter-types.ts'
import type { CounterAddress } from '../counters/counter-address.ts'
import { toJson } from '../database/values.ts'
import type { AnswerOf, None, Operation, Route } from '../openapi/contract.ts'
import type { Caller } from '../service/caller.ts'
import { counterOfKey, hashOfKey } from '../service/named-counters.ts'
import { authorize, authorizeForAll, checkTypes } from './authorization.ts'
import { callerOf } from './caller.ts'
import type { AppEnv, HonoApp } from './hono.ts'
import { readJson } from './json-body.ts'
import { tellHit } from './problem-response.ts'
import { limitReading, readableIfPublic, revalidated } from './reading.ts'
import { decodeKey, pathType, rawPathKey, readQuery } from './url.ts'

/** What an endpoint reads before its handler runs, as far as the contract has it. */
export type Parts<O> = { caller: Caller } & (O extends { path: `${string}{type}${string}` }
  ? { type: CounterType }
  : None) &
  (O extends { path: `${string}{key}${string}` } ? { key: string; counter: CounterAddress } : None) &
  (O extends { query: () => infer Shape extends v.ObjectEntries }
    ? { query: v.InferOutput<v.ObjectSchema<Shape, undefined>> }
    : None) &
  (O extends { body: { schema: () => infer Schema extends v.GenericSchema } }
    ? { body: v.InferOutput<Schema> }
    : None) &
  (O extends { idempotency: string } ? { id: bigint | undefined } : None)

/** The JSON of a successful response. Its numbers may be bigints. */
type Data<O extends Operation> = WithBigints<v.InferInput<NonNullable<O['answers'][200]['schema']>>>
type WithBigints<T> = T extends number ? T | bigint : T extends object ? { [K in keyof T]: WithBigints<T[K]> } : T

/** Serves a route: checks the token, sets `X-Hit` and reads what the route has. @param handler returns a response, or the data of one */
export function endpoint<C extends () => Operation>(
  route: Route,
  handler: (c: Context<AppEnv>, parts: Parts<ReturnType<C>>) => Promise<AnswerOf<ReturnType<C>> | Data<ReturnType<C>>>,
) {
  const { path, access, typesInBody = false, tellsHit } = route
  const ofSomeTypes = typesInBody || path.includes('{type}')
  const partsOf = partsReader<ReturnType<C>>(route)
  const answered = async (c: Context<AppEnv>) => {
    if (access !== 'anyone' && access !== 'read-unless-public') {
      await (ofSomeTypes ? authorize : authorizeForAll)(c, access)
    }
    const answer = await handler(c, await partsOf(c))
    return answer instanceof Response ? answer : jsonAnswer(c, answer)
  }
  return (app: HonoApp) => add(app, route, tellsHit ? [tellHit, answered] : [answered])
}

/**
 * Serves a route that reads counters, to everybody if the type is public: with CORS, `ETag`, `Cache-Control` and the rate limit of reading.
 * @param read returns the answer, and the seconds for which it may be cached; `null`: always revalidate
 */
export function publicReading<C extends () => Operation & { access: 'read-unless-public' }>(
  route: Route,
  read: (
    c: Context<AppEnv>,
    parts: Parts<ReturnType<C>> & { type: CounterType },
  ) => Promise<{ answer: Data<ReturnType<C>> | Response; maxAge: number | null }>,
) {
  const partsOf = partsReader<ReturnType<C>>(route)
  const handler = async (c: Context<AppEnv>) => {
    await limitReading(c)
    const parts = (await partsOf(c)) as Parts<ReturnType<C>> & { type: CounterType }
    const { answer, maxAge } = await read(c, parts)
    const scope = parts.type.public && c.get('token') === undefined ? 'public' : 'private'
    const response = answer instanceof Response ? answer : jsonAnswer(c, answer)
    response.headers.set('Cache-Control', `${scope}, ${maxAge === null ? 'no-cache' : `max-age=${maxAge}`}`)
    return response
  }
  return (app: HonoApp) => {
    app.on(['GET', 'OPTIONS'], honoPath(route.path), readableIfPublic)
    add(app, route, [revalidated, handler])
  }
}

function jsonAnswer(c: Context<AppEnv>, answer: unknown): Response {
  return c.body(toJson(answer), 200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

function add(app: HonoApp, { method, path }: Route, handlers: Handler<AppEnv>[]): void {
  app.on([method.toUpperCase()], [honoPath(path)], ...handlers)
}

function partsReader<O extends Operation>(route: Route) {
  const { path, access, query = () => ({}), looseQuery, body, idempotency } = route
  return async (c: Context<AppEnv>): Promise<Parts<O>> => {
    const parts: Record<string, unknown> = { caller: callerOf(c) }
    if (path.includes('{type}')) {
      const type = pathType(c)
      if (access === 'read-unless-public' && !type.public) await authorize(c, 'read')
      checkTypes(c, type.name)
      parts.type = type
      if (path.includes('{key}')) {
        const key = decodeKey(rawPathKey(c))
        parts.key = key
        parts.counter = await counterOfKey(c.get('isolate').addresses, type, key)
      }
    }
    if (!looseQuery) parts.query = readQuery(c.req.url, query)
    if (body !== undefined) parts.body = await readJson(c, body)
    const key = c.req.header('Idempotency-Key')
    // To slot and batch id, or the id of a change.
    if (idempotency !== undefined && key !== undefined) parts.id = await hashOfKey(key, idempotency)
    return parts as Parts<O>
  }
}
