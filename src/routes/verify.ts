import * as v from 'valibot'
import { FIRST_POSITION, isPosition, MAX_VERIFIED, MISMATCHES, verifyPage } from '../counters/verify/verify-page.ts'
import { withRetries } from '../database/retry-and-breaker.ts'
import { endpoint } from '../http/endpoint.ts'
import { openBackgroundDatabase } from '../isolate.ts'
import { count, described, namedObject, ok, operation, route, whole } from '../openapi/contract.ts'
import { AFTER_RULE, afterField, limitField, nextField } from '../openapi/fields.ts'
import { DATABASE } from '../openapi/problems.ts'
import { textThat } from '../schemas.ts'
import { namedMismatches } from '../service/named-mismatches.ts'

export const mismatches = () =>
  v.array(
    v.strictObject({
      type: v.nullable(v.string()),
      recordType: whole,
      key: v.optional(v.nullable(v.string())),
      recordId: v.nullable(v.string()),
      what: described(v.picklist(MISMATCHES), 'The kind of sum that is wrong.'),
      start: described(v.nullable(v.string()), 'The start of the period; null for totals.'),
      is: count,
      shouldBe: count,
      difference: count,
    }),
  )

const verifyCounts = route('post', '/v1/verify', 'read', {
  query: () => ({
    after: afterField(textThat(AFTER_RULE, isPosition)),
    limit: limitField(MAX_VERIFIED, MAX_VERIFIED, 'Maximum number of counters to check'),
  }),
})

export const verifyCountsContract = () =>
  operation(verifyCounts, {
    id: 'verify',
    tag: 'Operating',
    summary: 'Verify',
    description: 'Checks page by page that totals, days and hours add up. It changes nothing.',
    answers: ok(
      'The number of counters checked on this page, and the mismatches.',
      namedObject('Verification', {
        checked: whole,
        wrong: mismatches(),
        next: nextField(),
      }),
    ),
    problems: [...DATABASE],
    examples: {
      lastPage: {
        summary: 'The last page of an empty database',
        query: { after: 'hours.0.', limit: '100' },
        answer: { checked: 0, wrong: [], next: null },
      },
    },
  })

export const verify = endpoint<typeof verifyCountsContract>(
  verifyCounts,
  async (_, { caller: { isolate }, query: { after = FIRST_POSITION, limit } }) => {
    const { config } = isolate
    const db = withRetries(openBackgroundDatabase(isolate))
    const options = { from: after, limit, at: new Date(), hourDays: config.history.hourDays }
    const { checked, wrong, next } = await verifyPage(db, options)
    return { checked, wrong: await namedMismatches(db, config, wrong), next }
  },
)
