import * as v from 'valibot'
import { SPELLINGS } from '../counters/keys/counter-address.ts'
import { MAX_COUNTED } from '../counters/rollup/roll-up.ts'
import { endpoint } from '../http/endpoint.ts'
import { openConfigured } from '../isolate.ts'
import { log } from '../log.ts'
import { count, described, instant, namedObject, ok, operation, route, whole } from '../openapi/contract.ts'
import { FINDING_CODES, statusReport } from '../status/report.ts'
import { SURVEY_PARTS, survey } from '../status/survey.ts'

const figure = () => v.nullable(count)

const statusSchema = () =>
  namedObject('Status', {
    version: v.string(),
    healthy: described(v.boolean(), 'True if there are no problems.'),
    problems: described(
      v.array(
        v.strictObject({
          code: v.picklist(FINDING_CODES),
          detail: described(v.string(), 'What it means and what to do.'),
        }),
      ),
      'Problems that need attention.',
    ),
    notes: described(v.array(v.string()), 'What is not a problem, but good to know.'),
    unavailable: described(
      v.array(
        v.strictObject({
          part: v.picklist(SURVEY_PARTS),
          reason: described(
            v.string(),
            '`refused` (by the server), `not_understood`, or the code of the database error.',
          ),
        }),
      ),
      'Parts that could not be read; their members are null.',
    ),
    pendingSlots: described(v.nullable(whole), `Slots with pending counts, up to ${MAX_COUNTED}.`),
    pendingSlotsAtLeast: described(v.boolean(), 'True if there may be more.'),
    prunableSlots: described(v.nullable(whole), 'Empty slots that can be pruned.'),
    prunableSlotsAtLeast: v.boolean(),
    rollUp: v.strictObject({
      running: v.nullable(v.boolean()),
      lastRunAt: v.nullable(instant),
      caughtUpAt: described(v.nullable(instant), 'When nothing was last pending; null if never.'),
      behindSeconds: described(v.nullable(whole), 'Seconds since `caughtUpAt`.'),
    }),
    history: v.nullable(v.strictObject({ oldestHour: v.nullable(instant) })),
    database: v.strictObject({
      version: v.nullable(v.string()),
      isolation: v.nullable(v.string()),
      latencyMs: v.nullable(v.number()),
    }),
    contention: described(
      v.nullable(
        v.strictObject({
          since: instant,
          rowLockWaits: figure(),
          rowLockWaitsNow: figure(),
          rowLockAverageMs: figure(),
          deadlocks: figure(),
        }),
      ),
      'Lock statistics, kept by the database server since it started.',
    ),
    sizes: v.nullable(
      v.strictObject({
        estimated: described(v.boolean(), 'Always true: database servers only estimate these figures.'),
        tables: v.array(v.strictObject({ name: v.string(), rows: count, dataBytes: count, indexBytes: count })),
      }),
    ),
    isolate: described(
      v.strictObject({
        breaker: v.picklist(['open', 'closed']),
        counting: v.strictObject({ waiting: whole, flushes: whole }),
        reading: v.strictObject({ waiting: whole, queries: whole }),
        ignored: described(
          v.array(
            v.strictObject({
              type: v.string(),
              reason: v.string(),
              cause: v.string(),
              advice: v.string(),
              origin: v.nullable(v.string()),
              at: instant,
            }),
          ),
          'The latest ignored hit of each type: the reason in `X-Hit`, and what it means and what to do in words.',
        ),
      }),
      'The isolate that served this request, one of many.',
    ),
    rateLimits: described(
      v.strictObject({ counting: v.boolean(), reading: v.boolean(), newKeys: v.boolean() }),
      'Whether the rate limits of public requests are bound.',
    ),
    types: v.array(
      v.strictObject({
        name: v.string(),
        title: v.string(),
        unit: described(v.string(), 'The unit of the counts, in the plural.'),
        url: described(v.nullable(v.string()), 'The URL to which a key is appended.'),
        also: described(v.nullable(v.string()), 'The type that counts the same visits once per visitor.'),
        recordType: whole,
        key: v.picklist(['string', 'integer']),
        sameKey: v.array(v.picklist(SPELLINGS)),
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

export const status = endpoint<typeof readStatusContract>(readStatus, async (c, { caller: { db, isolate } }) => {
  // Not through the circuit breaker: the server's views may be slow or refused while the database is healthy.
  const aside = openConfigured(isolate, PART_DEADLINE_MS)
  const found = await survey(db, aside)
  for (const { part, error } of found.missing) {
    log('warn', 'status_incomplete', { requestId: c.get('requestId'), part, error: String(error) })
  }
  return statusReport(found, isolate, new Date())
})
