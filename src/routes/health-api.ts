import * as z from 'zod'
import type { Operation } from '../openapi/operation.ts'

export const readHealth = {
  id: 'health',
  tag: 'Operating',
  method: 'get',
  path: '/healthz',
  summary: 'Whether all is well',
  description: 'Asks the database for one row. For monitors; needs no token, and tells nothing but this.',
  access: 'anyone',
  answers: {
    200: {
      description: 'The Worker and its database are well.',
      schema: z.strictObject({ status: z.literal('ok'), database: z.literal('ok') }).meta({ id: 'Healthy' }),
    },
    503: {
      description: 'Something is missing. (What is wrong in the configuration is told in a problem document.)',
      schema: z
        .strictObject({
          status: z.literal('unavailable'),
          database: z.string().describe('The code of what is wrong with the database.'),
          detail: z.string(),
        })
        .meta({ id: 'Unhealthy' }),
      headers: ['Retry-After'],
    },
  },
  problems: [],
  examples: { well: { summary: 'All is well', answer: { status: 'ok', database: 'ok' } } },
} as const satisfies Operation
