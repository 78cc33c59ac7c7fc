import * as v from 'valibot'
import { setCounter } from '../counters/changes/set-counter.ts'
import { answerChange, idempotencyKey } from '../http/caller.ts'
import { endpoint } from '../http/endpoint.ts'
import { count, described, namedObject, operation, route, settingKey, whole } from '../openapi/contract.ts'
import { countField, shortBody } from '../openapi/fields.ts'
import { ADJUSTING, exampleProblem } from '../openapi/problems.ts'
import { KEY_REUSED } from '../service/problem.ts'

const setCount = route('put', '/v1/counters/{type}/{key}', 'manage', {
  body: shortBody(1024, '{"count":0}', () => ({ count: described(countField, 'The new count.') })),
})

const CARRY_OVER = {
  params: { type: 'page_view', key: '/about' },
  headers: { 'Idempotency-Key': 'carry-over-about' },
  body: { count: 1234 },
}

const CARRIED = { type: 'page_view', key: '/about', count: 1234 }

export const setCountContract = () =>
  operation(setCount, {
    id: 'set',
    tag: 'Changing',
    summary: 'Set a counter',
    description:
      'Sets the counter to any whole number. What was pending stays in the history. A concurrent increment is either replaced too or added to the new value.',
    headers: settingKey(),
    answers: {
      200: {
        description: 'Set, by this or an earlier request with the same idempotency key.',
        headers: ['Idempotent-Replayed'],
        schema: namedObject('Setting', {
          type: v.string(),
          key: v.string(),
          count: whole,
          added: described(
            v.nullable(count),
            'By how much this changed the count. Importing the negative undoes it. null if an earlier request set it.',
          ),
        }),
      },
    },
    problems: ['too_many_pending', ...ADJUSTING],
    examples: {
      carryOver: {
        summary: 'Carry over a number from another counter',
        ...CARRY_OVER,
        answer: { ...CARRIED, added: 1234 },
      },
      again: {
        summary: 'The same request again',
        ...CARRY_OVER,
        answer: { ...CARRIED, added: null },
        says: { 'Idempotent-Replayed': 'true' },
      },
      otherCount: {
        summary: 'The same key with another count',
        ...CARRY_OVER,
        body: { count: 5 },
        status: 422,
        answer: exampleProblem('idempotency_key_reused', KEY_REUSED),
      },
    },
  })

export const set = endpoint<typeof setCountContract>(
  setCount,
  async (c, { caller, type, counter, key, body: { count } }) => {
    const given = await idempotencyKey(c, 'set')
    const setting = { count: BigInt(count), id: given ?? null, at: new Date() }
    // A repeated request is told the count that it set, not the present one.
    const answer = { type: type.name, key, count, added: null as bigint | null }
    const changing = setCounter(caller.isolate.changeDb, counter, setting).then((done) => {
      answer.added = done.added
      return done.outcome
    })
    return answerChange(c, given, changing, answer)
  },
)
