import * as v from 'valibot'
import type { RollUpSummary } from '../counters/rollup/roll-up.ts'
import {
  FIRST_POSITION,
  firstDayWithHours,
  isPosition,
  MAX_VERIFIED,
  MISMATCHES,
  verifyPage,
} from '../counters/verify/verify-page.ts'
import { withRetries } from '../database/retry-and-breaker.ts'
import { waitUntilDone } from '../http/caller.ts'
import { endpoint } from '../http/endpoint.ts'
import { type Isolate, openBackgroundDatabase, rollUpNow } from '../isolate.ts'
import { count, DATABASE, described, ok, operation, route, whole } from '../openapi/contract.ts'
import * as fields from '../openapi/fields.ts'
import { textThat } from '../schemas.ts'
import { Problem } from '../service/problem.ts'

/** Milliseconds that a request waits for a running roll-up. */
const WAIT_FOR_LEASE_MS = 8_000
/** Each attempt takes 2 of the 50 subrequests of the free plan. */
const POLL_MS = 2_000

const rollUpOnce = route('post', '/v1/rollup', 'manage')

export const rollUpOnceContract = () =>
  operation(rollUpOnce, 'Operating', 'rollUp', {
    summary: 'Roll up now',
    description: 'Moves pending counts into the totals and the history. A cron trigger does the same every minute.',
    answers: ok('A summary of the run.', 'RollUpSummary', {
      outcome: described(
        v.picklist(['complete', 'partial', 'busy']),
        '`partial`: the next run continues where this one stopped.',
      ),
      moved: described(count, 'The sum of the counts moved into totals.'),
      counters: whole,
      slots: whole,
      pages: described(whole, 'The number of transactions.'),
      overtaken: described(whole, 'Pages that a concurrent run moved first.'),
      stuck: described(whole, 'Counters whose totals are at the 64-bit limit. Their counts stay pending, and exact.'),
      statements: whole,
      milliseconds: v.number(),
      left: described(v.nullable(whole), 'Slots that are still pending; null if not checked.'),
      behindSeconds: described(v.nullable(whole), 'Seconds since a run last left nothing pending; null if none did.'),
    }),
    problems: ['rollup_running', ...DATABASE],
  })

export const rollup = endpoint<typeof rollUpOnceContract>(rollUpOnce, (c, { caller: { isolate } }) =>
  waitUntilDone(c, rollUpAlone(isolate)),
)

/** @throws {Problem} 409 if another run does not end in time */
async function rollUpAlone(isolate: Isolate): Promise<RollUpSummary> {
  const giveUpAt = Date.now() + WAIT_FOR_LEASE_MS
  for (;;) {
    const summary = await rollUpNow(isolate, new Date())
    if (summary.outcome !== 'busy') return summary
    if (Date.now() > giveUpAt) {
      const detail = 'Another roll-up is still running and does the same work; see GET /v1/status.'
      throw new Problem('rollup_running', detail)
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

const verifyCounts = route('post', '/v1/verify', 'read', {
  query: () => ({
    after: v.optional(textThat(fields.AFTER_RULE, isPosition)),
    limit: fields.limit(MAX_VERIFIED, MAX_VERIFIED),
  }),
})

export const verifyCountsContract = () =>
  operation(verifyCounts, 'Operating', 'verify', {
    summary: 'Verify',
    description: 'Checks page by page that totals, days and hours add up. It changes nothing.',
    notes: { limit: fields.limitNote(MAX_VERIFIED, MAX_VERIFIED, 'Maximum number of counters to check') },
    answers: ok('The number of counters checked on this page, and the mismatches.', 'Verification', {
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
      next: fields.next(),
    }),
    problems: DATABASE,
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
