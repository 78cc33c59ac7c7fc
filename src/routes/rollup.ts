import * as v from 'valibot'
import type { RollUpSummary } from '../counters/rollup/roll-up.ts'
import { finished } from '../http/caller.ts'
import { endpoint } from '../http/endpoint.ts'
import { type Isolate, rollUpNow } from '../isolate.ts'
import { count, described, namedObject, ok, operation, route, whole } from '../openapi/contract.ts'
import { DATABASE } from '../openapi/problems.ts'
import { Problem } from '../service/problem.ts'

/** Milliseconds that a request waits for a running roll-up. */
const WAIT_FOR_LEASE_MS = 8_000
/** Each attempt takes 2 of the 50 subrequests of the free plan. */
const POLL_MS = 2_000

const summary = () =>
  namedObject('RollUpSummary', {
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
    behindSeconds: described(v.nullable(whole), 'Seconds since nothing was pending; null if never.'),
  })

const rollUpOnce = route('post', '/v1/rollup', 'manage')

export const rollUpOnceContract = () =>
  operation(rollUpOnce, {
    id: 'rollUp',
    tag: 'Operating',
    summary: 'Roll up now',
    description: 'Moves pending counts into the totals and the history. A cron trigger does the same every minute.',
    answers: ok('A summary of the run.', summary()),
    problems: ['rollup_running', ...DATABASE],
    examples: {
      rollUp: {
        summary: 'Twelve counts of two counters',
        answer: {
          outcome: 'complete',
          moved: 12,
          counters: 2,
          slots: 3,
          pages: 1,
          overtaken: 0,
          stuck: 0,
          statements: 14,
          milliseconds: 9,
          left: 0,
          behindSeconds: 0,
        },
      },
    },
  })

export const rollup = endpoint<typeof rollUpOnceContract>(rollUpOnce, (c, { caller: { isolate } }) =>
  finished(c, rollUpAlone(isolate)),
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
