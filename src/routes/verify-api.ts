import * as z from 'zod'
import { MAX_RECONCILED, MISMATCHES, type ReconcilePosition } from '../counters/reconcile.ts'
import { count } from '../openapi/fields.ts'
import type { Operation } from '../openapi/operation.ts'
import { DATABASE } from '../openapi/problems.ts'
import { once } from '../query.ts'
import { AFTER_DESCRIPTION, AFTER_RULE, limitField, nextField } from './fields.ts'
import { readCursor } from './verify-cursor.ts'

export const verifyCounts = {
  id: 'verify',
  tag: 'Operating',
  method: 'post',
  path: '/v1/verify',
  summary: 'Check what the tables say against each other',
  description: 'Page by page, changing nothing: whether totals, days and hours add up.',
  access: 'token',
  query: {
    after: once(
      z
        .string({ error: AFTER_RULE })
        .transform((text, context): ReconcilePosition => {
          const position = readCursor(text)
          if (position !== null) return position
          context.addIssue({ code: 'custom', message: AFTER_RULE })
          return z.NEVER
        })
        .optional()
        .describe(AFTER_DESCRIPTION),
    ),
    limit: once(limitField(MAX_RECONCILED, MAX_RECONCILED, 'Counters that are checked at once')),
  },
  answers: {
    200: {
      description: 'What was checked on this page, and what does not add up.',
      schema: z
        .strictObject({
          checked: z.int(),
          wrong: z.array(
            z.strictObject({
              type: z.string().nullable(),
              recordType: z.int(),
              key: z.string().nullable().optional(),
              recordId: z.string().nullable(),
              what: z.enum(MISMATCHES).describe('Which sum is wrong.'),
              start: z.string().nullable().describe('Of which period.'),
              is: count,
              shouldBe: count,
              difference: count,
            }),
          ),
          next: nextField,
        })
        .meta({ id: 'Verification' }),
    },
  },
  problems: ['malformed_query', 'unauthorized', 'invalid_request', ...DATABASE],
  examples: {
    lastPage: {
      summary: 'The last page of an empty database',
      query: { after: 'calendar.65535', limit: '100' },
      answer: { checked: 0, wrong: [], next: null },
    },
  },
} as const satisfies Operation
