import * as z from 'zod'
import { MAX_COUNTED } from '../counters/backlog.ts'
import { count, instant } from '../openapi/fields.ts'
import type { Operation } from '../openapi/operation.ts'
import { DATABASE } from '../openapi/problems.ts'
import { STATUS_PROBLEMS } from '../status/problems.ts'
import { SURVEY_PARTS } from '../status/survey.ts'

/** A table's or a lock's figure that the server may not tell. */
const figure = count.nullable()

const status = z
  .strictObject({
    version: z.string(),
    healthy: z.boolean().describe('Whether there are no problems.'),
    problems: z
      .array(
        z.strictObject({
          code: z.enum(STATUS_PROBLEMS),
          detail: z.string().describe('What it means and what to do about it.'),
        }),
      )
      .describe('What a person should look at.'),
    unavailable: z
      .array(
        z.strictObject({
          part: z.enum(SURVEY_PARTS),
          reason: z
            .string()
            .describe('`refused` by the server, `not_understood`, or the code of what the database did.'),
        }),
      )
      .describe('What could not be found out, and is null below.'),
    pendingSlots: z
      .int()
      .nullable()
      .describe(`Slots with counts that are not rolled up yet; at most ${MAX_COUNTED} are looked at.`),
    pendingSlotsAtLeast: z.boolean().describe('Whether there may be more than that.'),
    prunableSlots: z.int().nullable().describe('Empty slots that pruning may delete.'),
    prunableSlotsAtLeast: z.boolean(),
    rollUp: z.strictObject({
      running: z.boolean().nullable(),
      lastRunAt: instant.nullable(),
      caughtUpAt: instant.nullable().describe('When a run last left nothing pending; null: never.'),
      behindSeconds: z.int().nullable().describe('How long ago that was.'),
    }),
    history: z.strictObject({ oldestHour: instant.nullable() }).nullable(),
    database: z.strictObject({
      version: z.string().nullable(),
      isolation: z.string().nullable(),
      latencyMs: z.number().nullable(),
    }),
    contention: z
      .strictObject({
        since: instant,
        rowLockWaits: figure,
        rowLockWaitsNow: figure,
        rowLockAverageMs: figure,
        deadlocks: figure,
      })
      .nullable()
      .describe('What the server has counted since it started.'),
    sizes: z
      .strictObject({
        estimated: z.boolean().describe('Servers keep these figures roughly.'),
        tables: z.array(z.strictObject({ name: z.string(), rows: count, dataBytes: count, indexBytes: count })),
      })
      .nullable(),
    isolate: z
      .strictObject({
        breaker: z.enum(['open', 'closed']),
        counting: z.strictObject({ waiting: z.int(), flushes: z.int() }),
        reading: z.strictObject({ waiting: z.int(), queries: z.int() }),
      })
      .describe('The isolate that answered, one of many.'),
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
    behindSeconds: z.int().nullable().describe('How long ago a run last left nothing pending; null: never.'),
  })
  .meta({ id: 'RollUpSummary' })

export const readStatus = {
  id: 'status',
  tag: 'Operating',
  method: 'get',
  path: '/v1/status',
  summary: 'Whether all is well, and how far the roll-up is behind',
  description:
    'What is pending, how big the tables are, who waits for whom. Answers 200 also while the database is away, and says so under `problems`. ' +
    'Counts are exact however far the roll-up is behind.',
  access: 'token',
  answers: { 200: { description: 'The state of things.', schema: status } },
  problems: ['unauthorized'],
  examples: {
    status: {
      summary: 'Caught up four seconds ago',
      answer: {
        version: '0.1.0',
        healthy: true,
        problems: [],
        unavailable: [],
        pendingSlots: 3,
        pendingSlotsAtLeast: false,
        prunableSlots: 0,
        prunableSlotsAtLeast: false,
        rollUp: {
          running: false,
          lastRunAt: '2026-11-20T10:00:00.000Z',
          caughtUpAt: '2026-11-20T10:00:00.000Z',
          behindSeconds: 4,
        },
        history: { oldestHour: '2026-11-19T08:00:00.000Z' },
        database: { version: '8.4.6', isolation: 'REPEATABLE-READ', latencyMs: 1.8 },
        contention: {
          since: '2026-11-01T04:00:00.000Z',
          rowLockWaits: 12,
          rowLockWaitsNow: 0,
          rowLockAverageMs: 1,
          deadlocks: 0,
        },
        sizes: {
          estimated: true,
          tables: [{ name: 'slotted_counters', rows: 18, dataBytes: 16384, indexBytes: 32768 }],
        },
        isolate: { breaker: 'closed', counting: { waiting: 0, flushes: 0 }, reading: { waiting: 0, queries: 0 } },
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
        behindSeconds: 0,
      },
    },
  },
} as const satisfies Operation
