import * as z from 'zod/mini'
import { toJsonNumber } from '../database/values.ts'
import { askedPrefix } from '../http/authorization.ts'
import { callerOf } from '../http/caller.ts'
import { publicReading } from '../http/endpoint.ts'
import { operation, route } from '../openapi/contract.ts'
import { count, described, instant, namedObject } from '../openapi/described.ts'
import { READING } from '../openapi/problems.ts'
import { readSum, totalAnswer, totalQuery } from '../service/read.ts'

const totalOfType = route('get', '/v1/types/{type}', 'read-unless-public', { query: totalQuery })

export const totalOfTypeContract = () =>
  operation(totalOfType, {
    id: 'typeTotal',
    tag: 'Reading',
    summary: 'Get the total of a type',
    description:
      'The sum of all counters of the type, or of those whose keys begin with a prefix. A request for `exact` is answered with `rolled`, as of the last roll-up, while very many slots are pending; `consistency` says which.',
    answers: {
      200: {
        description: 'The total.',
        schema: namedObject('TypeTotal', {
          type: z.string(),
          prefix: z.nullable(z.string()),
          count: described(count, 'total, plus pending if the answer is exact.'),
          total: described(count, 'The rolled-up part.'),
          pending: described(
            z.nullable(count),
            'The part that has not been rolled up yet; null unless the answer is exact.',
          ),
          consistency: z.enum(['exact', 'rolled']),
          rolledUpAt: described(z.nullable(instant), 'When a roll-up last left nothing pending; null if none did.'),
        }),
      },
    },
    problems: ['too_many_keys', ...READING],
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
  })

export const typeTotal = publicReading<typeof totalOfTypeContract>(totalOfType, async (c, { type, query }) => {
  const prefix = await askedPrefix(c, type, query.prefix)
  const { reading, maxAge } = await readSum(callerOf(c), type, prefix, query.consistency)
  return { answer: totalAnswer(type, prefix, reading, toJsonNumber), maxAge }
})
