import * as v from 'valibot'
import { checkTypes } from '../http/authorization.ts'
import { endpoint } from '../http/endpoint.ts'
import { described, ok, operation, route, whole } from '../openapi/contract.ts'
import * as fields from '../openapi/fields.ts'
import { ADJUSTING } from '../openapi/problems.ts'
import { SEND_AGAIN, takeListedReadings } from '../service/take-listed-readings.ts'
import { changed } from './changes.ts'

const addReadings = route('post', '/v1/readings', 'manage', { typesInBody: true, body: fields.readingList })

export const readingsContract = () =>
  operation(addReadings, 'Changing', 'readings', {
    summary: 'Take readings',
    description:
      `Sets up to ${fields.MAX_LISTED} counters to counts that arise elsewhere, such as the downloads of a release, each by itself. ` +
      'What they have gained is booked as counted now: in this hour, day and month. The same reading again adds nothing.',
    answers: ok('Taken, but for those that were refused.', 'Readings', {
      taken: described(whole, 'The number of readings that were taken.'),
      added: described(whole, 'By how much they changed the counts.'),
      refused: v.array(
        v.strictObject({
          type: v.string(),
          key: v.string(),
          count: whole,
          code: v.picklist(['reading_below_count', 'count_out_of_range']),
          detail: v.string(),
        }),
      ),
    }),
    problems: ['too_many_pending', ...ADJUSTING],
  })

export const readings = endpoint<typeof readingsContract>(addReadings, async (c, { caller: { isolate }, body }) => {
  checkTypes(c, ...body.readings.map(({ type }) => type))
  return changed(c, null, takeListedReadings(isolate, body.readings), SEND_AGAIN)
})
