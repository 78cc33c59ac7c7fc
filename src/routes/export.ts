import * as v from 'valibot'
import { exportCounts } from '../counters/read/export.ts'
import { endpoint } from '../http/endpoint.ts'
import { count, described, namedObject, ok, operation, route } from '../openapi/contract.ts'
import { AFTER_RULE, afterField, limitField, nextField } from '../openapi/fields.ts'
import { DATABASE } from '../openapi/problems.ts'

const MAX_LIMIT = 1_000

const exportRoute = route('get', '/v1/export/{type}', 'read', {
  query: () => ({
    // The record id of the last counter, in hexadecimal.
    after: afterField(
      v.pipe(
        v.string(AFTER_RULE),
        v.regex(/^[0-9a-f]{1,16}$/, AFTER_RULE),
        v.transform((text) => BigInt(`0x${text}`)),
      ),
    ),
    limit: limitField(
      MAX_LIMIT,
      MAX_LIMIT,
      'Maximum number of rows on a page. By day, a page ends with the counter that reaches it',
    ),
    by: described(
      v.optional(v.picklist(['total', 'day'], 'must be "total" (the default) or "day"'), 'total'),
      'A row for each counter, or for each day of a counter.',
    ),
  }),
})

export const exportCountsContract = () =>
  operation(exportRoute, {
    id: 'export',
    tag: 'Reading',
    summary: 'Export',
    description:
      'Returns all counters of a type, or all their days, in pages that are not sorted by key. Each page is exact when it is read. ' +
      'Counts added during an export may or may not appear in later pages.',
    answers: ok(
      'A page of rows.',
      namedObject('ExportPage', {
        rows: v.array(
          v.strictObject({
            key: v.string(),
            count,
            day: described(
              v.optional(v.pipe(v.string(), v.isoDate())),
              'The day (UTC). By day, a row without it holds the counts that belong to no day.',
            ),
          }),
        ),
        next: nextField(),
      }),
    ),
    problems: [...DATABASE],
    examples: {
      firstPage: {
        summary: 'The first page',
        params: { type: 'download' },
        query: { limit: '100' },
        answer: { rows: [{ key: 'app-1.2.0.tgz', count: 5 }], next: null },
      },
    },
  })

export const exports = endpoint<typeof exportCountsContract>(
  exportRoute,
  async (_, { caller: { db }, type, query: { after = null, limit, by } }) => {
    const page = await exportCounts(db, { recordType: type.recordType, after, limit, by, now: new Date() })
    const rows = page.rows.map(({ name, count, day }) => ({ key: name, count, ...(day !== null && { day }) }))
    return { rows, next: page.next === null ? null : page.next.toString(16) }
  },
)
