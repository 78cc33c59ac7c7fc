import type { Context } from 'hono'
import * as v from 'valibot'
import type { CounterType } from '../config/counter-types.ts'
import { type MoveRequest, moveCounter } from '../counters/changes/move-counter.ts'
import type { CounterAddress } from '../counters/keys/counter-address.ts'
import { checkTypes } from '../http/authorization.ts'
import { answerChange, idempotencyKey } from '../http/caller.ts'
import { endpoint } from '../http/endpoint.ts'
import type { AppEnv } from '../http/hono.ts'
import { described, namedObject, operation, route, settingKey } from '../openapi/contract.ts'
import { shortBody } from '../openapi/fields.ts'
import { ADJUSTING, exampleProblem } from '../openapi/problems.ts'
import { parsed } from '../schemas.ts'
import type { Caller } from '../service/caller.ts'
import { counterOfKey } from '../service/named-counters.ts'
import type { ProblemCode } from '../service/problem.ts'
import { invalidRequest } from '../service/problem.ts'

/** What the three contracts share. `body` is that of the example. */
const change = <const Own extends readonly ProblemCode[]>(own: Own, body?: object) =>
  ({
    tag: 'Changing',
    headers: settingKey(),
    answers: {
      200: {
        description: 'Done, by this or an earlier request with the same idempotency key.',
        headers: ['Idempotent-Replayed'],
        schema: namedObject('Moved', { type: v.string(), key: v.string() }),
      },
    },
    problems: ['no_such_counter', 'history_too_large', 'too_many_pending', ...ADJUSTING, ...own],
    examples: {
      missing: {
        summary: 'A counter that does not exist',
        params: { type: 'page_view', key: '/never-counted' },
        ...(body && { body }),
        status: 404,
        answer: exampleProblem('no_such_counter', 'The counter does not exist. Nothing was changed.'),
      },
    },
  }) as const

const BELOW_RULE = 'must be a whole number'

const also = () =>
  described(
    v.optional(v.picklist(['true', 'false'], 'must be true or false'), 'false'),
    '`true`: the same for the counters of this key in the types that the type names in `also`, in one transaction. The token must cover them.',
  )

const deleteCounter = route('delete', '/v1/counters/{type}/{key}', 'manage', {
  query: () => ({
    also: also(),
    below: described(
      v.optional(parsed((digits) => (/^-?\d{1,19}$/.test(digits) ? BigInt(digits) : null), BELOW_RULE)),
      {
        type: 'integer',
        description: 'Delete only if the count is below this number at that instant.',
      },
    ),
  }),
})

export const deleteCounterContract = () =>
  operation(deleteCounter, {
    id: 'delete',
    summary: 'Delete a counter',
    description:
      'Deletes the counter with its name, history and adjustments. Later hits of its key create a new counter.',
    ...change(['count_not_below']),
  })

const rename = route('post', '/v1/counters/{type}/{key}/rename', 'manage', {
  query: () => ({ also: also() }),
  body: shortBody(4096, '{"to":"/new"}', () => ({
    to: described(v.string(), 'The new key, which must not have a counter.'),
  })),
})

export const renameContract = () =>
  operation(rename, {
    id: 'rename',
    summary: 'Rename a counter',
    description: 'Moves count, history and adjustments to a new key. Later hits of the old key create a new counter.',
    ...change(['counter_exists', 'different_ranges'], { to: '/new' }),
  })

const merge = route('post', '/v1/counters/{type}/{key}/merge', 'manage', {
  query: () => ({ also: also() }),
  body: shortBody(4096, '{"into":"/other"}', () => ({
    into: described(v.string(), 'The key of the other counter, which must exist.'),
  })),
})

export const mergeContract = () =>
  operation(merge, {
    id: 'merge',
    summary: 'Merge a counter into another one',
    description:
      'Adds count, history and adjustments to another counter of the same type, and deletes this one. Later hits of its key create a new counter.',
    ...change(['different_ranges'], { into: '/other' }),
  })

export const deletion = endpoint<typeof deleteCounterContract>(deleteCounter, (c, parts) =>
  answerTo(c, parts, { kind: 'delete', target: null, below: parts.query.below ?? null }),
)

export const renaming = endpoint<typeof renameContract>(rename, async (c, parts) =>
  answerTo(c, parts, { kind: 'rename', target: await targetOf(parts, 'to', parts.body.to), below: null }),
)

export const merging = endpoint<typeof mergeContract>(merge, async (c, parts) =>
  answerTo(c, parts, { kind: 'merge', target: await targetOf(parts, 'into', parts.body.into), below: null }),
)

interface Asked {
  caller: Caller
  type: CounterType
  key: string
  counter: CounterAddress
  query: { also: string }
}

async function targetOf({ caller, type, counter }: Asked, field: string, key: string): Promise<CounterAddress> {
  const target = await counterOfKey(caller.isolate.addresses, type, key, field)
  if (target.recordId === counter.recordId) throw invalidRequest([{ field, message: 'must be another key' }])
  return target
}

async function answerTo(
  c: Context<AppEnv>,
  { caller, type, counter, key, query }: Asked,
  asked: Pick<MoveRequest, 'kind' | 'target' | 'below'>,
) {
  const given = await idempotencyKey(c, 'move')
  const { changeDb } = caller.isolate
  const others = query.also === 'true' ? type.also.filter(({ visitorsOf }) => visitorsOf === 'page') : []
  checkTypes(c, ...others.map(({ name }) => name))
  const moving = moveCounter(changeDb, counter, {
    ...asked,
    also: others.map(({ recordType }) => recordType),
    key: given ?? null,
  })
  return answerChange(c, given, moving, { type: type.name, key })
}
