import * as v from 'valibot'
import { SPELLINGS } from '../counters/keys/counter-address.ts'
import { MAX_COUNTED } from '../counters/rollup/roll-up.ts'
import { endpoint } from '../http/endpoint.ts'
import { openConfigured } from '../isolate.ts'
import { log } from '../log.ts'
import { described, instant, namedObject, ok, operation, route, whole } from '../openapi/contract.ts'
import { FINDING_CODES, statusReport } from '../status/report.ts'
import { SURVEY_PARTS, survey } from '../status/survey.ts'
import { mismatches } from './verify.ts'

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
    rollUp: v.strictObject({
      running: v.nullable(v.boolean()),
      lastRunAt: v.nullable(instant),
      caughtUpAt: described(v.nullable(instant), 'When nothing was last pending; null if never.'),
      behindSeconds: described(v.nullable(whole), 'Seconds since `caughtUpAt`.'),
    }),
    verification: v.nullable(
      v.strictObject({
        agreedAt: described(v.nullable(instant), 'When the daily verification last found that every sum agrees.'),
        wrong: described(mismatches(), 'The first mismatches that it found since, up to 10.'),
      }),
    ),
    deadBatches: described(
      v.nullable(v.strictObject({ count: whole, lastAt: v.nullable(instant) })),
      'Batches of the queue that could not be counted.',
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
  rollUp: {
    running: false,
    lastRunAt: '2026-11-20T10:00:00.000Z',
    caughtUpAt: '2026-11-20T10:00:00.000Z',
    behindSeconds: 4,
  },
  verification: { agreedAt: '2026-11-20T00:04:00.000Z', wrong: [] },
  deadBatches: { count: 0, lastAt: null },
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
      'Reports problems, pending counts, what verification found and dead batches. If the database is unavailable, the response is still 200, and ' +
      '`problems` says so. Counts are exact even if the roll-up is behind.',
    answers: ok('The status.', statusSchema()),
    problems: [],
    examples: { status: { summary: 'Caught up four seconds ago', answer: CAUGHT_UP } },
  })

/** Milliseconds for one part of the status. */
const PART_DEADLINE_MS = 3_000

export const status = endpoint<typeof readStatusContract>(readStatus, async (c, { caller: { isolate } }) => {
  // Not through the circuit breaker: the server's views may be slow or refused while the database is healthy.
  const aside = openConfigured(isolate, PART_DEADLINE_MS)
  const found = await survey(isolate, aside)
  for (const { part, error } of found.missing) {
    log('warn', 'status_incomplete', { requestId: c.get('requestId'), part, error: String(error) })
  }
  return statusReport(found, isolate, new Date())
})
