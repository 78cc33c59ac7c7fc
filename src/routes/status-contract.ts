import * as z from 'zod'
import { MAX_COUNTED } from '../counters/rollup/backlog.ts'
import type { Operation } from '../openapi/contract.ts'
import { count, instant } from '../openapi/shared-schemas.ts'
import { FINDING_CODES } from '../status/findings.ts'
import { SURVEY_PARTS } from '../status/survey.ts'

/** A figure that the server may not report. */
const figure = count.nullable()

const status = z
  .strictObject({
    version: z.string(),
    healthy: z.boolean().describe('True if there are no problems.'),
    problems: z
      .array(
        z.strictObject({
          code: z.enum(FINDING_CODES),
          detail: z.string().describe('What it means and what to do about it.'),
        }),
      )
      .describe('Problems that need attention.'),
    unavailable: z
      .array(
        z.strictObject({
          part: z.enum(SURVEY_PARTS),
          reason: z
            .string()
            .describe('`refused` (by the server), `not_understood`, or the code of the database error.'),
        }),
      )
      .describe('Parts that could not be read. Their members are null.'),
    pendingSlots: z.int().nullable().describe(`Slots with counts that are not rolled up yet, up to ${MAX_COUNTED}.`),
    pendingSlotsAtLeast: z.boolean().describe('True if there may be more.'),
    prunableSlots: z.int().nullable().describe('Empty slots that can be pruned.'),
    prunableSlotsAtLeast: z.boolean(),
    rollUp: z.strictObject({
      running: z.boolean().nullable(),
      lastRunAt: instant.nullable(),
      caughtUpAt: instant.nullable().describe('When a run last left nothing pending; null if never.'),
      behindSeconds: z.int().nullable().describe('Seconds since `caughtUpAt`.'),
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
      .describe('Lock statistics, kept by the database server since it started.'),
    sizes: z
      .strictObject({
        estimated: z.boolean().describe('Always true: database servers only estimate these figures.'),
        tables: z.array(z.strictObject({ name: z.string(), rows: count, dataBytes: count, indexBytes: count })),
      })
      .nullable(),
    isolate: z
      .strictObject({
        breaker: z.enum(['open', 'closed']),
        counting: z.strictObject({ waiting: z.int(), flushes: z.int() }),
        reading: z.strictObject({ waiting: z.int(), queries: z.int() }),
      })
      .describe('The isolate that served this request, one of many.'),
    rateLimits: z
      .strictObject({ counting: z.boolean(), reading: z.boolean() })
      .describe('Whether the rate limits of public requests are bound.'),
    types: z.array(z.strictObject({ name: z.string(), recordType: z.int(), key: z.enum(['string', 'integer']) })),
  })
  .meta({ id: 'Status' })

export const readStatus = {
  id: 'status',
  tag: 'Operating',
  method: 'get',
  path: '/v1/status',
  summary: 'Get the status',
  description:
    'Reports problems, pending counts, table sizes and lock waits. The response is 200 even if the database is unavailable, and ' +
    '`problems` says so. Counts are exact even if the roll-up is behind.',
  access: 'read',
  query: {},
  answers: { 200: { description: 'The status.', schema: status } },
  problems: ['malformed_query', 'unauthorized', 'invalid_request'],
  examples: {
    status: {
      summary: 'Caught up four seconds ago',
      answer: {
        version: '0.2.0',
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
        rateLimits: { counting: true, reading: true },
        types: [
          { name: 'page_view', recordType: 1, key: 'string' },
          { name: 'download', recordType: 2, key: 'string' },
        ],
      },
    },
  },
} as const satisfies Operation
