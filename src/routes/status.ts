import * as v from 'valibot'
import { SPELLINGS } from '../counters/keys/counter-address.ts'
import { MAX_COUNTED } from '../counters/rollup/roll-up.ts'
import { endpoint } from '../http/endpoint.ts'
import { described, instant, namedObject, ok, operation, route, whole } from '../openapi/contract.ts'
import { FINDING_CODES, readStatus, type Status } from '../service/status.ts'

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
    pendingSlots: described(v.nullable(whole), `Slots with pending counts, up to ${MAX_COUNTED}.`),
    behindSeconds: described(v.nullable(whole), 'Seconds since a roll-up left nothing pending; null before the first.'),
    verification: v.strictObject({
      agreedAt: described(
        v.nullable(instant),
        'When the daily verification last found that every sum agrees; null if it has found mismatches since.',
      ),
      mismatches: described(
        v.nullable(whole),
        'Mismatches that it found since, up to 10; null before its first round.',
      ),
    }),
    deadBatches: described(v.nullable(whole), 'Batches of the queue that could not be counted.'),
    types: described(
      v.array(v.strictObject({ name: v.string(), recordType: whole, sameKey: v.array(v.picklist(SPELLINGS)) })),
      'The configured types, with what decides where their counters are.',
    ),
  })

const statusRoute = route('get', '/v1/status', 'read')

export const CAUGHT_UP: Status = {
  version: '0.2.0',
  healthy: true,
  problems: [],
  pendingSlots: 3,
  behindSeconds: 4,
  verification: { agreedAt: '2026-11-20T00:04:00.000Z', mismatches: 0 },
  deadBatches: 0,
  types: [{ name: 'page_view', recordType: 1, sameKey: ['trailing_slash'] }],
}

export const readStatusContract = () =>
  operation(statusRoute, {
    id: 'status',
    tag: 'Operating',
    summary: 'Get the status',
    description:
      'Reports problems, pending counts, what verification found and dead batches. If the database is unavailable, the response is still 200, and ' +
      '`problems` says so; a number that could not be read is null. Counts are exact even if the roll-up is behind.',
    answers: ok('The status.', statusSchema()),
    problems: [],
    examples: { status: { summary: 'Caught up four seconds ago', answer: CAUGHT_UP } },
  })

export const status = endpoint<typeof readStatusContract>(statusRoute, (c, { caller: { isolate } }) =>
  readStatus(isolate, new Date(), c.get('requestId')),
)
