import * as v from 'valibot'
import { MAX_REPAIRED_DAYS, repairCounter } from '../counters/changes/repair-counter.ts'
import { MISMATCHES } from '../counters/verify/verify-page.ts'
import { answerChange } from '../http/caller.ts'
import { endpoint } from '../http/endpoint.ts'
import { count, described, namedObject, ok, operation, route } from '../openapi/contract.ts'
import { dateField, shortBody } from '../openapi/fields.ts'
import { ADJUSTING, exampleProblem } from '../openapi/problems.ts'

const DAYS_RULE = `must be a list of up to ${MAX_REPAIRED_DAYS} days such as "2026-11-20"`

const repair = route('post', '/v1/counters/{type}/{key}/repair', 'manage', {
  body: shortBody(4096, '{"dryRun":true}', () => ({
    dryRun: described(v.optional(v.boolean('must be true or false'), false), 'Only report what is wrong.'),
    days: described(
      v.optional(v.pipe(v.array(dateField(DAYS_RULE), DAYS_RULE), v.maxLength(MAX_REPAIRED_DAYS, DAYS_RULE)), []),
      'Days of the type to rebuild from its counters: those that verification reports.',
    ),
  })),
})

export const repairContract = () =>
  operation(repair, {
    id: 'repair',
    tag: 'Operating',
    summary: 'Repair a counter',
    description:
      'Makes the sums agree that verification found wrong, in one transaction. Days stay as they are, and so does the count: what it has beyond days and adjustments becomes an adjustment.',
    answers: ok(
      'What was wrong. Without `dryRun`, each sum is now as it should be.',
      namedObject('Repaired', {
        type: v.string(),
        key: v.string(),
        wrong: v.array(
          v.strictObject({
            what: v.picklist(MISMATCHES),
            of: v.picklist(['counter', 'type']),
            start: v.nullable(v.string()),
            is: count,
            shouldBe: count,
          }),
        ),
      }),
    ),
    problems: ['no_such_counter', ...ADJUSTING],
    examples: {
      missing: {
        summary: 'A counter that does not exist',
        params: { type: 'page_view', key: '/never-counted' },
        body: {},
        status: 404,
        answer: exampleProblem('no_such_counter', 'The counter does not exist. Nothing was changed.'),
      },
    },
  })

export const repairing = endpoint<typeof repairContract>(
  repair,
  async (c, { caller: { isolate }, type, counter, key, body: { days, dryRun } }) => {
    const { hourDays } = isolate.config.history
    const options = { days: [...new Set(days)], at: new Date(), hourDays, dryRun }
    let wrong: Awaited<ReturnType<typeof repairCounter>> = []
    const repairs = repairCounter(isolate.changeDb, counter, options).then((found) => {
      wrong = found
      return 'done'
    })
    await answerChange(c, undefined, repairs, null)
    return {
      type: type.name,
      key,
      wrong: wrong.map(({ what, recordId, start, is, shouldBe }) => {
        const of = recordId === null ? ('type' as const) : ('counter' as const)
        return { what, of, start, is, shouldBe }
      }),
    }
  },
)
