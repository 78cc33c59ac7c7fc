import * as z from 'zod'
import { MAX_PAGE } from '../counters/search.ts'
import { count, typeParam } from '../openapi/fields.ts'
import type { Operation } from '../openapi/operation.ts'
import { DATABASE } from '../openapi/problems.ts'
import { once } from '../query.ts'
import { AFTER_DESCRIPTION, limitField, nextField } from './fields.ts'

export const searchKeys = {
  id: 'search',
  tag: 'Reading',
  method: 'get',
  path: '/v1/search/{type}',
  summary: 'Which keys there are',
  description:
    'In the order of the keys’ bytes; of integer keys, of the numbers. With the token, also for public types.',
  access: 'token',
  params: { type: typeParam },
  query: {
    prefix: once(z.string().default('').describe('How the keys begin; of integer keys, the whole number.')),
    after: once(z.string().optional().describe(AFTER_DESCRIPTION)),
    limit: once(limitField(MAX_PAGE, 20, 'Keys on a page')),
  },
  answers: {
    200: {
      description: 'A page of counters.',
      schema: z
        .strictObject({
          counters: z.array(z.strictObject({ key: z.string(), count })),
          next: nextField,
        })
        .meta({ id: 'SearchPage' }),
    },
  },
  problems: ['malformed_query', 'unauthorized', 'unknown_type', 'invalid_request', ...DATABASE],
  examples: {
    none: {
      summary: 'Keys that begin with /docs/',
      params: { type: 'page_view' },
      query: { prefix: '/docs/' },
      answer: { counters: [], next: null },
    },
  },
} as const satisfies Operation
