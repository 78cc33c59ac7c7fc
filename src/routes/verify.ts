import * as v from 'valibot'
import {
  FIRST_POSITION,
  firstDayWithHours,
  isPosition,
  MAX_VERIFIED,
  MISMATCHES,
  verifyPage,
} from '../counters/verify/verify-page.ts'
import { withRetries } from '../database/retry-and-breaker.ts'
import { endpoint } from '../http/endpoint.ts'
import { openBackgroundDatabase } from '../isolate.ts'
import { count, described, namedObject, ok, operation, route, whole } from '../openapi/contract.ts'
import { AFTER_RULE, afterField, limitField, nextField } from '../openapi/fields.ts'
import { DATABASE } from '../openapi/problems.ts'
import { textThat } from '../schemas.ts'

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
        wrong: v.array(
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
        ),
        next: nextField(),
      }),
    ),
    problems: [...DATABASE],
    examples: {
      lastPage: {
        summary: 'The last page of an empty database',
        query: { after: 'days.65535.', limit: '100' },
        answer: { checked: 0, wrong: [], next: null },
      },
    },
  })

export const verify = endpoint<typeof verifyCountsContract>(
  verifyCounts,
  async (_, { caller: { isolate }, query: { after = FIRST_POSITION, limit } }) => {
    const { types, history } = isolate.config
    const db = withRetries(openBackgroundDatabase(isolate))
    const firstDay = await firstDayWithHours(db, new Date(), history.hourDays)
    const { checked, wrong, next } = await verifyPage(db, after, limit, firstDay)
    const names = new Map([...types.values()].map(({ recordType, name }) => [recordType, name]))
    const told = wrong.map(({ recordId, ...found }) => ({
      ...found,
      type: names.get(found.recordType) ?? null,
      recordId: recordId === null ? null : String(recordId),
      difference: found.is - found.shouldBe,
    }))
    return { checked, wrong: told, next }
  },
)
