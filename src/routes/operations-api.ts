import * as z from 'zod'
import { MAX_COUNTED } from '../counters/backlog.ts'
import { count, instant } from '../openapi/fields.ts'
import type { Operation } from '../openapi/operation.ts'
import { DATABASE } from '../openapi/problems.ts'

const status = z
  .strictObject({
    pendingSlots: z
      .int()
      .describe(`Slots with counts that are not rolled up yet; at most ${MAX_COUNTED} are looked at.`),
    pendingSlotsAtLeast: z.boolean().describe('Whether there may be more than that.'),
    rollUp: z.strictObject({
      running: z.boolean(),
      lastRunAt: instant.nullable(),
      caughtUpAt: instant.nullable().describe('When a run last left nothing pending; null: never.'),
      behindSeconds: z.int().nullable().describe('How long ago that was.'),
    }),
    types: z.array(z.strictObject({ name: z.string(), recordType: z.int(), key: z.enum(['string', 'integer']) })),
  })
  .meta({ id: 'Status' })

const summary = z
  .strictObject({
    outcome: z.enum(['complete', 'partial', 'busy']).describe('`partial`: the next run takes up what is left.'),
    moved: count.describe('Sum of the counts moved into totals.'),
    counters: z.int(),
    slots: z.int(),
    pages: z.int().describe('Transactions.'),
    overtaken: z.int().describe('Pages that another run moved first.'),
    stuck: z.int().describe('Counters whose total cannot grow any further: they stay pending, and exact.'),
    statements: z.int(),
    milliseconds: z.number(),
    left: z.int().nullable().describe('Slots that are still pending; null: not looked at.'),
  })
  .meta({ id: 'RollUpSummary' })

export const readStatus = {
  id: 'status',
  tag: 'Operating',
  method: 'get',
  path: '/v1/status',
  summary: 'How far the roll-up is behind',
  description: 'What is pending, and what is counted. Counts are exact however far the roll-up is behind.',
  access: 'token',
  answers: { 200: { description: 'The state of things.', schema: status } },
  problems: ['unauthorized', ...DATABASE],
  examples: {
    status: {
      summary: 'Caught up four seconds ago',
      answer: {
        pendingSlots: 3,
        pendingSlotsAtLeast: false,
        rollUp: {
          running: false,
          lastRunAt: '2026-11-20T10:00:00.000Z',
          caughtUpAt: '2026-11-20T10:00:00.000Z',
          behindSeconds: 4,
        },
        types: [
          { name: 'page_view', recordType: 1, key: 'string' },
          { name: 'download', recordType: 2, key: 'string' },
        ],
      },
    },
  },
} as const satisfies Operation

export const rollUpOnce = {
  id: 'rollUp',
  tag: 'Operating',
  method: 'post',
  path: '/v1/rollup',
  summary: 'Roll up now',
  description: 'Moves pending counts into the totals and the history, as happens every minute anyway.',
  access: 'token',
  answers: { 200: { description: 'What was moved.', schema: summary } },
  problems: ['unauthorized', 'rollup_running', ...DATABASE],
  examples: {
    rollUp: {
      summary: 'Twelve counts of two counters',
      answer: {
        outcome: 'complete',
        moved: 12,
        counters: 2,
        slots: 3,
        pages: 1,
        overtaken: 0,
        stuck: 0,
        statements: 14,
        milliseconds: 9,
        left: 0,
      },
    },
  },
} as const satisfies Operation
