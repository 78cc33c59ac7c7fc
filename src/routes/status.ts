import * as z from 'zod/mini'
import { SPELLINGS } from '../counters/keys/counter-address.ts'
import { MAX_COUNTED } from '../counters/rollup/roll-up.ts'
import { endpoint } from '../http/endpoint.ts'
import { openConfigured } from '../isolate.ts'
import { log } from '../log.ts'
import { ok, operation, route } from '../openapi/contract.ts'
import { count, described, instant, namedObject } from '../openapi/described.ts'
import { FINDING_CODES, statusReport } from '../status/report.ts'
import { SURVEY_PARTS, survey } from '../status/survey.ts'

const figure = () => z.nullable(count)

const statusSchema = () =>
  namedObject('Status', {
    version: z.string(),
    healthy: described(z.boolean(), 'True if there are no problems.'),
    problems: described(
      z.array(
        z.strictObject({
          code: z.enum(FINDING_CODES),
          detail: described(z.string(), 'What it means and what to do.'),
        }),
      ),
      'Problems that need attention.',
    ),
    notes: described(z.array(z.string()), 'What is not a problem, but good to know.'),
    unavailable: described(
      z.array(
        z.strictObject({
          part: z.enum(SURVEY_PARTS),
          reason: described(
            z.string(),
            '`refused` (by the server), `not_understood`, or the code of the database error.',
          ),
        }),
      ),
      'Parts that could not be read; their members are null.',
    ),
    pendingSlots: described(z.nullable(z.int()), `Slots with pending counts, up to ${MAX_COUNTED}.`),
    pendingSlotsAtLeast: described(z.boolean(), 'True if there may be more.'),
    prunableSlots: described(z.nullable(z.int()), 'Empty slots that can be pruned.'),
    prunableSlotsAtLeast: z.boolean(),
    rollUp: z.strictObject({
      running: z.nullable(z.boolean()),
      lastRunAt: z.nullable(instant),
      caughtUpAt: described(z.nullable(instant), 'When nothing was last pending; null if never.'),
      behindSeconds: described(z.nullable(z.int()), 'Seconds since `caughtUpAt`.'),
    }),
    history: z.nullable(z.strictObject({ oldestHour: z.nullable(instant) })),
    database: z.strictObject({
      version: z.nullable(z.string()),
      isolation: z.nullable(z.string()),
      latencyMs: z.nullable(z.number()),
    }),
    contention: described(
      z.nullable(
        z.strictObject({
          since: instant,
          rowLockWaits: figure(),
          rowLockWaitsNow: figure(),
          rowLockAverageMs: figure(),
          deadlocks: figure(),
        }),
      ),
      'Lock statistics, kept by the database server since it started.',
    ),
    sizes: z.nullable(
      z.strictObject({
        estimated: described(z.boolean(), 'Always true: database servers only estimate these figures.'),
        tables: z.array(z.strictObject({ name: z.string(), rows: count, dataBytes: count, indexBytes: count })),
      }),
    ),
    isolate: described(
      z.strictObject({
        breaker: z.enum(['open', 'closed']),
        counting: z.strictObject({ waiting: z.int(), flushes: z.int() }),
        reading: z.strictObject({ waiting: z.int(), queries: z.int() }),
        ignored: described(
          z.array(
            z.strictObject({
              type: z.string(),
              reason: z.string(),
              cause: z.string(),
              advice: z.string(),
              origin: z.nullable(z.string()),
              at: instant,
            }),
          ),
          'The latest ignored hit of each type: the reason in `X-Hit`, and what it means and what to do in words.',
        ),
      }),
      'The isolate that served this request, one of many.',
    ),
    rateLimits: described(
      z.strictObject({ counting: z.boolean(), reading: z.boolean(), newKeys: z.boolean() }),
      'Whether the rate limits of public requests are bound.',
    ),
    types: z.array(
      z.strictObject({
        name: z.string(),
        title: z.string(),
        unit: described(z.string(), 'The unit of the counts, in the plural.'),
        url: described(z.nullable(z.string()), 'The URL to which a key is appended.'),
        also: described(z.nullable(z.string()), 'The type that counts the same visits once per visitor.'),
        recordType: z.int(),
        key: z.enum(['string', 'integer']),
        sameKey: z.array(z.enum(SPELLINGS)),
      }),
    ),
  })

const readStatus = route('get', '/v1/status', 'read')

const CAUGHT_UP = {
  version: '0.2.0',
  healthy: true,
  problems: [],
  notes: [],
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
  sizes: { estimated: true, tables: [{ name: 'slotted_counters', rows: 18, dataBytes: 16384, indexBytes: 32768 }] },
  isolate: {
    breaker: 'closed',
    counting: { waiting: 0, flushes: 0 },
    reading: { waiting: 0, queries: 0 },
    ignored: [],
  },
  rateLimits: { counting: true, reading: true, newKeys: true },
  types: [
    {
      name: 'page_view',
      title: 'Page views',
      unit: 'views',
      url: null,
      also: null,
      recordType: 1,
      key: 'string',
      sameKey: ['trailing_slash'],
    },
  ],
}

export const readStatusContract = () =>
  operation(readStatus, {
    id: 'status',
    tag: 'Operating',
    summary: 'Get the status',
    description:
      'Reports problems, pending counts, table sizes and lock waits. If the database is unavailable, the response is still 200, and ' +
      '`problems` says so. Counts are exact even if the roll-up is behind.',
    answers: ok('The status.', statusSchema()),
    problems: [],
    examples: { status: { summary: 'Caught up four seconds ago', answer: CAUGHT_UP } },
  })

/** Milliseconds for one part of the status. */
const PART_DEADLINE_MS = 3_000

export const status = endpoint<typeof readStatusContract>(
  readStatus,
  async (c, { caller: { db, databaseTime, isolate } }) => {
    // Not through the circuit breaker: the server's views may be slow or refused while the database is healthy.
    const aside = openConfigured(isolate, PART_DEADLINE_MS)
    const found = await survey(db, databaseTime?.of(aside) ?? aside)
    for (const { part, error } of found.missing) {
      log('warn', 'status_incomplete', { requestId: c.get('requestId'), part, error: String(error) })
    }
    return statusReport(found, isolate, new Date())
  },
)
