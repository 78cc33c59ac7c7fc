import * as z from 'zod/mini'
import { once } from '../http/query-string.ts'
import { documented, type Route } from '../openapi/contract.ts'
import { described } from '../openapi/described.ts'
import { onFirstUse } from '../openapi/on-first-use.ts'
import { PUBLIC_READING, READING } from '../openapi/problem-schema.ts'
import { count, instant, typeParam } from '../openapi/shared-schemas.ts'
import { consistency } from './counters-contract.ts'

/** The parameter that chooses the keys of a total. */
export const prefixField = () =>
  once(
    described(
      z.optional(z.string()),
      'The beginning of the keys: without a token, one of those that the type lists in `prefixes`. By default, and if it is empty, all keys.',
    ),
  )

const totalQuery = onFirstUse(() => ({ prefix: prefixField(), consistency: consistency() }))

export const totalOfType = {
  method: 'get',
  path: '/v1/types/{type}',
  access: 'read-unless-public',
  params: { type: typeParam },
  get query() {
    return totalQuery()
  },
} as const satisfies Route

export const totalOfTypeContract = /* @__PURE__ */ documented(totalOfType, () => ({
  id: 'typeTotal',
  tag: 'Reading',
  summary: 'Get the total of a type',
  description:
    'The sum of all counters of the type, or of those whose keys begin with a prefix. `consistency` says what the answer is: `exact`, or `rolled`, which is as of the last roll-up. A request for `exact` is answered with `rolled` while very much is pending.',
  answers: {
    200: {
      description: 'The total.',
      schema: described(
        z.strictObject({
          type: z.string(),
          prefix: z.nullable(z.string()),
          count: described(count, 'The total and, if the answer is exact, what is pending.'),
          total: described(count, 'The part that has been rolled up.'),
          pending: described(
            z.nullable(count),
            'The part that has not been rolled up yet; null unless the answer is exact.',
          ),
          consistency: z.enum(['exact', 'rolled']),
          rolledUpAt: described(z.nullable(instant), 'When a roll-up last left nothing pending; null if none did.'),
        }),
        { id: 'TypeTotal' },
      ),
    },
  },
  revalidated: true,
  problems: [...PUBLIC_READING, 'too_many_keys', ...READING],
  examples: {
    type: {
      summary: 'All counters of a type',
      params: { type: 'download' },
      answer: {
        type: 'download',
        prefix: null,
        count: 0,
        total: 0,
        pending: 0,
        consistency: 'exact',
        rolledUpAt: '2026-11-20T10:00:00.000Z',
      },
    },
  },
}))
