import * as z from 'zod/mini'
import type { Config } from '../config/config.ts'
import { readNames } from '../counters/keys/names.ts'
import { MISMATCHES, type Mismatch } from '../counters/verify/mismatch.ts'
import { FIRST_POSITION, MAX_VERIFIED, type VerifyPosition, verifyPage } from '../counters/verify/verify.ts'
import type { Executor } from '../database/database.ts'
import { toJsonNumber } from '../database/numbers.ts'
import { withRetries } from '../database/retry.ts'
import { endpoint } from '../http/endpoint.ts'
import { once } from '../http/query-string.ts'
import { isolateOf, openBackgroundDatabase } from '../isolate.ts'
import { documented, type Route } from '../openapi/contract.ts'
import { described } from '../openapi/described.ts'
import { DATABASE } from '../openapi/problem-schema.ts'
import { count } from '../openapi/shared-schemas.ts'
import { AFTER_DESCRIPTION, AFTER_RULE, limitField, nextField } from './request-fields.ts'
import { readCursor, writeCursor } from './verify-cursor.ts'

const verifyCounts = {
  method: 'post',
  path: '/v1/verify',
  access: 'read',
  query: () => ({
    after: once(
      described(
        z.optional(
          z.pipe(
            z.string({ error: AFTER_RULE }),
            z.transform((text, context): VerifyPosition => {
              const position = readCursor(text)
              if (position !== null) return position
              context.issues.push({ code: 'custom', message: AFTER_RULE, input: text })
              return z.NEVER
            }),
          ),
        ),
        AFTER_DESCRIPTION,
      ),
    ),
    limit: once(limitField(MAX_VERIFIED, MAX_VERIFIED, 'Maximum number of counters to check')),
  }),
} as const satisfies Route

const verifyCountsContract = /* @__PURE__ */ documented(verifyCounts, () => ({
  id: 'verify',
  tag: 'Operating',
  summary: 'Verify',
  description: 'Checks page by page that totals, days and hours add up. It changes nothing.',
  answers: {
    200: {
      description: 'The number of counters checked on this page, and the mismatches.',
      schema: described(
        z.strictObject({
          checked: z.int(),
          wrong: z.array(
            z.strictObject({
              type: z.nullable(z.string()),
              recordType: z.int(),
              key: z.optional(z.nullable(z.string())),
              recordId: z.nullable(z.string()),
              what: described(z.enum(MISMATCHES), 'The kind of sum that is wrong.'),
              start: described(z.nullable(z.string()), 'The start of the period; null for totals.'),
              is: count,
              shouldBe: count,
              difference: count,
            }),
          ),
          next: nextField(),
        }),
        { id: 'Verification' },
      ),
    },
  },
  problems: [...DATABASE],
  examples: {
    lastPage: {
      summary: 'The last page of an empty database',
      query: { after: 'calendar.65535', limit: '100' },
      answer: { checked: 0, wrong: [], next: null },
    },
  },
}))

/** Checks the tables against each other, page by page. */
export const verify = endpoint<typeof verifyCountsContract>(
  verifyCounts,
  async (c, { query: { after = FIRST_POSITION, limit } }) => {
    const { config } = isolateOf(c.env)
    const db = withRetries(openBackgroundDatabase(config))
    const options = { from: after, limit, at: new Date(), hourDays: config.history.hourDays }
    const { checked, wrong, next } = await verifyPage(db, options)
    return c.json({ checked, wrong: await named(db, config, wrong), next: next && writeCursor(next) }, 200, {
      'Cache-Control': 'no-store',
    })
  },
)

/** Mismatches with the names of their counters. */
async function named(db: Executor, config: Config, wrong: readonly Mismatch[]) {
  const types = new Map([...config.types.values()].map((type) => [type.recordType, type]))
  const counters = wrong.flatMap(({ recordType, recordId }) => (recordId === null ? [] : [{ recordType, recordId }]))
  const nameOf = await readNames(db, counters)
  return wrong.map(({ recordType, recordId, what, start, is, shouldBe }) => {
    const type = types.get(recordType)
    const counter = recordId === null ? null : { recordType, recordId }
    return {
      type: type?.name ?? null,
      recordType,
      key: counter && nameOf(counter),
      recordId: counter && String(counter.recordId),
      what,
      start,
      is: toJsonNumber(is),
      shouldBe: toJsonNumber(shouldBe),
      difference: toJsonNumber(is - shouldBe),
    }
  })
}
